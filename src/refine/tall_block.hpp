// Orthogonal decompositions of a block of columns whose rows are distributed, by tall and skinny QR (Demmel,
// Grigori, Hoemmen, Langou 2012). Each process reduces its rows to a triangle, and process 0 decomposes the
// stacked triangles.
#pragma once

#include <algorithm>
#include <vector>

#include "distributed/distributed_rows.hpp"
#include "espalier/matrix.hpp"
#include "kernels/view.hpp"

namespace espalier {

/// A view of columns [first, first + columns), or of all from `first` on if `columns` is negative.
template <class T> MatrixView<T> view(DenseMatrix<T>& a, Index first = 0, Index columns = -1) {
    return {a.values.data() + first * a.rows, a.rows, columns < 0 ? a.cols - first : columns,
            std::max<Index>(a.rows, 1)};
}

/// Returns a block of zeros.
template <class T> DenseMatrix<T> dense(Index rows, Index cols) {
    return {rows, cols, std::vector<T>(rows * cols)};
}

/// A := Q of its QR factorization: orthonormal columns whose span contains the columns of A. `a` has the
/// local rows; all processes together have at least as many rows as columns. Collective.
template <class T> void orthonormalize(DistributedRows const& rows, MatrixView<T> a);

/// Singular values of A in descending order and, in `right` (columns x columns), the right singular vectors
/// as its rows, conjugated, the same on all processes: A = U diag(values) right. A must be finite, and is
/// overwritten. Collective. Error{internal} if the iteration fails.
template <class T>
std::vector<double> singular_values(DistributedRows const& rows, MatrixView<T> a, MatrixView<T> right);

} // namespace espalier
