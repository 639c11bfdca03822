// Products of a sparse matrix with one or several dense vectors, which are the columns of contiguous
// column-major blocks. These functions run on the calling thread.
#pragma once

#include <span>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"
#include "espalier/range.hpp"

namespace espalier {

/// Y = alpha op(A) X + beta Y, for `nrhs` columns. X has nrhs * (columns of op(A)) entries, Y nrhs * (rows of
/// op(A)); they do not overlap. Y is not read when beta is 0. A NaN or Inf in X reaches every entry of Y
/// whose row meets it. Error{usage} when a span has another size.
template <class T> void multiply(MatrixOp op, T alpha, CscMatrix<T> const& a, std::span<T const> x, T beta,
                                 std::span<T> y, Index nrhs = 1);

/// Adds the contribution of some columns of A to y += alpha op(A) x for one vector, without checks: x and y
/// have room for all rows and columns that the entries touch.
template <class T>
void add_product(MatrixOp op, T alpha, CscMatrix<T> const& a, IndexRange columns, T const* x, T* y);

/// The memory that receives a product. Row i is added to y[i] if `own` contains i, and to others[i]
/// otherwise.
template <class T> struct ProductTarget {
    T* y;
    IndexRange own;
    T* others;
};
/// Like the function above, for columns whose numbers are rows of target.own.
template <class T> void add_product(MatrixOp op, T alpha, CscMatrix<T> const& a, IndexRange columns,
                                    T const* x, ProductTarget<T> const& target);

/// y := beta y; zeros for beta = 0, whatever y has been.
template <class T> void scale_block(T beta, std::span<T> y);

/// Error{usage} naming `what` unless a block of `nrhs` vectors of `length` entries has just `size` entries.
void require_block_size(char const* what, std::size_t size, Index length, Index nrhs);

} // namespace espalier
