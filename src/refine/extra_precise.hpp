// Refinement with residuals in twice the working precision, for systems so ill-conditioned that a perfect
// backward error still leaves few correct digits: where the factors know A^-1 to any digit at all, the
// solution gets nearly all of them (Demmel, Hida, Kahan, Li, Mukherjee, Riedy 2006).
#pragma once

#include <span>

#include "core/interrupt.hpp"
#include "espalier/matrix.hpp"
#include "refine/apply_inverse.hpp"

namespace espalier {

/// x += op(A)^-1 (b - op(A) x) for each of `nrhs` columns while each correction is at most half of the one
/// before, until it no longer changes x. A column whose corrections do not shrink is left as it was. Returns
/// the largest number of corrections that a column took. Error{cancelled} with x between two iterates.
template <class T> int refine_extra_precisely(CscMatrix<T> const& a, std::span<T const> b, std::span<T> x,
                                              Index nrhs, ApplyInverse<T> const& apply_inverse, MatrixOp op,
                                              Interrupt* interrupt = nullptr);

} // namespace espalier
