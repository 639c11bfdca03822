// Estimates of the 1-norms of matrices that are known by their products alone (Hager 1984; Higham 1988; in
// blocks of vectors: Higham and Tisseur 2000).
//
// |B x| over |x| = 1 is convex, so it is largest at a unit vector, and the signs of B x tell by B^H sign(B x)
// which unit vector to try next. A block of a few vectors sees more than one, and several matrices advance
// together in one block. Up to a few rows all unit vectors are tried, and the norm is exact.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"

namespace espalier {

/// Multiplies blocks in place. The columns of the block come in runs of equal length, one run a matrix of
/// `which`.
template <class T> using BlockProduct =
    std::function<void(std::span<T> block, std::span<std::size_t const> which)>;

/// Lower bounds of |B_k| in the 1-norm, k < count, for n x n matrices B_k, n > 0, seldom less than a third
/// of them: `width` vectors for each at a time (2 to 4), about 4 products of the block. Infinite where a
/// product is not finite. Error{cancelled}.
template <class T> std::vector<double> estimate_one_norms(Index n, std::size_t count, Index width,
                                                          BlockProduct<T> const& multiply,
                                                          BlockProduct<T> const& multiply_adjoint,
                                                          Interrupt* interrupt);

} // namespace espalier
