// Condition numbers and bounds of the forward error, from a few solves with the current factors.
//
// Both use an estimate of the 1-norm of a matrix B from products with B and B^H (Hager 1984; Higham 1988; the
// blocks of vectors are those of Higham and Tisseur 2000). The estimate is a lower bound, in practice within
// a factor of 3.
#pragma once

#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "distributed/distributed_matrix.hpp"
#include "refine/apply_inverse.hpp"

namespace espalier {

struct ConditionEstimate {
    double rcond = 0;
    /// False if products with A^-1 are wrong, because the factors belong to a matrix that differs too much.
    /// The estimate may then be too large.
    bool is_sure = true;
};

/// Estimates 1 / (|A| |A^-1|) in 1-norms, at most 1. It is 0 if A is exactly singular or the factors break
/// down (NaN, Inf), and 1 for the empty matrix. The estimate also uses vectors that A itself makes small, in
/// case the inverse is that of a perturbed matrix. Products X = A^-1 B are wrong if |A X - B| > |B| / 2 for a
/// column, unless the estimate shows that A is singular to working precision. Collective. Error{cancelled}.
template <class T> ConditionEstimate reciprocal_condition(DistributedMatrix<T> const& a,
                                                          ApplyInverse<T> const& apply_inverse,
                                                          Interrupt* interrupt = nullptr);

/// Bounds |x - x_exact| / |x| in infinity norms for each of `nrhs` columns by
///     ( |d| + | |op(A)^-1| (|s| + (nz + 1) u (|op(A)||x| + |b|)) | ) / |x|
/// where d is a step of refinement, s = b - op(A) (x + d) the residual after it, both residuals are computed
/// with the unit roundoff u of twice the working precision, nz is the largest number of entries in a row, and
/// the norm with |op(A)^-1| is estimated (Arioli, Demmel, Duff 1989; Higham 2002, chapter 15). With d = 0
/// this is the usual bound, which ignores cancellation in op(A)^-1 r and exceeds the error by about the
/// square root of the order. With d the bound is close to the error as long as apply_inverse has one correct
/// digit. Takes about ten solves for each column. Infinite if a term is not finite. Collective.
/// Error{cancelled}.
template <class T> std::vector<double> forward_error_bounds(DistributedMatrix<T> const& a,
                                                            std::span<T const> b, std::span<T const> x,
                                                            Index nrhs, ApplyInverse<T> const& apply_inverse,
                                                            MatrixOp op, Interrupt* interrupt = nullptr);

/// The number of columns whose bounds are computed together.
Index columns_in_bound(DistributedRows const& rows, std::size_t scalar_bytes);

} // namespace espalier
