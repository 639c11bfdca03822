// What refinement, condition estimates and null spaces use of a factorization.
#pragma once

#include <functional>
#include <span>

#include "espalier/types.hpp"

namespace espalier {

/// Overwrites `columns` vectors, contiguous in the span, with op(A)^-1 times them, as the factors have it.
/// Collective: each process gives the rows that it owns (distributed/distributed_rows.hpp). An error is
/// thrown on all processes.
template <class T> using ApplyInverse = std::function<void(std::span<T>, Index columns, MatrixOp op)>;

} // namespace espalier
