// Cholesky factorization of a diagonal block: A = L L^H, or A = L L^T without conjugation.
//
// The recursion splits the block in halves, so nearly all the work is in solves and updates of growing size
// (Gustavson 1997):
//
//     [ A11      ]      A11 = L11 L11^H;   L21 = A21 L11^-H;   A22 - L21 L21^H = L22 L22^H
//     [ A21  A22 ]
#include <array>

#include "kernels/panel.hpp"
#include "kernels/pivot_block.hpp"
#include "kernels/triangular.hpp"

namespace espalier {

namespace {

constexpr Index leaf_columns = 8;

// The lower triangle of A -= L L^H. A buffer for diagonal blocks keeps the upper triangle of A.
template <class T> void update_lower(bool conjugate, MatrixView<T> l, MatrixView<T> a) {
    constexpr Index strip = 32;
    Op const op = conjugate ? Op::adjoint : Op::transpose;
    for (Index j = 0; j < a.cols; j += strip) {
        Index const width = std::min(strip, a.cols - j);
        Index const below = a.cols - j - width;
        auto const rows = l.block(j, 0, width, l.cols);
        std::array<T, strip * strip> square;
        MatrixView<T> const product{square.data(), width, width, width};
        assign_product<T>(op, rows, rows, product);
        for (Index k = 0; k < width; ++k)
            for (Index i = k; i < width; ++i) a(j + i, j + k) -= product(i, k);
        subtract_product<T>(op, l.block(j + width, 0, below, l.cols), rows,
                            a.block(j + width, j, below, width));
    }
}

// The root of a pivot, or 0 if the pivot is invalid. A Hermitian positive definite matrix has positive real
// pivots; without conjugation the principal root of any nonzero pivot is valid.
template <class T> T root_of(bool conjugate, T pivot) {
    if (!is_finite(pivot)) return T(0);
    if (conjugate || !is_complex<T>) return real_part(pivot) > 0 ? T(std::sqrt(real_part(pivot))) : T(0);
    return std::sqrt(pivot);
}

// Right-looking factorization of a few columns.
template <class T> Index factor_leaf(bool conjugate, MatrixView<T> a) {
    Index const n = a.cols;
    for (Index j = 0; j < n; ++j) {
        T const root = root_of(conjugate, a(j, j));
        if (root == T(0)) return j;
        a(j, j) = root;
        T const inverse = T(1) / root;
        for (Index i = j + 1; i < n; ++i) a(i, j) = times(a(i, j), inverse);
        for (Index k = j + 1; k < n; ++k) {
            T const factor = conj_if(conjugate, a(k, j));
            for (Index i = k; i < n; ++i) a(i, k) -= times(a(i, j), factor);
        }
    }
    return -1;
}

} // namespace

template <class T> Index factor_cholesky(bool conjugate, MatrixView<T> a) {
    Index const n = a.cols;
    if (n <= leaf_columns) return factor_leaf(conjugate, a);

    Index const n1 = (n / 2 + leaf_columns - 1) / leaf_columns * leaf_columns;
    Index const n2 = n - n1;
    auto const a11 = a.block(0, 0, n1, n1);
    auto const a21 = a.block(n1, 0, n2, n1);
    auto const a22 = a.block(n1, n1, n2, n2);
    if (Index const failed = factor_cholesky(conjugate, a11); failed >= 0) return failed;
    solve_right<T>(conjugate ? Op::adjoint : Op::transpose, Diag::non_unit, a11, a21);
    update_lower(conjugate, a21, a22);
    Index const failed = factor_cholesky(conjugate, a22);
    return failed >= 0 ? n1 + failed : -1;
}

#define ESPALIER_INSTANTIATE(T) template Index factor_cholesky<T>(bool, MatrixView<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
