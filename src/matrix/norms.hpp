// Maximum norms in one process. Results are double for every scalar type. A NaN among the arguments makes a
// norm NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// The larger one of two numbers; NaN if `value` is NaN or `largest` was.
inline double larger(double largest, double value) {
    return value > largest || std::isnan(value) ? value : largest; // nothing compares above a NaN
}

template <class T> double infinity_norm(std::span<T const> x) {
    // Lanes, because a comparison waits for the one before. The compiler makes vectors of them without the
    // test for NaN.
    constexpr std::size_t lanes = 8;
    double largest[lanes] = {};
    std::int64_t is_nan[lanes] = {}; // as wide as the numbers
    auto const take = [&](std::size_t lane, double size) {
        largest[lane] = size > largest[lane] ? size : largest[lane];
        is_nan[lane] |= static_cast<std::int64_t>(size != size);
    };
    std::size_t i = 0;
    for (; i + lanes <= x.size(); i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) take(lane, modulus(x[i + lane]));
    for (; i < x.size(); ++i) take(0, modulus(x[i]));
    if (std::ranges::count(is_nan, 0) < std::ssize(is_nan)) return std::numeric_limits<double>::quiet_NaN();
    return *std::ranges::max_element(largest);
}

/// error / scale, where 0/0 is 0 and nonzero/0 infinite. Infinite if one of them is not finite.
inline double relative_error(double error, double scale) {
    if (!std::isfinite(error) || !std::isfinite(scale)) return infinity;
    if (error == 0) return 0;
    return scale == 0 ? infinity : error / scale;
}

template <class T> double max_abs(CscMatrix<T> const& a) {
    return infinity_norm(std::span<T const>(a.values));
}

/// The smallest real part of a diagonal entry; 0 if one is not stored, and infinity for an empty matrix.
template <class T> double least_diagonal(CscMatrix<T> const& a) {
    double least = infinity;
    for (Index j = 0; j < a.cols; ++j) {
        double entry = 0;
        for (Offset const p : a.entries_of(j)) {
            if (a.row_ind[p] != j) continue;
            entry = static_cast<double>(real_part(a.values[p]));
            break;
        }
        least = std::min(least, entry);
    }
    return least;
}

template <class T> bool all_finite(std::span<T const> x) {
    auto const* const numbers = reinterpret_cast<Real<T> const*>(x.data());
    std::size_t const count = x.size() * (is_complex<T> ? 2 : 1);
    std::size_t bad = 0; // counted without branches, so that the compiler uses vector instructions
    for (std::size_t k = 0; k < count; ++k)
        bad += std::abs(numbers[k]) <= std::numeric_limits<Real<T>>::max() ? 0 : 1;
    return bad == 0;
}

} // namespace espalier
