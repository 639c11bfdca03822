// What the tests of this room compare with and solve by: dense LU factors of small matrices, solved with any
// op, of which pivots can be replaced; inverses in extended precision; matrices with given singular values.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"
#include "refine/apply_inverse.hpp"

namespace espalier::test {

inline constexpr MatrixOp all_ops[] = {MatrixOp::none, MatrixOp::transpose, MatrixOp::adjoint};

template <class T> struct Square {
    Index n;
    std::vector<T> values;
    explicit Square(Index order) : n(order), values(static_cast<std::size_t>(order * order), T(0)) {}
    T& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i + j * n)]; }
    T const& operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i + j * n)]; }
};

/// op(A), the mirror image of a triangle included, in another precision if asked for.
template <class To, class T> Square<To> to_dense(CscMatrix<T> const& a, MatrixOp op = MatrixOp::none) {
    Square<To> dense(a.cols);
    auto const put = [&](Index i, Index j, T value) {
        value = conj_if(op == MatrixOp::adjoint, value);
        (op == MatrixOp::none ? dense(i, j) : dense(j, i)) = To(value);
    };
    for (Index j = 0; j < a.cols; ++j)
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) {
            Index const i = a.row_ind[k];
            if (a.symmetry != Symmetry::general)
                put(j, i, conj_if(a.symmetry == Symmetry::hermitian, a.values[k]));
            put(i, j, a.values[k]);
        }
    return dense;
}

/// The lower triangle only for a symmetry.
template <class T> CscMatrix<T> to_sparse(Square<T> const& dense, Symmetry symmetry = Symmetry::general) {
    CscMatrix<T> a;
    a.rows = a.cols = dense.n;
    a.symmetry = symmetry;
    a.col_ptr.assign(1, 0);
    for (Index j = 0; j < dense.n; ++j) {
        for (Index i = symmetry == Symmetry::general ? 0 : j; i < dense.n; ++i)
            if (dense(i, j) != T(0)) {
                a.row_ind.push_back(i);
                a.values.push_back(dense(i, j));
            }
        a.col_ptr.push_back(static_cast<Offset>(a.values.size()));
    }
    return a;
}

/// P A = L U with partial pivoting. A pivot that is smaller than `threshold` is replaced by it.
template <class T> class DenseLu {
  public:
    explicit DenseLu(Square<T> a, Real<T> threshold = 0)
        : a_(std::move(a)), row_(static_cast<std::size_t>(a_.n)) {
        std::iota(row_.begin(), row_.end(), Index(0));
        for (Index k = 0; k < a_.n; ++k) {
            Index pivot = k;
            for (Index i = k; i < a_.n; ++i)
                if (std::abs(a_(i, k)) > std::abs(a_(pivot, k))) pivot = i;
            std::swap(row_[k], row_[pivot]);
            for (Index j = 0; j < a_.n; ++j) std::swap(a_(k, j), a_(pivot, j));
            if (std::abs(a_(k, k)) < threshold) {
                a_(k, k) = T(threshold);
                ++replaced_;
            }
            for (Index i = k + 1; i < a_.n; ++i) {
                a_(i, k) /= a_(k, k);
                for (Index j = k + 1; j < a_.n; ++j) a_(i, j) -= a_(i, k) * a_(k, j);
            }
        }
    }

    [[nodiscard]] Index replaced() const { return replaced_; }

    /// x := op(A)^-1 x, one column.
    void solve(T* x, MatrixOp op) const {
        Index const n = a_.n;
        std::vector<T> y(n);
        if (op == MatrixOp::none) {
            for (Index i = 0; i < n; ++i) {
                y[i] = x[row_[i]];
                for (Index j = 0; j < i; ++j) y[i] -= a_(i, j) * y[j];
            }
            for (Index i = n; i-- > 0;) {
                for (Index j = i + 1; j < n; ++j) y[i] -= a_(i, j) * y[j];
                y[i] /= a_(i, i);
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

    /// Refers to *this.
    [[nodiscard]] ApplyInverse<T> apply() const {
        return [this](std::span<T> block, Index columns, MatrixOp op) {
            ASSERT_EQ(static_cast<Index>(block.size()), a_.n * columns);
            for (Index c = 0; c < columns; ++c) solve(block.data() + c * a_.n, op);
        };
    }

  private:
    Square<T> a_;
    std::vector<Index> row_;
    Index replaced_ = 0;
};

/// long double, or its complex form.
template <class T> using Extended = std::conditional_t<is_complex<T>, std::complex<long double>, long double>;

/// Inverse with the digits that long double has beyond T.
template <class X> Square<X> inverse(Square<X> const& a) {
    DenseLu<X> const lu(a);
    Square<X> result(a.n);
    for (Index j = 0; j < a.n; ++j) {
        result(j, j) = X(1);
        lu.solve(&result(0, j), MatrixOp::none);
    }
    return result;
}

template <class X> double one_norm(Square<X> const& a) {
    double largest = 0;
    for (Index j = 0; j < a.n; ++j) {
        double sum = 0;
        for (Index i = 0; i < a.n; ++i) sum += static_cast<double>(std::abs(a(i, j)));
        largest = std::max(largest, sum);
    }
    return largest;
}

template <class T> T random_scalar(std::mt19937_64& random) {
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

/// A := (I - 2 u u^H) A for a random unit vector u; singular values stay.
template <class T> void reflect(Square<T>& a, std::mt19937_64& random, bool from_right) {
    std::vector<T> u(a.n);
    Real<T> squares = 0;
    for (T& value : u) {
        value = random_scalar<T>(random);
        squares += std::norm(value);
    }
    for (Index j = 0; j < a.n; ++j) {
        T product(0);
        for (Index i = 0; i < a.n; ++i) product += from_right ? a(j, i) * u[i] : conj(u[i]) * a(i, j);
        product *= 2 / squares;
        for (Index i = 0; i < a.n; ++i)
            if (from_right)
                a(j, i) -= product * conj(u[i]);
            else
                a(i, j) -= u[i] * product;
    }
}

/// A random matrix with these singular values; Hermitian (symmetric when real) with these eigenvalues if
/// asked.
template <class T>
Square<T> with_singular_values(std::vector<double> const& sigma, std::uint64_t seed, bool hermitian = false) {
    Square<Extended<T>> a(static_cast<Index>(sigma.size()));
    for (Index i = 0; i < a.n; ++i) a(i, i) = Extended<T>(static_cast<long double>(sigma[i]));
    std::mt19937_64 left(seed), right(hermitian ? seed : seed + 1);
    for (int times = 0; times < 3; ++times) {
        reflect(a, left, false);
        reflect(a, right, true);
    }
    Square<T> rounded(a.n);
    for (Index j = 0; j < a.n; ++j)
        for (Index i = 0; i < a.n; ++i)
            if (!hermitian || i > j)
                rounded(i, j) = T(a(i, j));
            else
                rounded(i, j) = i == j ? T(real_part(T(a(i, j)))) : conj(T(a(j, i)));
    return rounded;
}

} // namespace espalier::test
