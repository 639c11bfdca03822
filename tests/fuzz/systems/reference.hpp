// The truth about a small matrix, from dense elimination in long double: inverse, condition, determinant and
// inertia. Rows and columns are first scaled by powers of two, which is exact, so that bad scaling costs no
// digits.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "espalier/espalier.hpp"
#include "refine/dense.hpp"

namespace espalier::fuzz {

using test::Dense, test::Extended, test::product;

/// The roundoff of the reference.
inline constexpr double long_roundoff = 1.1e-19;

template <class X> struct Scaled {
    Dense<X> matrix;                      ///< R A C
    std::vector<long double> row, column; ///< R and C, equal if A is symmetric or Hermitian.
};

/// Ruiz 2001: rows and columns are divided by the square roots of their largest entries, some times.
template <class X> Scaled<X> equilibrated(Dense<X> const& a) {
    Index const n = a.cols;
    Scaled<X> s{a, std::vector<long double>(n, 1), std::vector<long double>(n, 1)};
    auto const factor = [](long double largest) {
        return largest > 0 ? std::exp2(-std::round(std::log2(largest) / 2)) : 1.0L;
    };
    for (int times = 0; times < 12; ++times) {
        std::vector<long double> of_row(n, 0), of_column(n, 0);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) {
                of_row[i] = std::max(of_row[i], std::abs(s.matrix(i, j)));
                of_column[j] = std::max(of_column[j], std::abs(s.matrix(i, j)));
            }
        for (Index k = 0; k < n; ++k) s.row[k] *= of_row[k] = factor(of_row[k]);
        for (Index k = 0; k < n; ++k) s.column[k] *= of_column[k] = factor(of_column[k]);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) s.matrix(i, j) *= of_row[i] * of_column[j];
    }
    return s;
}

/// The signs of the eigenvalues of a Hermitian matrix, by L D L^H with complete pivoting (Bunch, Parlett
/// 1971).
template <class X> Inertia exact_inertia(Dense<X> a) {
    Index const n = a.cols;
    Inertia result;
    auto const exchange = [&](Index p, Index q) {
        for (Index j = 0; j < n; ++j) std::swap(a(p, j), a(q, j));
        for (Index i = 0; i < n; ++i) std::swap(a(i, p), a(i, q));
    };
    auto const count = [&](long double pivot) { ++(pivot > 0 ? result.positive : result.negative); };
    for (Index k = 0; k < n;) {
        long double diagonal = 0, off = 0;
        Index best = k, row = k, column = k;
        for (Index j = k; j < n; ++j)
            for (Index i = j; i < n; ++i) {
                long double const size = std::abs(a(i, j));
                if (i == j && size > diagonal) diagonal = size, best = i;
                if (i > j && size > off) off = size, row = i, column = j;
            }
        if (diagonal == 0 && off == 0) {
            result.zero = n - k;
            break;
        }
        if (diagonal >= 0.64L * off) {
            exchange(k, best);
            count(real_part(a(k, k)));
            for (Index j = k + 1; j < n; ++j) {
                X const factor = a(k, j) / a(k, k);
                for (Index i = k + 1; i < n; ++i) a(i, j) -= a(i, k) * factor;
            }
            ++k;
            continue;
        }
        exchange(k, column);
        exchange(k + 1, row);
        ++result.positive, ++result.negative; // its determinant is negative
        X const d = a(k, k), e = a(k + 1, k), f = a(k, k + 1), g = a(k + 1, k + 1), det = d * g - e * f;
        for (Index j = k + 2; j < n; ++j) {
            X const u = (g * a(k, j) - f * a(k + 1, j)) / det, v = (d * a(k + 1, j) - e * a(k, j)) / det;
            for (Index i = k + 2; i < n; ++i) a(i, j) -= a(i, k) * u + a(i, k + 1) * v;
        }
        k += 2;
    }
    return result;
}

template <class X> long double infinity_norm(Dense<X> const& a) {
    long double largest = 0;
    for (Index i = 0; i < a.rows; ++i) {
        long double sum = 0;
        for (Index j = 0; j < a.cols; ++j) sum += std::abs(a(i, j));
        largest = std::max(largest, sum);
    }
    return largest;
}

template <class T> struct Reference {
    using X = Extended<T>;
    Dense<X> matrix, inverse;
    double rcond = 0;                   ///< 1 / (|A| |A^-1|), 1-norms; 0 if singular.
    double scaled_condition = infinity; ///< |B| |B^-1| of the scaled matrix B, infinity norms.
    Inertia signs;                      ///< If A is real symmetric or Hermitian.
    X phase = X(1);                     ///< det A = phase * exp(log_modulus)
    long double log_modulus = 0;
    bool is_singular = false; ///< To the roundoff of the reference.

    explicit Reference(Dense<X> const& a, bool has_signs) : matrix(a), inverse(a.cols) {
        Index const n = a.cols;
        auto const scaled = equilibrated(a);
        Dense<X> upper = scaled.matrix;
        for (X const pivot : test::eliminate(upper, n)) {
            if (pivot == X(0)) {
                is_singular = true;
                return;
            }
            log_modulus += std::log(std::abs(pivot));
            phase *= pivot / std::abs(pivot);
        }
        for (Index k = 0; k < n; ++k) log_modulus -= std::log(scaled.row[k]) + std::log(scaled.column[k]);
        inverse = test::inverse(scaled.matrix);
        scaled_condition = static_cast<double>(infinity_norm(scaled.matrix) * infinity_norm(inverse));
        // 1e-2 / roundoff: a result that is larger consists of rounding errors.
        is_singular = !(scaled_condition < 1e-2 / long_roundoff / static_cast<double>(n + 1));
        if (has_signs) signs = exact_inertia(scaled.matrix);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) inverse(i, j) *= scaled.column[i] * scaled.row[j];
        rcond = is_singular ? 0 : 1 / (test::one_norm(a) * test::one_norm(inverse));
    }

    /// A^-1 b. A product with the inverse alone would leave a residual as large as the condition allows.
    [[nodiscard]] Dense<X> solve(Dense<X> const& b) const {
        Dense<X> x = product(inverse, b);
        for (int step = 0; step < 2; ++step) {
            Dense<X> residual = product(matrix, x);
            for (Index j = 0; j < b.cols; ++j)
                for (Index i = 0; i < b.rows; ++i) residual(i, j) = b(i, j) - residual(i, j);
            Dense<X> const correction = product(inverse, residual);
            for (Index j = 0; j < b.cols; ++j)
                for (Index i = 0; i < b.rows; ++i) x(i, j) += correction(i, j);
        }
        return x;
    }

    [[nodiscard]] double error() const { // of a result of the reference, relative to its norm
        return 10 * static_cast<double>(matrix.cols + 1) * scaled_condition * long_roundoff;
    }
};

/// A sum of products in twice the precision of long double.
class AccurateSum {
  public:
    void add_product(long double a, long double b) {
        long double const product = a * b;
        add(product);
        low_ += std::fma(a, b, -product);
    }
    void add(long double term) {
        long double const sum = high_ + term, part = sum - high_;
        low_ += (high_ - (sum - part)) + (term - part);
        high_ = sum;
    }
    [[nodiscard]] long double value() const { return high_ + low_; }

  private:
    long double high_ = 0, low_ = 0;
};

} // namespace espalier::fuzz
