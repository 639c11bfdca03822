// Properties of the four scalar types, and the operations that differ between real and complex scalars.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "espalier/types.hpp"

namespace espalier {

template <class T> struct RealOf {
    using type = T;
};
template <class R> struct RealOf<std::complex<R>> {
    using type = R;
};
/// The real type of the same precision.
template <class T> using Real = typename RealOf<T>::type;

/// The single-precision scalar of the same kind: float for double, T itself if it is single precision.
template <class T> struct NarrowOf {
    using type = float;
};
template <class R> struct NarrowOf<std::complex<R>> {
    using type = std::complex<float>;
};
template <class T> using Narrow = typename NarrowOf<T>::type;

template <class T> inline constexpr bool is_complex = !std::is_same_v<T, Real<T>>;

template <class T> inline constexpr Scalar scalar_of =
    is_complex<T> ? (std::is_same_v<Real<T>, float> ? Scalar::c : Scalar::z)
                  : (std::is_same_v<Real<T>, float> ? Scalar::s : Scalar::d);

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// The machine epsilon: the distance from 1 to the next larger number.
template <class T> inline constexpr Real<T> epsilon = std::numeric_limits<Real<T>>::epsilon();

/// Cost of a multiply-add of T relative to a real multiply-add.
template <class T> inline constexpr double flop_factor = is_complex<T> ? 4.0 : 1.0;

template <class T> constexpr T conj(T value) {
    if constexpr (is_complex<T>)
        return std::conj(value);
    else
        return value;
}

/// conj(value) if `conjugate`, else value; distinguishes A^H from A^T.
template <class T> constexpr T conj_if(bool conjugate, T value) {
    return conjugate ? conj(value) : value;
}

/// The product without the recovery of infinities that C++ requires for complex products, a branch in inner
/// loops. A product of numbers that are not finite, or that overflows, may be NaN.
template <class T> inline T times(T a, T b) {
    if constexpr (is_complex<T>)
        return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    else
        return a * b;
}

template <class T> constexpr Real<T> real_part(T value) {
    if constexpr (is_complex<T>)
        return value.real();
    else
        return value;
}

template <class T> constexpr Real<T> imag_part(T value) {
    if constexpr (is_complex<T>)
        return value.imag();
    else
        return Real<T>(0);
}

/// |Re| + |Im| (BLAS cabs1): within a factor sqrt(2) of the modulus, without a square root.
template <class T> inline Real<T> abs1(T value) {
    if constexpr (is_complex<T>)
        return std::abs(value.real()) + std::abs(value.imag());
    else
        return std::abs(value);
}

/// In this range, a sum of two squares has neither overflowed nor lost digits to underflow.
inline constexpr double least_sum_of_squares = 0x1p-900, largest_sum_of_squares = 0x1p900;

/// |value| in double, so that moduli and sums of single-precision numbers do not overflow. It is accurate and
/// does not overflow in between, but takes a small part of the time of std::abs if the sum of squares is in
/// the usual range.
template <class T> double modulus(T value) {
    if constexpr (is_complex<T>) {
        double const re = value.real(), im = value.imag(), sum = re * re + im * im;
        bool const is_usual = sum >= least_sum_of_squares && sum <= largest_sum_of_squares;
        return is_usual ? std::sqrt(sum) : std::abs(std::complex<double>(re, im));
    } else {
        return std::abs(static_cast<double>(value));
    }
}

template <class T> inline bool is_finite(T value) {
    return std::isfinite(real_part(value)) && std::isfinite(imag_part(value));
}

#define ESPALIER_FOR_EACH_SCALAR(macro)                                                                      \
    macro(float) macro(double) macro(std::complex<float>) macro(std::complex<double>)

/// Instantiates a class template, or a function template without overloads, for every scalar type.
#define ESPALIER_INSTANTIATE_CLASS(name)                                                                     \
    template class name<float>;                                                                              \
    template class name<double>;                                                                             \
    template class name<std::complex<float>>;                                                                \
    template class name<std::complex<double>>;
#define ESPALIER_INSTANTIATE_FUNCTION(name)                                                                  \
    template decltype(name<float>) name<float>;                                                              \
    template decltype(name<double>) name<double>;                                                            \
    template decltype(name<std::complex<float>>) name<std::complex<float>>;                                  \
    template decltype(name<std::complex<double>>) name<std::complex<double>>;

} // namespace espalier
