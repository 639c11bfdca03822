// Small matrices by a formula or row by row, for the tests of several modules.
#pragma once

#include <vector>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// The entries value(i, j) that are not zero; only those of the lower triangle unless `symmetry` is general.
template <class T = double, class Value>
CscMatrix<T> matrix_of(Index n, Symmetry symmetry, Value const& value) {
    CscMatrix<T> a{n, n, symmetry, {0}, {}, {}};
    for (Index j = 0; j < n; ++j) {
        for (Index i = symmetry == Symmetry::general ? 0 : j; i < n; ++i) {
            T const entry = static_cast<T>(value(i, j));
            if (entry == T(0)) continue;
            a.row_ind.push_back(i);
            a.values.push_back(entry);
        }
        a.col_ptr.push_back(std::ssize(a.values));
    }
    return a;
}

/// A matrix from its rows, without zeros.
template <class T = double>
CscMatrix<T> matrix_from(Symmetry symmetry, std::vector<std::vector<T>> const& rows) {
    return matrix_of<T>(std::ssize(rows), symmetry, [&](Index i, Index j) { return rows[i][j]; });
}

/// Multiplies the values of a matrix by factor(i, j).
template <class T, class Factor> void scale_values(CscMatrix<T>& a, Factor const& factor) {
    for (Index j = 0; j < a.cols; ++j)
        for (Offset p : a.entries_of(j)) a.values[p] *= factor(a.row_ind[p], j);
}

} // namespace espalier
