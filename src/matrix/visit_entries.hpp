// Loops over the stored entries of a sparse matrix.
#pragma once

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// Calls visit(i, j, value) for each stored entry, columns in order.
template <class T, class Visit> void for_each_entry(CscMatrix<T> const& a, Visit const& visit) {
    for (Index j = 0; j < a.cols; ++j)
        for (Offset p = a.col_ptr[j]; p < a.col_ptr[j + 1]; ++p) visit(a.row_ind[p], j, a.values[p]);
}

/// Calls visit(i, j, value) for each entry of op(A), those above the diagonal of a symmetric or Hermitian
/// matrix included, in the order in which the entries of A are stored.
template <class T, class Visit> void for_each_entry(MatrixOp op, CscMatrix<T> const& a, Visit const& visit) {
    bool const turned = op != MatrixOp::none, mirrored = a.symmetry != Symmetry::general;
    bool const conjugate = op == MatrixOp::adjoint;
    bool const conjugate_mirror = conjugate != (a.symmetry == Symmetry::hermitian);
    for_each_entry(a, [&](Index i, Index j, T value) {
        visit(turned ? j : i, turned ? i : j, conj_if(conjugate, value));
        if (mirrored && i != j) visit(turned ? i : j, turned ? j : i, conj_if(conjugate_mirror, value));
    });
}

} // namespace espalier
