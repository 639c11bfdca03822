// The interface of a factorization for refinement, condition estimates and null spaces.
#pragma once

#include <functional>
#include <span>

#include "espalier/types.hpp"

namespace espalier {

/// Multiplies `columns` vectors, contiguous in the span, by op(A)^-1 in place, as accurately as the factors
/// are. Collective: each process passes the rows that it owns (distributed/distributed_rows.hpp). An error is
/// thrown on all processes.
template <class T> using ApplyInverse = std::function<void(std::span<T>, Index columns, MatrixOp op)>;

} // namespace espalier
