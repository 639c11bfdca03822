// The diagonal of a Hermitian matrix is real, but programs compute it with rounding errors.
#pragma once

#include <cmath>

#include "core/scalar.hpp"

namespace espalier {

/// Whether the imaginary part of a diagonal entry may be a rounding error.
template <class T> bool is_real_up_to_rounding(T value) {
    return std::abs(imag_part(value)) <= 64 * epsilon<T> * std::abs(real_part(value));
}

} // namespace espalier
