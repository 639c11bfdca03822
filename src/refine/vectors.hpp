// Operations on the local rows of distributed vectors, and blocks of columns that share a solve.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/scalar.hpp"
#include "distributed/distributed_rows.hpp"
#include "matrix/norms.hpp"

namespace espalier {

/// The type of sums over processes: double or std::complex<double>.
template <class T> using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

/// Unit roundoff of twice the working precision, in which accurate residuals are computed.
template <class T> inline constexpr double doubled_roundoff =
    static_cast<double>(epsilon<T>) * static_cast<double>(epsilon<T>) / 4;

/// x^H y of the local rows, in independent partial sums that fit a vector register.
template <class T> T local_dot(std::span<T const> x, std::span<T const> y) {
    constexpr Index lanes = 8;
    std::array<Real<T>, lanes> real{}, imaginary{};
    for (Index i = 0; i < std::ssize(x); i += lanes) {
        Index const end = std::min(lanes, std::ssize(x) - i);
        for (Index l = 0; l < end; ++l) {
            T const u = x[i + l], v = y[i + l];
            real[l] += real_part(u) * real_part(v);
            if constexpr (is_complex<T>) {
                real[l] += imag_part(u) * imag_part(v);
                imaginary[l] += real_part(u) * imag_part(v) - imag_part(u) * real_part(v);
            }
        }
    }
    Real<T> re(0), im(0);
    for (Index l = 0; l < lanes; ++l) {
        re += real[l];
        im += imaginary[l];
    }
    if constexpr (is_complex<T>)
        return T(re, im);
    else
        return re;
}

/// The entries of a range of rows.
template <class T> std::span<T> rows_of(std::span<T> x, IndexRange rows) {
    return x.subspan(rows.first, rows.size());
}

/// x^H y of the local rows. The rounding does not depend on the number of workers.
template <class T> T local_dot(RowWorkers const& workers, std::span<T const> x, std::span<T const> y) {
    return workers.sum<T>(std::ssize(x),
                          [&](IndexRange rows) { return local_dot(rows_of(x, rows), rows_of(y, rows)); });
}

/// The largest modulus of the local rows; NaN if an entry is NaN.
template <class T> double infinity_norm(RowWorkers const& workers, std::span<T const> x) {
    return workers.reduce<double>(
        std::ssize(x), [&](IndexRange rows) { return infinity_norm(rows_of(x, rows)); }, larger);
}

/// Copies the local rows.
template <class T> void copy_rows(RowWorkers const& workers, std::span<T const> from, std::span<T> to) {
    workers.for_each_chunk(std::ssize(from), [&](int, IndexRange rows) {
        std::ranges::copy(rows_of(from, rows), to.begin() + rows.first);
    });
}

/// Sum of moduli of the local rows.
template <class T> double local_one_norm(std::span<T const> x) {
    double sum = 0;
    for (T const value : x) sum += static_cast<double>(std::abs(value));
    return sum;
}

/// Collective: norms[k] = 2-norm of column(k), a span of local rows. Correct also if squares overflow or
/// underflow. NaN if an entry is NaN.
template <class T, class Column>
void two_norms(DistributedRows const& rows, std::span<Real<T>> norms, Column const& column) {
    auto const count = std::ssize(norms);
    auto const squares = rows.reduction().template sum<double>(count, [&](std::span<double> sums) {
        for (Index k = 0; k < count; ++k) {
            std::span<T const> const x = column(k);
            sums[k] = static_cast<double>(real_part(local_dot<T>(rows.workers(), x, x)));
        }
    });
    for (Index k = 0; k < count; ++k) norms[k] = static_cast<Real<T>>(squares[k]);
    for (Index k = 0; k < count; ++k) {
        Real<T>& norm = norms[k];
        bool const is_usable = norm > std::numeric_limits<Real<T>>::min() / epsilon<T> && std::isfinite(norm);
        norm = std::sqrt(norm);
        if (is_usable) continue;
        std::span<T const> const x = column(k);
        double const largest = rows.reduction().max(1, [&](std::span<double> maximum) {
            for (T const value : x) maximum[0] = std::max(maximum[0], static_cast<double>(abs1(value)));
        })[0];
        if (largest == 0 || !std::isfinite(largest)) continue;
        double const sum = rows.reduction().template sum<double>(1, [&](std::span<double> sums) {
            for (T const value : x) {
                double const re = static_cast<double>(real_part(value)) / largest;
                double const im = static_cast<double>(imag_part(value)) / largest;
                sums[0] += re * re + im * im;
            }
        })[0];
        norm = static_cast<Real<T>>(largest * std::sqrt(sum));
    }
}

/// y += factor x. Complex products use the plain formula, because NaN and infinity need not be distinguished
/// here.
template <class T> void add_scaled(T factor, std::span<T const> x, std::span<T> y) {
    auto const n = std::ssize(x);
    if constexpr (is_complex<T>) {
        Real<T> const re = factor.real(), im = factor.imag();
        for (Index i = 0; i < n; ++i)
            y[i] += T(re * x[i].real() - im * x[i].imag(), re * x[i].imag() + im * x[i].real());
    } else {
        for (Index i = 0; i < n; ++i) y[i] += factor * x[i];
    }
}

/// y += x.
template <class T> void add_rows(RowWorkers const& workers, std::span<T const> x, std::span<T> y) {
    workers.for_each_chunk(std::ssize(x), [&](int, IndexRange rows) {
        add_scaled<T>(T(1), rows_of(x, rows), rows_of(y, rows));
    });
}

/// The maximum memory of a process for the vectors of these columns.
inline constexpr Index group_bytes = Index(256) << 20;

/// The number of columns that fit if each needs `vectors` vectors of `scalar_bytes` for each row; at least 1.
/// Equal on all processes.
inline Index columns_in_group(DistributedRows const& rows, Index vectors_per_column,
                              std::size_t scalar_bytes) {
    Index const vector_bytes = std::max<Index>(rows.largest_share(), 1) * static_cast<Index>(scalar_bytes);
    return std::max<Index>(1, group_bytes / vector_bytes / vectors_per_column);
}

/// Storage for columns of local rows side by side, of which the first ones are used.
template <class T> class PackedColumns {
  public:
    PackedColumns() = default;
    PackedColumns(Index rows, Index columns) : rows_(rows), values_(rows * columns) {}
    [[nodiscard]] std::span<T> column(Index j) { return std::span(values_).subspan(j * rows_, rows_); }
    [[nodiscard]] std::span<T> first(Index columns) { return std::span(values_).first(columns * rows_); }
    void put(RowWorkers const& workers, Index j, std::span<T const> x) { copy_rows(workers, x, column(j)); }

  private:
    Index rows_ = 0;
    std::vector<T> values_;
};

} // namespace espalier
