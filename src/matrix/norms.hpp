// Norms of matrices and vectors, and the backward errors made of them. All results are double, whatever
// the scalar. A NaN in an argument makes a norm NaN, and makes a backward error infinite: no error measure
// here can look small because something in it was not a number.
#pragma once

#include <span>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// Largest row sum of moduli of op(A); of the whole matrix when only a triangle is stored (as all norms
/// here).
template <class T> double infinity_norm(CscMatrix<T> const& a, MatrixOp op = MatrixOp::none);
/// Largest column sum of moduli.
template <class T> double one_norm(CscMatrix<T> const& a);
/// Largest modulus.
template <class T> double max_abs(CscMatrix<T> const& a);
/// Square root of the sum of squared moduli, scaled so that it overflows only if the result does.
template <class T> double frobenius_norm(CscMatrix<T> const& a);
/// Largest modulus of a vector.
template <class T> double infinity_norm(std::span<T const> x);

/// Normwise backward error of X for op(A) X = B, the worst of `nrhs` columns:
///     max_k |b_k - op(A) x_k| / (|op(A)| |x_k| + |b_k|),    infinity norms (Rigal and Gaches 1967).
/// 0/0 counts 0; a NaN or Inf in A, x or b counts infinite, and a product of theirs that overflows does no
/// harm. Error{usage} when a span has a wrong size.
template <class T> double normwise_backward_error(CscMatrix<T> const& a, std::span<T const> x,
                                                  std::span<T const> b, Index nrhs = 1,
                                                  MatrixOp op = MatrixOp::none);

/// The same from a residual R = B - op(A) X and |op(A)| that are known already; they are to be finite.
template <class T> double normwise_backward_error(double matrix_norm, std::span<T const> r,
                                                  std::span<T const> x, std::span<T const> b, Index nrhs = 1);

/// The same from the norms alone, of one column.
double normwise_backward_error(double matrix_norm, double r_norm, double x_norm, double b_norm);

/// Componentwise backward error (Oettli and Prager 1964), the worst of `nrhs` columns:
///     max_i |b - op(A) x|_i / (|op(A)| |x| + |b|)_i
/// 0/0 counts 0, nonzero/0 infinite, a NaN or Inf in A, x or b infinite.
template <class T> double componentwise_backward_error(CscMatrix<T> const& a, std::span<T const> x,
                                                       std::span<T const> b, Index nrhs = 1,
                                                       MatrixOp op = MatrixOp::none);

} // namespace espalier
