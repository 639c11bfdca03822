// b - op(A) (x + d) as if in twice the working precision: products and sums with their rounding errors
// carried along (Ogita, Rump, Oishi 2005). Refinement leaves residuals that are all cancellation; this one
// has the digits that tell how far x is from the solution.
#pragma once

#include <span>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// One column, square A: r = b - op(A) (x + d), rounded to working precision once, at the end. An empty d
/// counts as zero.
template <class T> void accurate_residual(CscMatrix<T> const& a, std::span<T const> x, std::span<T const> d,
                                          std::span<T const> b, std::span<T> r, MatrixOp op);

/// Unit roundoff of twice the working precision.
template <class T> inline constexpr double doubled_roundoff = static_cast<double>(epsilon<T>) *
                                                              static_cast<double>(epsilon<T>) / 4;

} // namespace espalier
