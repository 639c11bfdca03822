// Helpers of the tests of matching and scaling.
#pragma once

#include <algorithm>
#include <complex>
#include <functional>

#include "core/random.hpp"
#include "matrix/convert.hpp"
#include "matrix/dense_reference.hpp"
#include "matrix/entries.hpp"

namespace espalier::test {

/// Calls visit(row, column, value) for the nonzero entries of the whole matrix in the widest scalars.
template <class T, class Visit> void for_each_nonzero(CscMatrix<T> const& a, Visit visit) {
    auto const wide = convert<std::complex<double>>(expand_symmetric(a));
    for_each_entry(wide, [&](Index i, Index j, Offset k) {
        if (wide.values[k] != 0.0) visit(i, j, wide.values[k]);
    });
}

/// A matrix from the rows and values of each column.
template <class T>
CscMatrix<T> from_columns(Index rows, std::vector<std::vector<std::pair<Index, T>>> columns) {
    return build_columns<T>(rows, std::ssize(columns), Symmetry::general, [&](auto const& put) {
        for (Index j = 0; j < std::ssize(columns); ++j)
            for (auto const& [row, value] : columns[j]) put(row, j, value);
    });
}

/// A random matrix with `degree` entries per column in its first rows_used(j) rows (default: all rows), with
/// moduli between 10^-decades and 10^decades.
inline CscMatrix<double> random_sparse(Index n, Index degree, double decades, std::uint64_t seed,
                                       std::function<Index(Index)> const& rows_used = {}) {
    SplitMix64 random(seed);
    std::vector<std::vector<std::pair<Index, double>>> columns(n);
    for (Index j = 0; j < n; ++j) {
        std::vector<Index> rows(degree);
        for (Index& row : rows) row = random.below(rows_used ? rows_used(j) : n);
        std::sort(rows.begin(), rows.end());
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        for (Index const row : rows)
            columns[j].emplace_back(row, std::pow(10.0, random.uniform(-decades, decades)));
    }
    return from_columns(n, std::move(columns));
}

} // namespace espalier::test
