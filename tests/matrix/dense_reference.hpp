// References for the tests of this module: dense matrices, textbook Cholesky factorization and Gaussian
// elimination, and small random matrices of every symmetry.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/scalar.hpp"
#include "core/status_of.hpp"
#include "espalier/matrix.hpp"

namespace espalier::test {

template <class T> struct Dense {
    Index rows, cols;
    std::vector<T> values;
    Dense(Index m, Index n) : rows(m), cols(n), values(m * n, T(0)) {}
    explicit Dense(Index order) : Dense(order, order) {}
    T& operator()(Index i, Index j) { return values[i + j * rows]; }
    T const& operator()(Index i, Index j) const { return values[i + j * rows]; }
};

/// y += factor x, for vectors of n entries. Without optimization and under sanitizers, operators of complex
/// numbers would take most of the time of the tests.
template <class T> void add_scaled(Index n, T factor, T const* x, T* y) {
    if constexpr (is_complex<T>) {
        using R = Real<T>;
        R const re = factor.real(), im = factor.imag();
        R const* const from = reinterpret_cast<R const*>(x);
        R* const to = reinterpret_cast<R*>(y);
        for (Index i = 0; i < 2 * n; i += 2) {
            to[i] += from[i] * re - from[i + 1] * im;
            to[i + 1] += from[i] * im + from[i + 1] * re;
        }
    } else {
        for (Index i = 0; i < n; ++i) y[i] += factor * x[i];
    }
}

/// A B
template <class T> Dense<T> product(Dense<T> const& a, Dense<T> const& b) {
    Dense<T> c(a.rows, b.cols);
    for (Index j = 0; j < b.cols; ++j)
        for (Index k = 0; k < a.cols; ++k)
            add_scaled(a.rows, b(k, j), a.values.data() + k * a.rows, c.values.data() + j * c.rows);
    return c;
}

/// op(A), including the mirror image of a stored triangle; in scalars `To` unless that is void.
template <class To = void, class T> auto to_dense(CscMatrix<T> const& a, MatrixOp op = MatrixOp::none) {
    using Entry = std::conditional_t<std::is_void_v<To>, T, To>;
    Dense<Entry> dense(op == MatrixOp::none ? a.rows : a.cols, op == MatrixOp::none ? a.cols : a.rows);
    auto const put = [&](Index i, Index j, T value) {
        value = conj_if(op == MatrixOp::adjoint, value);
        (op == MatrixOp::none ? dense(i, j) : dense(j, i)) = Entry(value);
    };
    for (Index j = 0; j < a.cols; ++j)
        for (Offset k : a.entries_of(j)) {
            Index const i = a.row_ind[k];
            if (a.symmetry != Symmetry::general)
                put(j, i, conj_if(a.symmetry == Symmetry::hermitian, a.values[k]));
            put(i, j, a.values[k]);
        }
    return dense;
}

/// Whether A = L L^H with positive pivots exists (reads the lower triangle).
template <class T> bool is_positive_definite(Dense<T> a) {
    for (Index k = 0; k < a.cols; ++k) {
        if (!(real_part(a(k, k)) > 0)) return false;
        for (Index j = k + 1; j < a.cols; ++j) {
            T const factor = conj(a(j, k)) / a(k, k);
            for (Index i = j; i < a.rows; ++i) a(i, j) -= a(i, k) * factor;
        }
    }
    return true;
}

/// Gaussian elimination of the first `count` columns with pivots from the first `count` rows. Returns the
/// pivots; a pivot is negated if its row was interchanged.
template <class T> std::vector<T> eliminate(Dense<T>& a, Index count) {
    std::vector<T> pivots;
    for (Index k = 0; k < count; ++k) {
        Index pivot = k;
        for (Index i = k; i < count; ++i)
            if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
        if (pivot != k)
            for (Index j = 0; j < a.cols; ++j) std::swap(a(k, j), a(pivot, j));
        pivots.push_back(pivot == k ? a(k, k) : -a(k, k));
        if (a(k, k) == T(0)) continue;
        Index const below = a.rows - k - 1;
        for (Index i = k + 1; i < a.rows; ++i) a(i, k) /= a(k, k);
        for (Index j = k + 1; j < a.cols; ++j) add_scaled(below, -a(k, j), &a(k, k) + 1, &a(k, j) + 1);
        std::fill_n(&a(k, k) + 1, below, T(0));
    }
    return pivots;
}

/// Ratio of the smallest and the largest pivot of Gaussian elimination with partial pivoting; 0 for a
/// singular matrix. Rows are first scaled to maximum 1, so that bad scaling is not mistaken for singularity.
template <class T> double pivot_ratio(Dense<T> a) {
    Index const n = a.cols;
    for (Index i = 0; i < n; ++i) {
        double largest = 0;
        for (Index j = 0; j < n; ++j) largest = std::max<double>(largest, std::abs(a(i, j)));
        if (largest == 0) return 0;
        for (Index j = 0; j < n; ++j) a(i, j) /= static_cast<Real<T>>(largest);
    }
    double smallest = 1e300, largest = 0;
    for (T const pivot : eliminate(a, n)) {
        smallest = std::min<double>(smallest, std::abs(pivot));
        largest = std::max<double>(largest, std::abs(pivot));
    }
    return n == 0 ? 1 : smallest / largest;
}

template <class T, class Random> T random_scalar(Random& random) {
    std::uniform_real_distribution<Real<T>> uniform(-1, 1);
    if constexpr (is_complex<T>) {
        Real<T> const re = uniform(random);
        return T(re, uniform(random));
    } else {
        return uniform(random);
    }
}

template <class T> std::vector<T> random_vector(Index size, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<T> result(size);
    for (T& value : result) value = random_scalar<T>(random);
    return result;
}

/// Each entry of the matrix (of its lower triangle) is present with probability `density`.
template <class T>
CscMatrix<T> random_matrix(Index rows, Index cols, Symmetry symmetry, double density, unsigned seed) {
    std::mt19937_64 random(seed);
    std::bernoulli_distribution present(density);
    CscMatrix<T> a;
    a.rows = rows;
    a.cols = cols;
    a.symmetry = symmetry;
    for (Index j = 0; j < cols; ++j) {
        for (Index i = symmetry == Symmetry::general ? 0 : j; i < rows; ++i)
            if (present(random)) {
                T const value = random_scalar<T>(random);
                a.row_ind.push_back(i);
                a.values.push_back(symmetry == Symmetry::hermitian && i == j ? T(real_part(value)) : value);
            }
        a.col_ptr.push_back(std::ssize(a.row_ind));
    }
    return a;
}

using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
inline constexpr MatrixOp all_ops[] = {MatrixOp::none, MatrixOp::transpose, MatrixOp::adjoint};
inline constexpr Symmetry all_symmetries[] = {Symmetry::general, Symmetry::symmetric, Symmetry::hermitian};

} // namespace espalier::test
