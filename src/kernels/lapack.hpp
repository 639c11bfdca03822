// Typed access to the LAPACK routines that dense subproblems need. Sequential; sizes are converted to the
// library's integers with a check.
#pragma once

#include <vector>

#include "core/scalar.hpp"
#include "kernels/view.hpp"

namespace espalier {

/// A := Q of its QR factorization by Householder reflections: orthonormal columns that span those of A (and
/// more, where these are dependent). At least as many rows as columns.
template <class T> void orthonormalize(MatrixView<T> a);

/// Singular values in descending order, min(rows, cols) of them, and with `right` (cols x cols) the right
/// singular vectors as its rows, conjugated: A = U diag(values) right. A is overwritten and must be finite.
/// Error{internal} when the iteration fails.
template <class T> std::vector<Real<T>> singular_values(MatrixView<T> a, MatrixView<T> right);

} // namespace espalier
