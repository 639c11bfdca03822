// From one CscMatrix to another of the same mathematical content, or to a part of it: other scalar type,
// full instead of triangular storage, transpose. Every function is linear in the stored entries and keeps
// the invariants of CscMatrix (sorted rows, no duplicates), which it expects of its argument.
#pragma once

#include "espalier/matrix.hpp"

namespace espalier {

/// The same matrix in scalars To. Error{usage} from complex to real (also when all imaginary parts are 0);
/// Error{bad_input} with row and column when a finite value becomes infinite in a narrower type. A real
/// symmetric matrix stays Symmetry::symmetric in complex scalars.
template <class To, class From> CscMatrix<To> convert(CscMatrix<From> const& a);
template <class To, class From> DenseMatrix<To> convert(DenseMatrix<From> const& a);

/// Both triangles of a symmetric or Hermitian matrix, as a general one. A general matrix is copied.
template <class T> CscMatrix<T> expand_symmetric(CscMatrix<T> const& a);

/// Rows >= column of a square general matrix, declared to have `symmetry`; the upper triangle is not
/// looked at. A matrix that is stored as a triangle already must have that symmetry.
/// Error{bad_input} when it is not square, Error{usage} when `symmetry` is general or contradicts.
template <class T> CscMatrix<T> lower_triangle(CscMatrix<T> const& a, Symmetry symmetry);

/// A^T, without conjugation. A symmetric matrix is copied, the values of a Hermitian one are conjugated.
template <class T> CscMatrix<T> transpose(CscMatrix<T> const& a);

} // namespace espalier
