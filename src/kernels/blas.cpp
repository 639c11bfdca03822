// Templates for the CBLAS routines of the four scalar types, with checked sizes.
#include "kernels/blas.hpp"

#include <cblas.h>

#include "core/error.hpp"

namespace espalier {

namespace {

template <class T> struct BlasRoutines;
#define ESPALIER_ROUTINES(T, letter)                                                                         \
    template <> struct BlasRoutines<T> {                                                                     \
        static constexpr auto gemm = &cblas_##letter##gemm;                                                  \
        static constexpr auto gemv = &cblas_##letter##gemv;                                                  \
        static constexpr auto syrk = &cblas_##letter##syrk;                                                  \
        static constexpr auto trsm = &cblas_##letter##trsm;                                                  \
        static constexpr auto trsv = &cblas_##letter##trsv;                                                  \
    };
ESPALIER_ROUTINES(float, s)
ESPALIER_ROUTINES(double, d)
ESPALIER_ROUTINES(std::complex<float>, c)
ESPALIER_ROUTINES(std::complex<double>, z)
#undef ESPALIER_ROUTINES

// CBLAS takes real factors by value and complex ones by address.
template <class T> auto factor(T const& value) {
    if constexpr (is_complex<T>)
        return static_cast<void const*>(&value);
    else
        return value;
}

// The adjoint of a real matrix is passed as its transpose, because some libraries are slower for the adjoint.
template <class T> CBLAS_TRANSPOSE to_cblas(Op op) {
    if (op == Op::none) return CblasNoTrans;
    return is_complex<T> && op == Op::adjoint ? CblasConjTrans : CblasTrans;
}

int blas_size(Index value) {
    return checked_cast<int>(value, "a BLAS dimension");
}

// BLAS requires a leading dimension of at least 1, even for a single column.
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

template <class T> void trsv(Uplo uplo, Op op, Diag diag, MatrixView<T const> a, std::span<T> x) {
    BlasRoutines<T>::trsv(CblasColMajor, uplo == Uplo::lower ? CblasLower : CblasUpper, to_cblas<T>(op),
                          diag == Diag::unit ? CblasUnit : CblasNonUnit, blas_size(a.rows), a.data,
                          leading(a), x.data(), 1);
}

template <class T>
void rank_k_update(bool conjugate, Real<T> alpha, MatrixView<T const> a, Real<T> beta, MatrixView<T> c) {
    if (c.cols == 0 || (a.cols == 0 && beta == Real<T>(1))) return;
    int const n = blas_size(c.cols);
    int const k = blas_size(a.cols);
    if constexpr (is_complex<T>)
        if (conjugate) {
            constexpr auto herk = [] {
                if constexpr (std::is_same_v<Real<T>, float>)
                    return &cblas_cherk;
                else
                    return &cblas_zherk;
            }();
            herk(CblasColMajor, CblasLower, CblasNoTrans, n, k, alpha, a.data, leading(a), beta, c.data,
                 leading(c));
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
    template void trsv<T>(Uplo, Op, Diag, MatrixView<T const>, std::span<T>);                                \
    template void rank_k_update<T>(bool, Real<T>, MatrixView<T const>, Real<T>, MatrixView<T>);              \
    template void trsm<T>(Side, Uplo, Op, Diag, T, MatrixView<T const>, MatrixView<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
