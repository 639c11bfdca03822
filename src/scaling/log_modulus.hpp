// Logarithms of moduli, for scaling: products of wildly scaled entries are sums that neither overflow nor
// underflow.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "core/scalar.hpp"

namespace espalier {

/// log |value|, to a few units in the last place also where |value| itself would overflow; -infinity for 0.
template <class T> double log_modulus(T value) {
    double const re = std::abs(static_cast<double>(real_part(value)));
    if constexpr (is_complex<T>) {
        double const im = std::abs(static_cast<double>(imag_part(value)));
        double const larger = std::max(re, im);
        double const ratio = larger == 0 ? 0 : std::min(re, im) / larger;
        return std::log(larger) + 0.5 * std::log1p(ratio * ratio);
    } else {
        return std::log(re);
    }
}

/// Error{bad_input} with the place of a value that is NaN or infinite: it has no logarithm to work with.
template <class T> void require_finite(T value, Index row, Index col) {
    if (!is_finite(value))
        throw Error(Status::bad_input, "value at row " + std::to_string(row) + ", column " +
                                           std::to_string(col) +
                                           " (counted from 0) is not finite, so the matrix cannot be scaled");
}

} // namespace espalier
