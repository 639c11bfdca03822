// The block-diagonal D of an LDL factorization: 1x1 and 2x2 pivots. A 2x2 pivot is
//
//     [ d00  d01 ]     d10 = off_diagonal[k],  d01 = conj(d10) for Hermitian D and d10 for symmetric D.
//     [ d10  d11 ]
#pragma once

#include <cmath>

#include "core/scalar.hpp"

namespace espalier {

/// A 2x2 pivot.
template <class T> struct PivotBlock {
    T d00, d10, d01, d11;
};

/// The 2x2 pivot with off-diagonal entry d10; Hermitian if `conjugate`.
template <class T> PivotBlock<T> pivot_block(bool conjugate, T d00, T d10, T d11) {
    return {d00, d10, conj_if(conjugate, d10), d11};
}

/// The number of negative eigenvalues of a nonsingular Hermitian block. The pivots that a factorization
/// chooses are indefinite; a change of the factors may make them definite.
template <class T> int num_negative(PivotBlock<T> const& d) {
    Real<T> const d00 = real_part(d.d00), d11 = real_part(d.d11);
    bool const is_definite =
        (d00 < 0) == (d11 < 0) && std::sqrt(std::abs(d00)) * std::sqrt(std::abs(d11)) > std::abs(d.d10);
    return !is_definite ? 1 : d00 < 0 ? 2 : 0;
}

/// The inverse. D is scaled by |d10| != 0 so that the determinant neither overflows nor underflows:
/// with D = |d10| E, inv(D) = [e11 -e01; -e10 e00] / (|d10| det E).
template <class T> PivotBlock<T> inverse(bool conjugate, PivotBlock<T> const& d) {
    Real<T> const scale = std::abs(d.d10);
    T const e00 = d.d00 / scale;
    T const e11 = d.d11 / scale;
    T const e10 = d.d10 / scale;
    T determinant = e00 * e11 - e10 * conj_if(conjugate, e10);
    if (conjugate) determinant = real_part(determinant);
    T const factor = T(1) / (determinant * scale);
    T const i10 = -e10 * factor;
    return {e11 * factor, i10, conj_if(conjugate, i10), e00 * factor};
}

} // namespace espalier
