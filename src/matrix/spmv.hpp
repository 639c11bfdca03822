// Products of a sparse matrix with one or several dense vectors, which are the columns of contiguous
// column-major blocks. Sequential: refinement needs a handful of products a solve, and each is one pass over
// the matrix.
#pragma once

#include <span>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// Y = alpha op(A) X + beta Y, for `nrhs` columns. X has nrhs * (columns of op(A)) entries, Y nrhs * (rows of
/// op(A)); they do not overlap. Y is not read when beta is 0. A NaN or Inf in X reaches every entry of Y
/// whose row meets it. Error{usage} when a span has another size.
template <class T> void multiply(MatrixOp op, T alpha, CscMatrix<T> const& a, std::span<T const> x, T beta,
                                 std::span<T> y, Index nrhs = 1);

/// R = B - op(A) X, for `nrhs` columns. R may be the same memory as B.
template <class T> void residual(CscMatrix<T> const& a, std::span<T const> x, std::span<T const> b,
                                 std::span<T> r, Index nrhs = 1, MatrixOp op = MatrixOp::none);

/// W = |op(A)| |X|, entrywise moduli: the scale against which an entry of B - op(A) X is to be judged (Oettli
/// and Prager 1964).
template <class T> void abs_product(CscMatrix<T> const& a, std::span<T const> x, std::span<Real<T>> w,
                                    Index nrhs = 1, MatrixOp op = MatrixOp::none);

/// Error{usage} naming `what` unless a block of `nrhs` vectors of `length` entries has just `size` entries.
void require_block_size(char const* what, std::size_t size, Index length, Index nrhs);

} // namespace espalier
