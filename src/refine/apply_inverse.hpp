// What refinement, condition estimates and null spaces know of a factorization.
#pragma once

#include <functional>
#include <span>

#include "espalier/types.hpp"

namespace espalier {

/// Overwrites `columns` vectors of n entries, contiguous in the span, with op(A)^-1 (as the factors have it)
/// times them.
template <class T> using ApplyInverse = std::function<void(std::span<T>, Index columns, MatrixOp op)>;

} // namespace espalier
