// Espalier as a solver of MFEM, for matrices of one process:
//
//     espalier::MfemSolver solver(A);          // A is an mfem::SparseMatrix
//     solver.Mult(b, x);                       // x = A^-1 b
//
// or as preconditioner: cg.SetPreconditioner(solver). In addition, solutions are refined and checked.
// Failures are thrown as espalier::Error. Requires MFEM 4.5 or later.
#pragma once

#include <mfem.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/checked_solver.hpp"

namespace espalier {

/// The inverse of an mfem::SparseMatrix, as an mfem::Solver. Two threads must not use one solver at the same
/// time, not even through const members.
class MfemSolver : public mfem::Solver {
  public:
    /// The scalar type of MFEM: double or float.
    using Number = std::remove_reference_t<decltype(std::declval<mfem::Vector&>()(0))>;

    /// A solver without a matrix. For Symmetry::symmetric, both triangles are given and must agree; Espalier
    /// then chooses a Cholesky or LDL factorization, which takes half of the time and memory of LU.
    explicit MfemSolver(Options options = {}, Symmetry symmetry = Symmetry::general) : symmetry_(symmetry) {
        solver_.options() = std::move(options);
    }
    /// Calls SetOperator(matrix).
    explicit MfemSolver(mfem::SparseMatrix const& matrix, Options options = {},
                        Symmetry symmetry = Symmetry::general)
        : MfemSolver(std::move(options), symmetry) {
        SetOperator(matrix);
    }

    /// Copies and factorizes an mfem::SparseMatrix. The analysis is kept if it has the pattern of the last
    /// one. Error{usage} for another operator or a matrix without Finalize(), {singular},
    /// {not_positive_definite}, {bad_input} for a matrix that is not square or symmetric or has a NaN,
    /// {out_of_memory}, {cancelled}.
    void SetOperator(mfem::Operator const& op) override {
        auto const* const matrix = dynamic_cast<mfem::SparseMatrix const*>(&op);
        if (!matrix) throw Error(Status::usage, "MfemSolver::SetOperator needs an mfem::SparseMatrix");
        if (!matrix->Finalized())
            throw Error(Status::usage, "the mfem::SparseMatrix needs a call of Finalize() first");
        auto const rows = static_cast<std::size_t>(matrix->Height());
        auto const entries = static_cast<std::size_t>(matrix->NumNonZeroElems());
        MatrixArrays<Number, int> view;
        view.layout = Layout::csr;
        view.symmetry = symmetry_;
        view.rows = matrix->Height();
        view.cols = matrix->Width();
        view.pointers = {matrix->HostReadI(), rows + 1};
        view.indices = {matrix->HostReadJ(), entries};
        view.values = {matrix->HostReadData(), entries};
        height = width = 0;
        solver_.factorize(view);
        height = width = matrix->Height();
    }

    /// x = A^-1 b. Error{inaccurate} if the backward error stays above the tolerance, Error{usage} without a
    /// matrix or for vectors of another size.
    void Mult(mfem::Vector const& b, mfem::Vector& x) const override { apply_to(b, x, MatrixOp::none); }
    /// x = A^-T b.
    void MultTranspose(mfem::Vector const& b, mfem::Vector& x) const override {
        apply_to(b, x, MatrixOp::transpose);
    }
    /// X[k] = A^-1 B[k] for all k together, which takes less time than one after the other.
    void ArrayMult(mfem::Array<mfem::Vector const*> const& B, mfem::Array<mfem::Vector*>& X) const {
        apply_to_array(B, X, MatrixOp::none);
    }
    /// X[k] = A^-T B[k].
    void ArrayMultTranspose(mfem::Array<mfem::Vector const*> const& B, mfem::Array<mfem::Vector*>& X) const {
        apply_to_array(B, X, MatrixOp::transpose);
    }

    /// Options of the next SetOperator() and Mult().
    [[nodiscard]] Options& options() { return solver_.options(); }
    /// Results of the last steps: fill, times, backward error.
    [[nodiscard]] Report const& report() const { return solver_.report(); }

  private:
    void apply_to(mfem::Vector const& b, mfem::Vector& x, MatrixOp op) const {
        std::vector<Number> block(b.HostRead(), b.HostRead() + b.Size());
        solver_.solve(block, 1, op);
        copy_to(x, block.data());
    }

    void apply_to_array(mfem::Array<mfem::Vector const*> const& b, mfem::Array<mfem::Vector*> const& x,
                        MatrixOp op) const {
        if (b.Size() != x.Size()) throw Error(Status::usage, "X and B must have the same number of vectors");
        std::vector<Number> block;
        for (mfem::Vector const* const column : b) {
            if (column->Size() != height) throw Error(Status::usage, "a right-hand side has the wrong size");
            block.insert(block.end(), column->HostRead(), column->HostRead() + column->Size());
        }
        solver_.solve(block, b.Size(), op);
        for (int k = 0; k < x.Size(); ++k)
            copy_to(*x[k], block.data() + static_cast<std::ptrdiff_t>(k) * height);
    }

    void copy_to(mfem::Vector& x, Number const* values) const {
        x.SetSize(height);
        std::copy_n(values, height, x.HostWrite());
    }

    Symmetry symmetry_;
    // MFEM requires a const Mult(), but the solver updates times and workspace.
    mutable CheckedSolver<Number> solver_;
};

} // namespace espalier
