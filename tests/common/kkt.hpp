// Saddle-point systems that need pivots from beyond a column block, for the tests of delayed columns.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// [ H  B^H ]  of order n + m with a zero block of order m: a random H with a weak diagonal, and constraints
/// on [ B   0  ]  four unknowns each. Symmetric, Hermitian, or general: then the two B differ. The unknowns
/// are in
///             random order.
template <class T> CscMatrix<T> kkt_system(Symmetry symmetry, Index n, Index m, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    auto const value = [&]() -> T {
        if constexpr (is_complex<T>)
            return T(static_cast<Real<T>>(uniform(random)), static_cast<Real<T>>(uniform(random)));
        else
            return static_cast<T>(uniform(random));
    };
    std::vector<std::pair<Index, Index>> places; // of the lower triangle
    for (Index i = 0; i < n; ++i) {
        places.emplace_back(i, i);
        if (i + 1 < n) places.emplace_back(i + 1, i);
        if (i + 17 < n) places.emplace_back(i + 17, i);
    }
    for (Index i = 0; i < m; ++i) {
        std::set<Index> unknowns{2 * i % n};
        while (unknowns.size() < 4) unknowns.insert(static_cast<Index>(random() % static_cast<unsigned>(n)));
        for (Index const j : unknowns) places.emplace_back(n + i, j);
    }
    std::vector<Index> place(n + m);
    for (Index i = 0; i < n + m; ++i) place[i] = i;
    std::ranges::shuffle(place, random);
    std::vector<std::vector<std::pair<Index, T>>> columns(n + m);
    for (auto const& [i, j] : places) {
        T entry = value();
        if (i == j) entry *= static_cast<Real<T>>(1e-3);
        if (i == j && symmetry == Symmetry::hermitian) entry = T(real_part(entry));
        Index row = place[i], column = place[j];
        if (symmetry != Symmetry::general && row < column) {
            std::swap(row, column);
            entry = conj_if(symmetry == Symmetry::hermitian, entry);
        }
        columns[column].emplace_back(row, entry);
        if (symmetry == Symmetry::general && i != j) columns[row].emplace_back(column, value());
    }
    CscMatrix<T> a{n + m, n + m, symmetry, {0}, {}, {}};
    for (auto& column : columns) {
        std::ranges::sort(column, {}, [](auto const& entry) { return entry.first; });
        for (auto const& [row, entry] : column) {
            a.row_ind.push_back(row);
            a.values.push_back(entry);
        }
        a.col_ptr.push_back(std::ssize(a.values));
    }
    return a;
}

/// The symmetry that a factorization with pivots needs.
template <class T> Symmetry symmetry_for(Factorization kind) {
    if (kind == Factorization::lu) return Symmetry::general;
    return is_complex<T> && kind == Factorization::ldlh ? Symmetry::hermitian : Symmetry::symmetric;
}

inline constexpr Factorization factorizations_with_pivots[] = {Factorization::ldlt, Factorization::ldlh,
                                                               Factorization::lu};

} // namespace espalier
