// Estimates of the 1-norms of matrices that are known by their products alone (Hager 1984; Higham 1988; in
// blocks of vectors: Higham and Tisseur 2000).
//
// |B x| over |x| = 1 is convex, so it is largest at a unit vector, and B^H sign(B x) shows which unit vector
// to try next. A block of a few vectors sees more than one, and several matrices advance together in one
// block. For matrices of a few rows all unit vectors are tried, and the norm is exact.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "distributed/distributed_rows.hpp"

namespace espalier {

/// Multiplies a block in place: `width` columns for each matrix of `which`, matrix by matrix. Collective, on
/// the rows of this process; errors are thrown on all.
template <class T> using BlockProduct =
    std::function<void(std::span<T> block, Index width, std::span<Index const> which)>;

/// Lower bounds of |B_k| in the 1-norm, k < count, for n x n matrices B_k, n > 0, seldom less than a third
/// of them: `width` vectors for each at a time (2 to 4), about 4 products of the block. Infinite where a
/// product is not finite. Start vectors depend on the numbers of rows, not on their owners. Collective.
/// Error{cancelled}.
template <class T> std::vector<double> estimate_one_norms(DistributedRows const& rows, Index count,
                                                          Index width, BlockProduct<T> const& multiply,
                                                          BlockProduct<T> const& multiply_adjoint,
                                                          Interrupt* interrupt);

} // namespace espalier
