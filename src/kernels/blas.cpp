// Thin typed wrappers: the four spellings of each BLAS routine behind one template, sizes checked on the
// way in. Comes in: views. Goes out: a call of CBLAS.
#include "kernels/blas.hpp"

#include <cblas.h>

#include "core/error.hpp"

namespace espalier {

namespace {

template <class T> struct BlasRoutines;
template <> struct BlasRoutines<float> {
    static constexpr auto gemm = &cblas_sgemm;
    static constexpr auto gemv = &cblas_sgemv;
    static constexpr auto syrk = &cblas_ssyrk;
    static constexpr auto trsm = &cblas_strsm;
};
template <> struct BlasRoutines<double> {
    static constexpr auto gemm = &cblas_dgemm;
    static constexpr auto gemv = &cblas_dgemv;
    static constexpr auto syrk = &cblas_dsyrk;
    static constexpr auto trsm = &cblas_dtrsm;
};
template <> struct BlasRoutines<std::complex<float>> {
    static constexpr auto gemm = &cblas_cgemm;
    static constexpr auto gemv = &cblas_cgemv;
    static constexpr auto syrk = &cblas_csyrk;
    static constexpr auto herk = &cblas_cherk;
    static constexpr auto trsm = &cblas_ctrsm;
};
template <> struct BlasRoutines<std::complex<double>> {
    static constexpr auto gemm = &cblas_zgemm;
    static constexpr auto gemv = &cblas_zgemv;
    static constexpr auto syrk = &cblas_zsyrk;
    static constexpr auto herk = &cblas_zherk;
    static constexpr auto trsm = &cblas_ztrsm;
};

// CBLAS takes real factors by value and complex ones by address.
template <class T> auto factor(T const& value) {
    if constexpr (is_complex<T>)
        return static_cast<void const*>(&value);
    else
        return value;
}

// For a real matrix the adjoint is the transpose; some libraries are slower when told the former.
template <class T> CBLAS_TRANSPOSE to_cblas(Op op) {
    if (op == Op::none) return CblasNoTrans;
    return is_complex<T> && op == Op::adjoint ? CblasConjTrans : CblasTrans;
}

int blas_size(Index value) {
    return checked_cast<int>(value, "a BLAS dimension");
}

// BLAS wants a leading dimension of at least 1, also where there is a single column.
template <class T> int leading(MatrixView<T> view) {
    return view.ld < 1 ? 1 : blas_size(view.ld);
}

} // namespace

template <class T>
void gemm(Op op_a, Op op_b, T alpha, MatrixView<T const> a, MatrixView<T const> b, T beta, MatrixView<T> c) {
    if (c.rows == 0 || c.cols == 0) return;
    Index const depth = op_a == Op::none ? a.cols : a.rows;
    if (depth == 0 && beta == T(1)) return;
    BlasRoutines<T>::gemm(CblasColMajor, to_cblas<T>(op_a), to_cblas<T>(op_b), blas_size(c.rows),
                          blas_size(c.cols), blas_size(depth), factor(alpha), a.data, leading(a), b.data,
                          leading(b), factor(beta), c.data, leading(c));
}

template <class T>
void gemv(Op op, T alpha, MatrixView<T const> a, std::span<T const> x, T beta, std::span<T> y) {
    BlasRoutines<T>::gemv(CblasColMajor, to_cblas<T>(op), blas_size(a.rows), blas_size(a.cols), factor(alpha),
                          a.data, leading(a), x.data(), 1, factor(beta), y.data(), 1);
}

template <class T>
void rank_k_update(bool conjugate, Real<T> alpha, MatrixView<T const> a, Real<T> beta, MatrixView<T> c) {
    if (c.cols == 0 || (a.cols == 0 && beta == Real<T>(1))) return;
    int const n = blas_size(c.cols);
    int const k = blas_size(a.cols);
    if constexpr (is_complex<T>)
        if (conjugate) {
            BlasRoutines<T>::herk(CblasColMajor, CblasLower, CblasNoTrans, n, k, alpha, a.data, leading(a),
                                  beta, c.data, leading(c));
            return;
        }
    T const alpha_t = alpha;
    T const beta_t = beta;
    BlasRoutines<T>::syrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, factor(alpha_t), a.data, leading(a),
                          factor(beta_t), c.data, leading(c));
}

template <class T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, MatrixView<T const> a, MatrixView<T> b) {
    if (b.rows == 0 || b.cols == 0) return;
    BlasRoutines<T>::trsm(CblasColMajor, side == Side::left ? CblasLeft : CblasRight,
                          uplo == Uplo::lower ? CblasLower : CblasUpper, to_cblas<T>(op),
                          diag == Diag::unit ? CblasUnit : CblasNonUnit, blas_size(b.rows), blas_size(b.cols),
                          factor(alpha), a.data, leading(a), b.data, leading(b));
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void gemm<T>(Op, Op, T, MatrixView<T const>, MatrixView<T const>, T, MatrixView<T>);            \
    template void gemv<T>(Op, T, MatrixView<T const>, std::span<T const>, T, std::span<T>);                  \
    template void rank_k_update<T>(bool, Real<T>, MatrixView<T const>, Real<T>, MatrixView<T>);              \
    template void trsm<T>(Side, Uplo, Op, Diag, T, MatrixView<T const>, MatrixView<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
