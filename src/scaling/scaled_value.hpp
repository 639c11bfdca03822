// Entries times scales that are powers of two, and logarithms of moduli for scaling: products of badly scaled
// entries become sums, which neither overflow nor underflow.
#pragma once

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

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

/// log |value| with an error of a few units in the last place, even if |value| overflows; -infinity for 0.
template <class T> double log_modulus(T value) {
    double const re = std::abs(static_cast<double>(real_part(value)));
    if constexpr (is_complex<T>) {
        double const im = std::abs(static_cast<double>(imag_part(value)));
        double const sum = re * re + im * im;
        if (sum >= least_sum_of_squares && sum <= largest_sum_of_squares) return 0.5 * std::log(sum);
        double const larger = std::max(re, im);
        double const ratio = larger == 0 ? 0 : std::min(re, im) / larger;
        return std::log(larger) + 0.5 * std::log1p(ratio * ratio);
    } else {
        return std::log(re);
    }
}

/// Throws Error{bad_input} with the position of the value if it is NaN or infinite.
template <class T> void require_finite(T value, Index row, Index col) {
    if (!is_finite(value))
        throw Error(
            Status::bad_input,
            fmt::format("the value at row {}, column {} (counted from 0) is not finite, so the matrix "
                        "cannot be scaled",
                        row, col));
}

} // namespace espalier
