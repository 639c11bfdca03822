// Tests of factors: whether the matrix is singular to working precision, and whether entries grew in the
// elimination. Input: the factors of the working system B and its distributed matrix; output: a verdict.
// Every process of a group makes the same calls. Results and errors are the same on all processes.
#pragma once

#include <span>
#include <utility>

#include "distributed/distributed_matrix.hpp"
#include "refine/apply_inverse.hpp"
#include "refine/singularity.hpp"
#include "solver/numeric_factor.hpp"
#include "solver/process_context.hpp"
#include "solver/system_vectors.hpp"

namespace espalier {

/// Factors of a larger backward error, in multiples of epsilon, belong to a perturbed matrix.
inline constexpr double largest_stable_error = 1000;

/// The results of the tests of a factorization.
template <class T> struct FactorVerdict {
    Index pivots_replaced = 0;
    /// The errors of a solution by the factors alone; 0 if there was no reason to measure or to keep them.
    FactorErrors errors{};
    Singularity singularity{};

    /// Whether entries grew so much in the elimination that the factors belong to a perturbed matrix.
    [[nodiscard]] bool has_growth() const {
        return !(errors.backward <= largest_stable_error * static_cast<double>(epsilon<T>));
    }
};

/// Refinement with factors of this backward error hardly converges.
inline constexpr double useless_error = 1e-3;

template <class T> class FactorExaminer {
  public:
    /// `working` is B, and `inverse` applies its inverse by the factors. The arguments must outlive this.
    FactorExaminer(ProcessContext& context, SystemVectors<T>& vectors, DistributedMatrix<T> const& working,
                   ApplyInverse<T> inverse)
        : context_(context), vectors_(vectors), working_(working), inverse_(std::move(inverse)) {}

    /// Collective: whether factors in lower precision, with this roundoff, may be useless, because of small
    /// pivots or of growth, which Cholesky does not allow (`may_grow`).
    [[nodiscard]] bool is_suspicious(NumericFactor<T> const& factor, Index pivots_replaced, double roundoff,
                                     bool may_grow) const;
    /// Collective, after a factorization: tests for singularity if pivots are suspicious, which takes four
    /// solves. If process 0 passes the unknowns of a Schur complement, the interior block is tested. If
    /// pivots suggest that entries grew, it measures the errors of the factors by one solve. With replaced
    /// pivots, it keeps only errors that make the factors useless.
    [[nodiscard]] FactorVerdict<T> examine(NumericFactor<T>& factor, Index pivots_replaced, bool may_grow,
                                           std::span<Index const> schur, CscMatrix<T> const& working) const;
    /// Collective: the normwise backward error of B [x_i; v] = [0; S v] for a random v, in the unknowns of
    /// the Schur complement S that process 0 passes, and x_i from expand().
    [[nodiscard]] double schur_error(NumericFactor<T>& factor, std::span<Index const> schur) const;

  private:
    [[nodiscard]] Singularity singularity_of_interior(NumericFactor<T>& factor, std::span<Index const> schur,
                                                      CscMatrix<T> const& working,
                                                      Index pivots_replaced) const;

    ProcessContext& context_;
    SystemVectors<T>& vectors_;
    DistributedMatrix<T> const& working_;
    ApplyInverse<T> inverse_;
};

} // namespace espalier
