// Conversions of a CscMatrix: scalar type, full or triangular storage, transpose, submatrix. Every function
// takes time linear in the stored entries, and requires and keeps the invariants of CscMatrix.
#pragma once

#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// Converts a matrix to scalars To. A real symmetric matrix stays Symmetry::symmetric in complex scalars.
/// Throws Error{usage} for a conversion from complex to real, even if all imaginary parts are 0;
/// Error{bad_input} with row and column if a finite value overflows the narrower type.
template <class To, class From> CscMatrix<To> convert(CscMatrix<From> const& a);
/// Converts a dense block, with the same errors.
template <class To, class From> DenseMatrix<To> convert(DenseMatrix<From> const& a);

/// Throws Error{bad_input}: `what` of the file `path` has a value that is too large for single precision.
/// `row` and `col` count from 0; the message counts from 1.
[[noreturn]] void reject_overflow(std::string_view path, std::string_view what, Index row, Index col);

/// Calls reject_overflow() if a finite value becomes infinite in scalars To.
template <class To, class From>
void require_fits(From value, std::string_view path, std::string_view what, Index row, Index col) {
    auto const fits = [](double part) { return std::isfinite(static_cast<Real<To>>(part)); };
    if (!fits(real_part(value)) || !fits(imag_part(value))) reject_overflow(path, what, row, col);
}

/// The nonzeros of a dense matrix.
template <class T> CscMatrix<T> nonzeros(DenseMatrix<T> const& a);

/// Both triangles of a symmetric or Hermitian matrix, as a general matrix; a copy of a general matrix.
template <class T> CscMatrix<T> expand_symmetric(CscMatrix<T> const& a);

/// The lower triangle of a square general matrix as a matrix of the given symmetry; the upper triangle is
/// ignored. A matrix that already is stored as a triangle must have that symmetry and is copied. Throws
/// Error{bad_input} if the matrix is not square; Error{usage} if `symmetry` is general or another one than
/// the matrix has.
template <class T> CscMatrix<T> lower_triangle(CscMatrix<T> const& a, Symmetry symmetry);

/// A^T without conjugation. A symmetric matrix is copied; the values of a Hermitian matrix are conjugated.
template <class T> CscMatrix<T> transpose(CscMatrix<T> const& a);

/// The indices 0 .. n - 1 that are not in `removed` (distinct, in range), ascending.
std::vector<Index> complement(std::span<Index const> removed, Index n);

/// The rows and columns of the square matrix `a` that are not in `removed` (distinct, in range), ascending.
template <class T> CscMatrix<T> interior_block(CscMatrix<T> const& a, std::span<Index const> removed);

} // namespace espalier
