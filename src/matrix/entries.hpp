// Visits of stored entries, and the two-pass construction of compressed columns.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// Calls visit(i, j, p) for the entry at each position p, column by column with ascending rows i.
template <class T, class Visit> void for_each_entry(CscMatrix<T> const& a, Visit const& visit) {
    for (Index j = 0; j < a.cols; ++j)
        for (Offset p : a.entries_of(j)) visit(a.row_ind[p], j, p);
}

/// Builds a matrix from entries that `emit(put)` passes to put(i, j, value). emit is called twice, first to
/// count and then to store the entries, and must emit the rows of each column in ascending order without
/// duplicates.
template <class T, class Emit>
CscMatrix<T> build_columns(Index rows, Index cols, Symmetry symmetry, Emit const& emit) {
    CscMatrix<T> a;
    a.rows = rows;
    a.cols = cols;
    a.symmetry = symmetry;
    a.col_ptr.assign(cols + 1, 0);
    emit([&](Index, Index j, T) { ++a.col_ptr[j + 1]; });
    std::partial_sum(a.col_ptr.begin(), a.col_ptr.end(), a.col_ptr.begin());
    a.row_ind.resize(a.stored());
    a.values.resize(a.stored());
    std::vector<Offset> next(a.col_ptr.begin(), a.col_ptr.end() - 1);
    emit([&](Index i, Index j, T value) {
        Offset const p = next[j]++;
        a.row_ind[p] = i;
        a.values[p] = value;
    });
    return a;
}

/// Removes the entries for which keep(i, j) is false.
template <class T, class Keep> void retain_entries(CscMatrix<T>& a, Keep const& keep) {
    Offset end = 0;
    for (Index j = 0; j < a.cols; ++j) {
        Offset const last = a.col_ptr[j + 1];
        for (Offset p = std::exchange(a.col_ptr[j], end); p < last; ++p) {
            if (!keep(a.row_ind[p], j)) continue;
            a.row_ind[end] = a.row_ind[p];
            a.values[end++] = a.values[p];
        }
    }
    a.col_ptr.back() = end;
    a.row_ind.resize(end);
    a.values.resize(end);
}

/// Calls visit(i, j, value) for each entry of op(A) that the given columns of A store, those above the diagonal
/// of a symmetric or Hermitian matrix included, in the order in which they are stored. Calls expect(i) some
/// entries before visiting one in row i of A, so that the visitor can prefetch.
template <class T, class Visit, class Expect>
void for_each_entry(MatrixOp op, CscMatrix<T> const& a, IndexRange columns, Visit const& visit,
                    Expect const& expect) {
    constexpr Offset ahead = 16;
    Offset const last = a.stored() - 1;
    bool const turned = op != MatrixOp::none, mirrored = a.symmetry != Symmetry::general;
    bool const conjugate = op == MatrixOp::adjoint;
    bool const conjugate_mirror = conjugate != (a.symmetry == Symmetry::hermitian);
    for (Index const j : columns)
        for (Offset const p : a.entries_of(j)) {
            expect(a.row_ind[std::min(p + ahead, last)]);
            Index const i = a.row_ind[p];
            T const value = a.values[p];
            visit(turned ? j : i, turned ? i : j, conj_if(conjugate, value));
            if (mirrored && i != j) visit(turned ? i : j, turned ? j : i, conj_if(conjugate_mirror, value));
        }
}

/// The same for all columns.
template <class T, class Visit> void for_each_entry(MatrixOp op, CscMatrix<T> const& a, Visit const& visit) {
    for_each_entry(op, a, IndexRange{0, a.cols}, visit, [](Index) {});
}

} // namespace espalier
