// Products and triangular solves with a block of vectors: level 2 BLAS for one column (level 3 is slow
// there), level 3 for several.
#pragma once

#include "kernels/blas.hpp"

namespace espalier {

/// Y = alpha op(A) X + beta Y for dense X and Y of any number of columns: gemv for one column, else gemm.
template <class T>
void multiply(Op op, T alpha, MatrixView<T const> a, MatrixView<T const> x, T beta, MatrixView<T> y);

/// X = op(A)^-1 X for any number of columns: trsv for one, else trsm.
template <class T> void solve_triangular(Uplo uplo, Op op, Diag diag, MatrixView<T const> a, MatrixView<T> x);

} // namespace espalier
