// Irregular matrices and residuals for the tests of simplicial LU.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "espalier/matrix.hpp"
#include "matrix/dense_reference.hpp"
#include "simplicial/simplicial_lu.hpp"

namespace espalier::test {

template <class T> PatternView pattern_of(CscMatrix<T> const& a) {
    return {a.col_ptr, a.row_ind};
}

template <class T> T random_value(SplitMix64& random) {
    auto const real = static_cast<Real<T>>(random.uniform(-1, 1));
    if constexpr (is_complex<T>)
        return T(real, static_cast<Real<T>>(random.uniform(-1, 1)));
    else
        return real;
}

/// A matrix with entries at these (column, row) places and random values.
template <class T>
CscMatrix<T> fill_pattern(Index n, std::set<std::pair<Index, Index>> const& places, std::uint64_t seed) {
    SplitMix64 random(seed);
    CscMatrix<T> a;
    a.rows = a.cols = n;
    a.col_ptr.assign(n + 1, 0);
    for (auto const& [j, i] : places) {
        ++a.col_ptr[j + 1];
        a.row_ind.push_back(i);
        a.values.push_back(random_value<T>(random));
    }
    for (Index j = 0; j < n; ++j) a.col_ptr[j + 1] += a.col_ptr[j];
    return a;
}

/// Random places with a hidden full matching, one dense row and one dense column (as of a power net).
inline std::set<std::pair<Index, Index>> irregular_places(Index n, Index extra, bool nets,
                                                          std::uint64_t seed) {
    SplitMix64 random(seed);
    std::vector<Index> row(n);
    for (Index j = 0; j < n; ++j) row[j] = j;
    for (Index j = n - 1; j > 0; --j) std::swap(row[j], row[random.below(j + 1)]);
    std::set<std::pair<Index, Index>> places;
    for (Index j = 0; j < n; ++j) places.emplace(j, row[j]);
    for (Index k = 0; k < extra; ++k) places.emplace(random.below(n), random.below(n));
    for (Index j = 0; nets && j < n; j += 2) {
        places.emplace(j, n / 2);
        places.emplace(n / 3, j);
    }
    return places;
}

template <class T> CscMatrix<T> irregular_matrix(Index n, Index extra, bool nets, std::uint64_t seed) {
    return fill_pattern<T>(n, irregular_places(n, extra, nets, seed), seed + 1);
}

/// |b - op(A) x| / (max |A| |x| + |b|) in infinity norms, computed in double precision.
template <class T>
double backward_error(CscMatrix<T> const& a, std::span<T const> x, std::span<T const> b, MatrixOp op) {
    using Wide = std::complex<double>;
    auto const norm = [](auto const& vector) {
        double largest = 0;
        for (auto const value : vector)
            if (double const size = std::abs(Wide(value)); !(size <= largest)) largest = size;
        return largest;
    };
    std::vector<Wide> residual(b.begin(), b.end());
    for (Index j = 0; j < a.cols; ++j)
        for (Offset const p : a.entries_of(j)) {
            Index const i = a.row_ind[p], to = op == MatrixOp::none ? i : j,
                        from = op == MatrixOp::none ? j : i;
            residual[to] -= Wide(conj_if(op == MatrixOp::adjoint, a.values[p])) * Wide(x[from]);
        }
    double const scale = norm(a.values) * norm(x) + norm(b);
    return scale > 0 ? norm(residual) / scale : 0;
}

} // namespace espalier::test
