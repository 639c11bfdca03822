// The factorization of a matrix without supernodes, in one process: its plan, its numbers, and its solves.
// Matrices with general storage have lu, others llh, ldlt or ldlh. It factorizes the caller's matrix itself,
// and has its own scales and permutations.
#pragma once

#include <span>
#include <vector>

#include "distributed/distributed_rows.hpp"
#include "espalier/matrix.hpp"
#include "simplicial/simplicial_ldl.hpp"
#include "simplicial/simplicial_lu.hpp"
#include "solver/process_context.hpp"
#include "solver/working_inverse.hpp"

namespace espalier {

/// Limits of a factorization by lu.
struct SimplicialLimits {
    std::uint64_t bytes = 0;  ///< SimplicialLuOptions::max_bytes.
    Offset entries = 0;       ///< SimplicialLuOptions::most_entries.
    double growth = infinity; ///< Pivots are not reused if entries grow more, or by 1 / sqrt(epsilon).
};

template <class T> class SimplicialFactor : public WorkingInverse<T> {
  public:
    /// `context` must outlive this.
    explicit SimplicialFactor(ProcessContext& context) : context_(context) {}

    /// Stores the pattern of `matrix`, for which `plan` was made. `plan` must outlive its use. Returns the
    /// owned rows, which are all.
    DistributedRows prepare(CscMatrix<T> const& matrix, LuPlan const& plan);
    /// Does so for a plan of ldlt, ldlh or llh.
    DistributedRows prepare(CscMatrix<T> const& matrix, LdlPlan const& plan, Factorization kind);
    void clear();

    /// Error{usage} unless the matrix has the pattern of the plan; Error{bad_input} for values that are not
    /// finite. Takes a small part of the time of a refactorization, and allocates nothing.
    void check(CscMatrix<T> const& matrix) const;

    /// Factorizes a checked matrix: with the pivots of the last factorization if these are still good, and
    /// otherwise with new ones. Pivots below `threshold`, relative to the largest entry of a scaled row or
    /// column, are replaced; negative: 32 epsilon. Returns whether the pivots were reused. Errors as
    /// SimplicialLu::factorize(), Error{inaccurate} if the pivots that were planned for ldlt or ldlh are not
    /// stable, and Error{not_positive_definite} for llh.
    bool factorize(CscMatrix<T> const& matrix, double threshold, SimplicialLimits const& limits);

    void solve(std::span<T> block, Index columns, MatrixOp op) override;
    [[nodiscard]] InverseAccuracy accuracy() const override { return InverseAccuracy::full; }
    /// Whether the factors are symmetric.
    [[nodiscard]] bool is_ldl() const { return is_ldl_; }
    [[nodiscard]] SimplicialLu<T> const& lu() const { return lu_; }
    [[nodiscard]] SimplicialLdl<T>& ldl() { return ldl_; }
    [[nodiscard]] Index pivots_replaced() const { return is_ldl_ ? 0 : lu_.pivots_replaced(); }
    [[nodiscard]] double smallest_pivot() const {
        return is_ldl_ ? ldl_.smallest_pivot() : lu_.smallest_pivot();
    }
    /// Error{usage} unless the factors are llh, ldlh, or ldlt of a real matrix.
    [[nodiscard]] Inertia inertia() const;
    [[nodiscard]] Determinant<T> determinant() const;
    /// The factors of the caller's matrix. Error{cancelled}.
    [[nodiscard]] Factors<T> explicit_factors() const;

  private:
    bool factorize_lu(CscMatrix<T> const& matrix, double threshold, SimplicialLimits const& limits);
    DistributedRows store_pattern(CscMatrix<T> const& matrix);

    ProcessContext& context_;
    std::vector<Offset> col_ptr_; ///< These arrays are the pattern.
    std::vector<Index> row_ind_;
    Symmetry symmetry_ = Symmetry::general;
    bool is_ldl_ = false;
    SimplicialLu<T> lu_; // one of these two is in use
    SimplicialLdl<T> ldl_;
};

} // namespace espalier
