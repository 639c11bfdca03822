#include "kernels/level2.hpp"

#include <cblas.h>

#include "core/error.hpp"

namespace espalier {

namespace {

CBLAS_TRANSPOSE cblas_op(Op op) {
    return op == Op::none ? CblasNoTrans : op == Op::transpose ? CblasTrans : CblasConjTrans;
}

int to_int(Index value) {
    return checked_cast<int>(value, "a dimension of a BLAS call");
}

template <class T> void gemv(Op op, T alpha, MatrixView<T const> a, T const* x, T beta, T* y) {
    int const m = to_int(a.rows);
    int const n = to_int(a.cols);
    int const ld = to_int(a.ld);
    if constexpr (std::is_same_v<T, float>)
        cblas_sgemv(CblasColMajor, cblas_op(op), m, n, alpha, a.data, ld, x, 1, beta, y, 1);
    else if constexpr (std::is_same_v<T, double>)
        cblas_dgemv(CblasColMajor, cblas_op(op), m, n, alpha, a.data, ld, x, 1, beta, y, 1);
    else if constexpr (std::is_same_v<T, std::complex<float>>)
        cblas_cgemv(CblasColMajor, cblas_op(op), m, n, &alpha, a.data, ld, x, 1, &beta, y, 1);
    else
        cblas_zgemv(CblasColMajor, cblas_op(op), m, n, &alpha, a.data, ld, x, 1, &beta, y, 1);
}

template <class T> void trsv(Uplo uplo, Op op, Diag diag, MatrixView<T const> a, T* x) {
    auto const side = uplo == Uplo::lower ? CblasLower : CblasUpper;
    auto const unit = diag == Diag::unit ? CblasUnit : CblasNonUnit;
    int const n = to_int(a.rows);
    int const ld = to_int(a.ld);
    if constexpr (std::is_same_v<T, float>)
        cblas_strsv(CblasColMajor, side, cblas_op(op), unit, n, a.data, ld, x, 1);
    else if constexpr (std::is_same_v<T, double>)
        cblas_dtrsv(CblasColMajor, side, cblas_op(op), unit, n, a.data, ld, x, 1);
    else if constexpr (std::is_same_v<T, std::complex<float>>)
        cblas_ctrsv(CblasColMajor, side, cblas_op(op), unit, n, a.data, ld, x, 1);
    else
        cblas_ztrsv(CblasColMajor, side, cblas_op(op), unit, n, a.data, ld, x, 1);
}

} // namespace

template <class T>
void multiply(Op op, T alpha, MatrixView<T const> a, MatrixView<T const> x, T beta, MatrixView<T> y) {
    if (y.rows == 0 || y.cols == 0) return;
    if (y.cols == 1 && a.rows > 0 && a.cols > 0)
        gemv(op, alpha, a, x.data, beta, y.data);
    else
        gemm<T>(op, Op::none, alpha, a, x, beta, y);
}

template <class T>
void solve_triangular(Uplo uplo, Op op, Diag diag, MatrixView<T const> a, MatrixView<T> x) {
    if (x.rows == 0 || x.cols == 0) return;
    if (x.cols == 1)
        trsv(uplo, op, diag, a, x.data);
    else
        trsm<T>(Side::left, uplo, op, diag, T(1), a, x);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void multiply<T>(Op, T, MatrixView<T const>, MatrixView<T const>, T, MatrixView<T>);            \
    template void solve_triangular<T>(Uplo, Op, Diag, MatrixView<T const>, MatrixView<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
