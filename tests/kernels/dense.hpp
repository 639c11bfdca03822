// Dense helpers for the tests of this module: random matrices, reference products and norms.
#pragma once

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "core/block_division.hpp"
#include "kernels/blas.hpp"
#include "matrix/dense_reference.hpp"

namespace espalier::testing {

using test::add_scaled, test::random_scalar, test::Scalars;

/// A matrix that owns its entries. The leading dimension exceeds the rows, which detects a confusion.
template <class T> struct Dense {
    Dense(Index m, Index n) : rows(m), cols(n), ld(m + 3), values(static_cast<std::size_t>(ld * n)) {}
    T& operator()(Index i, Index j) { return values[i + j * ld]; }
    T operator()(Index i, Index j) const { return values[i + j * ld]; }
    MatrixView<T> view() { return {values.data(), rows, cols, ld}; }
    MatrixView<T const> view() const { return {values.data(), rows, cols, ld}; }

    Index rows, cols, ld;
    std::vector<T> values;
};

template <class T> Dense<T> random_dense(Index m, Index n, unsigned seed) {
    std::mt19937 random(seed);
    Dense<T> a(m, n);
    for (T& value : a.values) value = random_scalar<T>(random);
    return a;
}

/// A = A^H (conjugate, with a real diagonal) or A = A^T with both triangles.
template <class T> Dense<T> random_symmetric(bool conjugate, Index n, unsigned seed) {
    auto a = random_dense<T>(n, n, seed);
    for (Index j = 0; j < n; ++j) {
        if (conjugate) a(j, j) = real_part(a(j, j));
        for (Index i = j + 1; i < n; ++i) a(j, i) = conj_if(conjugate, a(i, j));
    }
    return a;
}

/// A random matrix with a dominant diagonal: positive definite, or safe to factor if it is complex symmetric.
template <class T> Dense<T> random_definite(bool conjugate, Index n, unsigned seed) {
    auto a = random_symmetric<T>(conjugate, n, seed);
    for (Index j = 0; j < n; ++j) a(j, j) += static_cast<Real<T>>(2 * n);
    return a;
}

/// Divides blocks of 32 columns or more, and runs the last part first. Counts the parts.
struct Backwards : BlockDivision {
    Backwards()
        : BlockDivision{PartSizes(16), [this](int count, std::function<void(int)> const& part) {
                            parts += count;
                            while (count > 0) part(--count);
                        }} {}
    Backwards(Backwards const&) = delete;
    int parts = 0;
};

/// A op(B) by definition.
template <class T> Dense<T> product(Dense<T> const& a, Dense<T> const& b, Op op_b = Op::none) {
    Dense<T> c(a.rows, op_b == Op::none ? b.cols : b.rows);
    for (Index j = 0; j < c.cols; ++j)
        for (Index p = 0; p < a.cols; ++p) {
            T const factor = op_b == Op::none ? b(p, j) : conj_if(op_b == Op::adjoint, b(j, p));
            add_scaled(c.rows, factor, a.values.data() + p * a.ld, c.values.data() + j * c.ld);
        }
    return c;
}

template <class T> Real<T> largest_entry(Dense<T> const& a) {
    Real<T> largest = 0;
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) largest = std::max(largest, std::abs(a(i, j)));
    return largest;
}

template <class T> Real<T> largest_difference(Dense<T> const& a, Dense<T> const& b) {
    EXPECT_EQ(a.rows, b.rows);
    EXPECT_EQ(a.cols, b.cols);
    Real<T> largest = 0;
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) {
            Real<T> const difference = std::abs(a(i, j) - b(i, j));
            if (!(difference <= largest)) largest = difference; // NaN stays
        }
    return largest;
}

/// Whether perm is a permutation of 0, 1, ..., its size - 1.
inline bool is_permutation(std::span<std::int32_t const> perm) {
    std::vector<bool> seen(perm.size(), false);
    for (std::int32_t p : perm) {
        if (p < 0 || p >= static_cast<std::int32_t>(perm.size()) || seen[p]) return false;
        seen[p] = true;
    }
    return true;
}

} // namespace espalier::testing
