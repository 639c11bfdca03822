// Typed access to BLAS and LAPACK (sequential) for the four scalar types. Only this room includes CBLAS.
// Sizes are converted to the library's integers with a check.
#pragma once

#include <span>
#include <string>

#include "core/scalar.hpp"
#include "kernels/view.hpp"

namespace espalier {

enum class Op { none, transpose, adjoint };
enum class Side { left, right };
enum class Uplo { lower, upper };
enum class Diag { non_unit, unit };

/// C = alpha op(A) op(B) + beta C.
template <class T>
void gemm(Op op_a, Op op_b, T alpha, MatrixView<T const> a, MatrixView<T const> b, T beta, MatrixView<T> c);
/// y = alpha op(A) x + beta y.
template <class T>
void gemv(Op op, T alpha, MatrixView<T const> a, std::span<T const> x, T beta, std::span<T> y);
/// Lower triangle of C = alpha A A^H + beta C (conjugate) or alpha A A^T + beta C. alpha and beta are real.
template <class T>
void rank_k_update(bool conjugate, Real<T> alpha, MatrixView<T const> a, Real<T> beta, MatrixView<T> c);
/// B = alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), A triangular.
template <class T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, MatrixView<T const> a, MatrixView<T> b);

/// Lets BLAS use that many threads (1 inside our tasks, whatever the library's own default is). Returns what
/// it used before.
int set_blas_threads(int threads);

/// What BLAS this is: its configuration string and the processor kernel it runs, e.g. "SkylakeX".
struct BlasInfo {
    std::string config;
    std::string core;
};
BlasInfo blas_info();

} // namespace espalier
