// Orthogonal decompositions of a block of columns whose rows are distributed: tall and skinny QR (Demmel,
// Grigori, Hoemmen, Langou 2012). Each process reduces its rows to a triangle, process 0 decomposes the
// stacked triangles.
#pragma once

#include <vector>

#include "distributed/distributed_rows.hpp"
#include "kernels/view.hpp"

namespace espalier {

/// A := Q of its QR factorization: orthonormal columns whose span contains the columns of A. `a` has the
/// local rows; all processes together have at least as many rows as columns. Collective.
template <class T> void orthonormalize(DistributedRows const& rows, MatrixView<T> a);

/// Singular values of A in descending order and, in `right` (columns x columns), the right singular vectors
/// as its rows, conjugated, the same on all processes: A = U diag(values) right. A must be finite, and is
/// overwritten. Collective. Error{internal} if the iteration fails.
template <class T>
std::vector<double> singular_values(DistributedRows const& rows, MatrixView<T> a, MatrixView<T> right);

} // namespace espalier
