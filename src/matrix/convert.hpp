// From one CscMatrix to another of the same mathematical content, or to a part of it: other scalar type,
// full instead of triangular storage, transpose. Every function is linear in the stored entries and keeps
// the invariants of CscMatrix (sorted rows, no duplicates), which it expects of its argument.
#pragma once

#include <cmath>
#include <string_view>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// The same matrix in scalars To. Error{usage} from complex to real (also when all imaginary parts are 0);
/// Error{bad_input} with row and column when a finite value becomes infinite in a narrower type. A real
/// symmetric matrix stays Symmetry::symmetric in complex scalars.
template <class To, class From> CscMatrix<To> convert(CscMatrix<From> const& a);
template <class To, class From> DenseMatrix<To> convert(DenseMatrix<From> const& a);

/// Error{bad_input} that `what` of the file `path` has a value in that row and column (counted from 0, told
/// from 1) which is too large.
[[noreturn]] void refuse_overflow(std::string_view path, std::string_view what, Index row, Index col);

/// That refusal when a finite value becomes infinite in scalars To.
template <class To, class From>
void require_fits(From value, std::string_view path, std::string_view what, Index row, Index col) {
    auto const fits = [](double part) { return std::isfinite(static_cast<Real<To>>(part)); };
    if (!fits(real_part(value)) || !fits(imag_part(value))) refuse_overflow(path, what, row, col);
}

/// Both triangles of a symmetric or Hermitian matrix, as a general one. A general matrix is copied.
template <class T> CscMatrix<T> expand_symmetric(CscMatrix<T> const& a);

/// Rows >= column of a square general matrix, declared to have `symmetry`; the upper triangle is not
/// looked at. A matrix that is stored as a triangle already must have that symmetry.
/// Error{bad_input} when it is not square, Error{usage} when `symmetry` is general or contradicts.
template <class T> CscMatrix<T> lower_triangle(CscMatrix<T> const& a, Symmetry symmetry);

/// A^T, without conjugation. A symmetric matrix is copied, the values of a Hermitian one are conjugated.
template <class T> CscMatrix<T> transpose(CscMatrix<T> const& a);

} // namespace espalier
