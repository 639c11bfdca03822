// The inverse of the working system B that solves and refinement use: complete factors or an incomplete
// factorization. Vectors are blocks of the rows that this process owns.
#pragma once

#include <span>

#include "refine/refine.hpp"

namespace espalier {

template <class T> class WorkingInverse {
  public:
    virtual ~WorkingInverse() = default;
    /// Collective: block := op(B)^-1 block for `columns` vectors, as accurately as accuracy() says.
    virtual void solve(std::span<T> block, Index columns, MatrixOp op) = 0;
    [[nodiscard]] virtual InverseAccuracy accuracy() const = 0;
};

} // namespace espalier
