// Espalier as a sparse direct solver of deal.II: SparseDirectEspalier has the members of
// dealii::SparseDirectUMFPACK.
//
//     espalier::SparseDirectEspalier solver;
//     solver.initialize(system_matrix);          // factorizes
//     solver.vmult(solution, system_rhs);        // solution = A^-1 system_rhs
//
// Matrices are those of one process: SparseMatrix, BlockSparseMatrix, SparseMatrixEZ. In addition, solutions
// are refined and checked. Failures are thrown as espalier::Error, which derives from std::exception as those
// of deal.II. Requires deal.II 9.3 or later.
#pragma once

#include <deal.II/base/subscriptor.h>
#include <deal.II/lac/sparsity_pattern.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/checked_solver.hpp"

namespace espalier {

/// A sparse direct solver of deal.II for matrices and vectors of `Number`: float, double, std::complex<float>
/// or std::complex<double>. As a preconditioner or in a LinearOperator it is the inverse of the matrix. Two
/// threads must not use one solver at the same time, not even through const members.
template <class Number> class DealiiSolver : public dealii::Subscriptor {
  public:
    /// Type of sizes.
    using size_type = dealii::types::global_dof_index;

    /// Settings of a solver.
    struct AdditionalData {
        /// For Symmetry::symmetric and hermitian, both triangles are given and must agree; Espalier then
        /// chooses a Cholesky or LDL factorization, which takes half of the time and memory of LU.
        Symmetry symmetry = Symmetry::general;
        /// Options of the library: threads, ordering, factorization, ...
        Options options = {};
    };

    /// A solver without a matrix.
    DealiiSolver() = default;
    /// A solver with these settings, for factorize().
    explicit DealiiSolver(AdditionalData data) { set(std::move(data)); }

    /// Does nothing, as the function of SparseDirectUMFPACK. The first factorization analyzes the pattern.
    void initialize(dealii::SparsityPattern const&) {}
    /// Takes the settings and factorizes the matrix.
    template <class Matrix> void initialize(Matrix const& matrix, AdditionalData data = {}) {
        set(std::move(data));
        factorize(matrix);
    }
    /// Factorizes a matrix. The analysis is kept if it has the pattern of the last one. Error{singular},
    /// {not_positive_definite}, {bad_input} for a matrix that is not square or symmetric or has a NaN,
    /// {out_of_memory}, {cancelled}.
    template <class Matrix> void factorize(Matrix const& matrix) {
        std::vector<std::int64_t> starts{0}, columns;
        std::vector<Number> values;
        columns.reserve(matrix.n_nonzero_elements());
        values.reserve(matrix.n_nonzero_elements());
        for (size_type row = 0; row < matrix.m(); ++row) {
            for (auto entry = matrix.begin(row), end = matrix.end(row); entry != end; ++entry) {
                columns.push_back(static_cast<std::int64_t>(entry->column()));
                values.push_back(static_cast<Number>(entry->value()));
            }
            starts.push_back(static_cast<std::int64_t>(columns.size()));
        }
        MatrixArrays<Number, std::int64_t> view;
        view.layout = Layout::csr;
        view.symmetry = symmetry_;
        view.rows = static_cast<Index>(matrix.m());
        view.cols = static_cast<Index>(matrix.n());
        view.pointers = starts;
        view.indices = columns;
        view.values = values;
        solver_.factorize(view);
    }

    /// dst = A^-1 src, for Vector and BlockVector. Error{inaccurate} if the backward error stays above the
    /// tolerance, Error{usage} for a vector of another size.
    template <class VectorType> void vmult(VectorType& dst, VectorType const& src) const {
        apply(dst, src, MatrixOp::none);
    }
    /// dst = A^-T src.
    template <class VectorType> void Tvmult(VectorType& dst, VectorType const& src) const {
        apply(dst, src, MatrixOp::transpose);
    }
    /// Replaces the right-hand side by the solution of A x = b, or of A^T x = b.
    template <class VectorType> void solve(VectorType& rhs_and_solution, bool transpose = false) const {
        apply(rhs_and_solution, rhs_and_solution, transpose ? MatrixOp::transpose : MatrixOp::none);
    }
    /// Factorizes the matrix and solves.
    template <class Matrix, class VectorType>
        requires(!std::is_same_v<VectorType, bool>)
    void solve(Matrix const& matrix, VectorType& rhs_and_solution, bool transpose = false) {
        factorize(matrix);
        solve(rhs_and_solution, transpose);
    }

    /// Number of rows of the matrix.
    [[nodiscard]] size_type m() const { return static_cast<size_type>(solver_.order()); }
    /// Number of columns of the matrix.
    [[nodiscard]] size_type n() const { return m(); }
    /// Results of the last steps: fill, times, backward error.
    [[nodiscard]] Report const& report() const { return solver_.report(); }

  private:
    void set(AdditionalData data) {
        symmetry_ = data.symmetry;
        solver_.options() = std::move(data.options);
    }
    template <class VectorType> void apply(VectorType& dst, VectorType const& src, MatrixOp op) const {
        std::vector<Number> x(src.begin(), src.end());
        solver_.solve(x, 1, op);
        std::copy(x.begin(), x.end(), dst.begin());
    }

    Symmetry symmetry_ = Symmetry::general;
    // deal.II requires a const vmult(), but the solver updates times and workspace.
    mutable CheckedSolver<Number> solver_;
};

/// The solver for matrices of double.
using SparseDirectEspalier = DealiiSolver<double>;

} // namespace espalier
