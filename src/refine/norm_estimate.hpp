// Estimates the 1-norms of matrices from products with vectors (Hager 1984; Higham 1988; with blocks of
// vectors Higham and Tisseur 2000).
//
// |B x| on |x| = 1 is convex, so its maximum is at a unit vector, and B^H sign(B x) indicates the unit vector
// to try next. A block of vectors tries several, and several matrices advance together in one block. For
// matrices of a few rows all unit vectors are tried, and the norm is exact.
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

/// Up to this many rows, all unit vectors are tried.
inline constexpr Index exact_norm_up_to = 8;

/// Lower bounds of the 1-norms of n x n matrices B_k, k < count, n > 0, which are rarely less than a third of
/// the norms. Uses blocks of `width` vectors for each matrix (2 to 4) and about 4 products. Infinite if a
/// product is not finite. Start vectors depend on the numbers of rows, not on their owners. Collective.
/// Error{cancelled}.
template <class T> std::vector<double> estimate_one_norms(DistributedRows const& rows, Index count,
                                                          Index width, BlockProduct<T> const& multiply,
                                                          BlockProduct<T> const& multiply_adjoint,
                                                          Interrupt* interrupt);

} // namespace espalier
