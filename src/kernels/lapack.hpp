// Typed access to the LAPACK routines for dense subproblems. All functions throw Error{unsupported} if a size
// does not fit the integers of the library.
#pragma once

#include <vector>

#include "core/scalar.hpp"
#include "kernels/view.hpp"

namespace espalier {

/// Replaces A by the factor Q of its QR factorization: orthonormal columns whose span contains the columns of
/// A, which may be dependent. A has at least as many rows as columns.
template <class T> void orthonormalize(MatrixView<T> a);

/// The min(rows, cols) singular values in descending order. Stores the conjugated right singular vectors as
/// the rows of `right` (cols x cols): A = U diag(values) right. A must be finite and is overwritten. Throws
/// Error{internal} if the iteration fails.
template <class T> std::vector<Real<T>> singular_values(MatrixView<T> a, MatrixView<T> right);

} // namespace espalier
