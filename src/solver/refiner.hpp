// Refinement, condition estimates and null spaces with the factors at hand, on the rows that this process
// owns. In: the working system B = P R A C of process 0, dealt out to the owners. Refinement runs in B, where
// no equation drowns in the rounding of another, and is judged in the caller's system P A = R^-1 B C^-1.
// Every process of a group has a refiner, and all make the same calls; results and errors are the same on
// all.
#pragma once

#include <optional>
#include <span>

#include "distributed/distributed_matrix.hpp"
#include "espalier/options.hpp"
#include "espalier/report.hpp"
#include "refine/null_space.hpp"
#include "refine/refine.hpp"
#include "solver/numeric_factor.hpp"
#include "solver/system_vectors.hpp"

namespace espalier {

/// What inverse iteration finds about a matrix whose pivots are suspicious.
struct Singularity {
    double condition_estimate =
        0;                     ///< A lower bound on the componentwise condition number; 0 if none was made.
    bool is_near = false;      ///< Singular to working precision.
    bool is_numerical = false; ///< Also, pivots were replaced: solutions are not unique.
};

template <class T> class Refiner {
  public:
    /// The arguments live longer.
    Refiner(ProcessContext& context, NumericFactor<T>& factor, SystemVectors<T>& vectors)
        : context_(context), factor_(factor), vectors_(vectors) {}

    /// Collective: the working system, which process 0 has. With one process it is referred to; with several
    /// its entries are dealt out, the pattern only once.
    void set_matrix(CscMatrix<T> const& working);

    /// Collective: is a pivot so small that the factors may be useless? `roundoff` is that of the factors.
    [[nodiscard]] bool is_suspicious(Index pivots_replaced, double roundoff) const;
    /// Collective, after a factorization: looks for singularity where pivots are suspicious, at the cost of
    /// four solves. With a Schur complement process 0 gives its unknowns, and the interior block is examined.
    void examine(Index pivots_replaced, std::span<Index const> schur, CscMatrix<T> const& working);
    /// In place of that, where the factors are only to be refined from.
    void accept(Index pivots_replaced) {
        singularity_ = {};
        pivots_replaced_ = pivots_replaced;
    }
    [[nodiscard]] Singularity const& singularity() const { return singularity_; }

    /// Collective: improves `columns` solutions of op(A) X = B and measures their errors. `b` and `x` are
    /// owned rows without scaling (SystemVectors). On an error x is as good as it was or better.
    RefineReport refine(std::span<T const> b, std::span<T> x, Index columns, RefineOptions const& options);
    /// Collective: the largest bound on the forward errors of such solutions, as forward_error_bounds().
    [[nodiscard]] double forward_error(std::span<T const> b, std::span<T const> x, Index columns,
                                       MatrixOp op) const;

    /// Collective: as espalier::reciprocal_condition() for A.
    [[nodiscard]] double reciprocal_condition() const;
    /// Collective: as espalier::null_space() for A, the basis in owned rows.
    [[nodiscard]] NullSpaceResult<T> null_space(NullSpaceOptions const& options) const;
    /// Collective: block := op(A)^-1 block in owned rows, by the factors alone.
    void apply_inverse(std::span<T> block, Index columns, MatrixOp op) const;

  private:
    [[nodiscard]] bool is_scaled() const { return vectors_.scaling().is_scaled; }
    [[nodiscard]] DistributedMatrix<T> callers_matrix() const;
    [[nodiscard]] ApplyInverse<T> inverse_of_working() const;
    [[nodiscard]] ApplyInverse<T> inverse_of_matrix() const;
    [[nodiscard]] ApplyInverse<T> refined_inverse(DistributedMatrix<T> const& matrix) const;
    void examine(DistributedMatrix<T> const& block, ApplyInverse<T> const& inverse);
    void examine_interior(std::span<Index const> schur, CscMatrix<T> const& working);
    RefineReport refine_working(std::span<T const> b, std::span<T> x, Index columns,
                                RefineOptions const& options);
    RefineReport refine_scaled(std::span<T const> b, std::span<T> x, Index columns,
                               RefineOptions const& options);

    ProcessContext& context_;
    NumericFactor<T>& factor_;
    SystemVectors<T>& vectors_;
    std::optional<DistributedMatrix<T>> working_;
    Index pivots_replaced_ = 0;
    Singularity singularity_;
};

} // namespace espalier
