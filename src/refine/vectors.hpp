// The vector operations of the Krylov methods, and blocks of columns that share a solve.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/scalar.hpp"

namespace espalier {

/// x^H y. In independent partial sums, which a compiler can keep in one vector register.
template <class T> T dot(std::span<T const> x, std::span<T const> y) {
    constexpr std::size_t lanes = 8;
    std::array<Real<T>, lanes> real{}, imaginary{};
    for (std::size_t i = 0; i < x.size(); i += lanes) {
        std::size_t const end = std::min(lanes, x.size() - i);
        for (std::size_t l = 0; l < end; ++l) {
            T const u = x[i + l], v = y[i + l];
            real[l] += real_part(u) * real_part(v);
            if constexpr (is_complex<T>) {
                real[l] += imag_part(u) * imag_part(v);
                imaginary[l] += real_part(u) * imag_part(v) - imag_part(u) * real_part(v);
            }
        }
    }
    Real<T> re(0), im(0);
    for (std::size_t l = 0; l < lanes; ++l) {
        re += real[l];
        im += imaginary[l];
    }
    if constexpr (is_complex<T>)
        return T(re, im);
    else
        return re;
}

/// 2-norm; right also where squares overflow or underflow. NaN where an entry is.
template <class T> Real<T> norm2(std::span<T const> x) {
    Real<T> const squares = real_part(dot<T>(x, x));
    if (squares > std::numeric_limits<Real<T>>::min() / epsilon<T> && std::isfinite(squares))
        return std::sqrt(squares);
    Real<T> largest(0);
    for (T const value : x) largest = std::max(largest, abs1(value));
    if (largest == 0 || !std::isfinite(largest)) return std::sqrt(squares);
    Real<T> sum(0);
    for (T const value : x) {
        Real<T> const re = real_part(value) / largest, im = imag_part(value) / largest;
        sum += re * re + im * im;
    }
    return largest * std::sqrt(sum);
}

/// y += factor x. Complex products by their formula, as a NaN need not be told from an Inf here.
template <class T> void add_scaled(T factor, std::span<T const> x, std::span<T> y) {
    if constexpr (is_complex<T>) {
        Real<T> const re = factor.real(), im = factor.imag();
        for (std::size_t i = 0; i < x.size(); ++i)
            y[i] += T(re * x[i].real() - im * x[i].imag(), re * x[i].imag() + im * x[i].real());
    } else {
        for (std::size_t i = 0; i < x.size(); ++i) y[i] += factor * x[i];
    }
}

template <class T> bool all_finite(std::span<T const> x) {
    return std::all_of(x.begin(), x.end(), [](T value) { return is_finite(value); });
}

/// Room for some columns of n entries side by side, of which any first few are used.
template <class T> class PackedColumns {
  public:
    PackedColumns(std::size_t n, std::size_t columns) : n_(n), values_(n * columns) {}
    [[nodiscard]] std::span<T> column(std::size_t j) { return std::span<T>(values_).subspan(j * n_, n_); }
    [[nodiscard]] std::span<T> first(std::size_t columns) {
        return std::span<T>(values_).first(columns * n_);
    }
    void put(std::size_t j, std::span<T const> x) { std::copy(x.begin(), x.end(), column(j).begin()); }

  private:
    std::size_t n_;
    std::vector<T> values_;
};

} // namespace espalier
