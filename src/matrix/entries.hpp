// Visits of stored entries, and the two-pass construction of compressed columns.
#pragma once

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

/// Removes the entries for which keep(i, j, p) is false, with the position p before the removal.
template <class T, class Keep> void retain_entries(CscMatrix<T>& a, Keep const& keep) {
    Offset end = 0;
    for (Index j = 0; j < a.cols; ++j) {
        Offset const last = a.col_ptr[j + 1];
        for (Offset p = std::exchange(a.col_ptr[j], end); p < last; ++p) {
            if (!keep(a.row_ind[p], j, p)) continue;
            a.row_ind[end] = a.row_ind[p];
            a.values[end++] = a.values[p];
        }
    }
    a.col_ptr.back() = end;
    a.row_ind.resize(end);
    a.values.resize(end);
}

/// Calls visit(i, j, value) for each entry of op(A), those above the diagonal of a symmetric or Hermitian
/// matrix included, in the order in which the entries of A are stored.
template <class T, class Visit> void for_each_entry(MatrixOp op, CscMatrix<T> const& a, Visit const& visit) {
    bool const turned = op != MatrixOp::none, mirrored = a.symmetry != Symmetry::general;
    bool const conjugate = op == MatrixOp::adjoint;
    bool const conjugate_mirror = conjugate != (a.symmetry == Symmetry::hermitian);
    for_each_entry(a, [&](Index i, Index j, Offset p) {
        T const value = a.values[p];
        visit(turned ? j : i, turned ? i : j, conj_if(conjugate, value));
        if (mirrored && i != j) visit(turned ? i : j, turned ? j : i, conj_if(conjugate_mirror, value));
    });
}

} // namespace espalier
