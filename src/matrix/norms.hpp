// Moduli and maximum norms in one process. Results are double for every scalar type. A NaN among the
// arguments makes a norm NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// |value| in double, so that moduli and sums of single-precision numbers do not overflow.
template <class T> double modulus(T value) {
    if constexpr (is_complex<T>)
        return std::abs(std::complex<double>(value));
    else
        return std::abs(static_cast<double>(value));
}

template <class T> double infinity_norm(std::span<T const> x) {
    double largest = 0;
    for (T const value : x) {
        double const size = modulus(value);
        if (size > largest || std::isnan(size)) largest = size; // a NaN is kept: nothing compares above it
    }
    return largest;
}

template <class T> double max_abs(CscMatrix<T> const& a) {
    return infinity_norm(std::span<T const>(a.values));
}

template <class T> bool all_finite(std::span<T const> x) {
    return std::all_of(x.begin(), x.end(), [](T value) { return is_finite(value); });
}

} // namespace espalier
