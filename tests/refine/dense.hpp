// Dense references for the tests of this module: LU factors of small matrices with solves for any op, in
// which pivots can be replaced; inverses in extended precision; matrices with given singular values.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "common/matrices.hpp"
#include "core/scalar.hpp"
#include "matrix/dense_reference.hpp"
#include "refine/apply_inverse.hpp"

namespace espalier::test {

/// Stores only the lower triangle unless `symmetry` is general.
template <class T> CscMatrix<T> to_sparse(Dense<T> const& dense, Symmetry symmetry = Symmetry::general) {
    return matrix_of<T>(dense.cols, symmetry, dense);
}

/// P A = L U with partial pivoting. A pivot that is smaller than `threshold` is replaced by it.
template <class T> class DenseLu {
  public:
    explicit DenseLu(Dense<T> a, Real<T> threshold = 0)
        : a_(std::move(a)), row_(static_cast<std::size_t>(a_.cols)) {
        std::iota(row_.begin(), row_.end(), Index(0));
        for (Index k = 0; k < a_.cols; ++k) {
            Index pivot = k;
            for (Index i = k; i < a_.cols; ++i)
                if (std::abs(a_(i, k)) > std::abs(a_(pivot, k))) pivot = i;
            std::swap(row_[k], row_[pivot]);
            for (Index j = 0; j < a_.cols; ++j) std::swap(a_(k, j), a_(pivot, j));
            if (std::abs(a_(k, k)) < threshold) {
                a_(k, k) = T(threshold);
                ++replaced_;
            }
            for (Index i = k + 1; i < a_.cols; ++i) a_(i, k) /= a_(k, k);
            for (Index j = k + 1; j < a_.cols; ++j)
                add_scaled(a_.cols - k - 1, -a_(k, j), &a_(k, k) + 1, &a_(k, j) + 1);
        }
    }

    [[nodiscard]] Index replaced() const { return replaced_; }

    /// x := op(A)^-1 x for one column.
    void solve(T* x, MatrixOp op) const {
        Index const n = a_.cols;
        std::vector<T> y(n);
        if (op == MatrixOp::none) {
            for (Index i = 0; i < n; ++i) y[i] = x[row_[i]];
            for (Index j = 0; j < n; ++j) add_scaled(n - j - 1, -y[j], &a_(j, j) + 1, y.data() + j + 1);
            for (Index j = n; j-- > 0;) {
                y[j] /= a_(j, j);
                add_scaled(j, -y[j], &a_(0, j), y.data());
            }
            std::copy(y.begin(), y.end(), x);
            return;
        }
        auto const entry = [&](Index i, Index j) { return conj_if(op == MatrixOp::adjoint, a_(i, j)); };
        for (Index i = 0; i < n; ++i) {
            y[i] = x[i];
            for (Index j = 0; j < i; ++j) y[i] -= entry(j, i) * y[j];
            y[i] /= entry(i, i);
        }
        for (Index i = n; i-- > 0;)
            for (Index j = i + 1; j < n; ++j) y[i] -= entry(j, i) * y[j];
        for (Index i = 0; i < n; ++i) x[row_[i]] = y[i];
    }

    /// The result refers to *this.
    [[nodiscard]] ApplyInverse<T> apply() const {
        return [this](std::span<T> block, Index columns, MatrixOp op) {
            ASSERT_EQ(static_cast<Index>(block.size()), a_.cols * columns);
            for (Index c = 0; c < columns; ++c) solve(block.data() + c * a_.cols, op);
        };
    }

  private:
    Dense<T> a_;
    std::vector<Index> row_;
    Index replaced_ = 0;
};

/// The type long double or its complex form.
template <class T> using Extended = std::conditional_t<is_complex<T>, std::complex<long double>, long double>;

/// The inverse, with the additional digits of long double.
template <class X> Dense<X> inverse(Dense<X> const& a) {
    DenseLu<X> const lu(a);
    Dense<X> result(a.cols);
    for (Index j = 0; j < a.cols; ++j) {
        result(j, j) = X(1);
        lu.solve(&result(0, j), MatrixOp::none);
    }
    return result;
}

template <class X> double one_norm(Dense<X> const& a) {
    double largest = 0;
    for (Index j = 0; j < a.cols; ++j) {
        double sum = 0;
        for (Index i = 0; i < a.cols; ++i) sum += static_cast<double>(std::abs(a(i, j)));
        largest = std::max(largest, sum);
    }
    return largest;
}

/// The largest difference divided by the largest entry of `expected`. A NaN gives NaN.
template <class T> double difference(std::vector<T> const& x, std::vector<T> const& expected) {
    EXPECT_EQ(x.size(), expected.size());
    double largest = 0, scale = 0;
    for (std::size_t i = 0; i < std::min(x.size(), expected.size()); ++i) {
        double const d = std::abs(x[i] - expected[i]);
        if (!(d <= largest)) largest = d;
        scale = std::max(scale, static_cast<double>(std::abs(expected[i])));
    }
    return largest / std::max(scale, 1e-30);
}

template <class T> Dense<T> random_square(Index n, std::uint64_t seed) {
    Dense<T> a(n);
    a.values = random_vector<T>(n * n, seed);
    return a;
}

template <class T> Dense<T> hilbert(Index n) {
    Dense<T> a(n);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) a(i, j) = T(1 / static_cast<Real<T>>(i + j + 1));
    return a;
}

/// A := (I - 2 u u^H) A for a random unit vector u. The singular values do not change.
template <class T> void reflect(Dense<T>& a, std::mt19937_64& random, bool from_right) {
    std::vector<T> u(a.cols);
    Real<T> squares = 0;
    for (T& value : u) {
        value = random_scalar<T>(random);
        squares += std::norm(value);
    }
    for (Index j = 0; j < a.cols; ++j) {
        T product(0);
        for (Index i = 0; i < a.cols; ++i) product += from_right ? a(j, i) * u[i] : conj(u[i]) * a(i, j);
        product *= 2 / squares;
        for (Index i = 0; i < a.cols; ++i)
            if (from_right)
                a(j, i) -= product * conj(u[i]);
            else
                a(i, j) -= u[i] * product;
    }
}

/// A random matrix with these singular values; on request a Hermitian matrix (symmetric when real) with these
/// eigenvalues.
template <class T>
Dense<T> with_singular_values(std::vector<double> const& sigma, std::uint64_t seed, bool hermitian = false) {
    Dense<Extended<T>> a(static_cast<Index>(sigma.size()));
    for (Index i = 0; i < a.cols; ++i) a(i, i) = Extended<T>(static_cast<long double>(sigma[i]));
    std::mt19937_64 left(seed), right(hermitian ? seed : seed + 1);
    for (int times = 0; times < 3; ++times) {
        reflect(a, left, false);
        reflect(a, right, true);
    }
    Dense<T> rounded(a.cols);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.cols; ++i)
            if (!hermitian || i > j)
                rounded(i, j) = T(a(i, j));
            else
                rounded(i, j) = i == j ? T(real_part(T(a(i, j)))) : conj(T(a(j, i)));
    return rounded;
}

/// A matrix with a strong diagonal, and the factors of one that differs from it in a few diagonal entries.
/// The difference is too large for ir.
template <class T> struct DisturbedSystem {
    CscMatrix<T> a;
    DenseLu<T> lu;

    explicit DisturbedSystem(Symmetry symmetry) : a(strong_diagonal(symmetry)), lu(disturbed(to_dense(a))) {}

  private:
    static CscMatrix<T> strong_diagonal(Symmetry symmetry) {
        Index const n = 40;
        auto dense = random_square<T>(n, 4);
        for (Index j = 0; j < n; ++j) dense(j, j) = T(static_cast<Real<T>>(2 * n));
        return to_sparse(dense, symmetry);
    }
    static Dense<T> disturbed(Dense<T> dense) {
        for (Index const j : {3, 11, 30}) dense(j, j) *= Real<T>(0.2);
        return dense;
    }
};

} // namespace espalier::test
