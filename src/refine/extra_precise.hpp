// Refinement with residuals in twice the working precision, for systems so ill-conditioned that a solution
// has few correct digits in spite of a small backward error. If the factors have any correct digit of A^-1,
// nearly all digits of the solution become correct (Demmel, Hida, Kahan, Li, Mukherjee, Riedy 2006).
#pragma once

#include <span>

#include "core/interrupt.hpp"
#include "distributed/distributed_matrix.hpp"
#include "refine/apply_inverse.hpp"

namespace espalier {

/// x += op(A)^-1 (b - op(A) x) for each of `nrhs` columns while each correction is at most half of the one
/// before, until it no longer changes x. A column whose corrections do not shrink is left as it was. Returns
/// the largest number of corrections that a column took. Collective. Error{cancelled} with x between two
/// iterates.
template <class T>
int refine_extra_precisely(DistributedMatrix<T> const& a, std::span<T const> b, std::span<T> x, Index nrhs,
                           ApplyInverse<T> const& apply_inverse, MatrixOp op, Interrupt* interrupt = nullptr);

} // namespace espalier
