// Entries times scales that are powers of two.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/scalar.hpp"

namespace espalier {

/// row_scale * value * column_scale: scales may be as large as 2^1000 where their product with the value is
/// of order 1, so the largest factor is multiplied by the smallest first.
template <class T> T scaled_value(T value, double row_scale, double column_scale = 1) {
    auto const scaled = [&](double part) {
        double low = std::min(row_scale, column_scale), high = std::max(row_scale, column_scale);
        if (std::abs(part) < low)
            std::swap(part, low);
        else if (std::abs(part) > high)
            std::swap(part, high);
        return static_cast<Real<T>>(low * high * part);
    };
    if constexpr (is_complex<T>)
        return T(scaled(value.real()), scaled(value.imag()));
    else
        return scaled(value);
}

} // namespace espalier
