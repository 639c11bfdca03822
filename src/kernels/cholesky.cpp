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

// A part of A -= L L^H. A buffer for squares on the diagonal keeps the upper triangle of A.
template <class T> void update_part(bool conjugate, MatrixView<T> l, MatrixView<T> a, LowerPart part) {
    Op const op = conjugate ? Op::adjoint : Op::transpose;
    auto const right = l.block(part.col, 0, part.cols, l.cols);
    Index top = part.row;
    if (part.row == part.col) {
        std::array<T, PartSizes::most_columns * PartSizes::most_columns> square;
        MatrixView<T> const product{square.data(), part.cols, part.cols, part.cols};
        assign_product<T>(op, right, right, product);
        for (Index k = 0; k < part.cols; ++k)
            for (Index i = k; i < part.cols; ++i) a(top + i, part.col + k) -= product(i, k);
        top += part.cols;
    }
    Index const rows = part.row + part.rows - top;
    subtract_product<T>(op, l.block(top, 0, rows, l.cols), right, a.block(top, part.col, rows, part.cols));
}

// The lower triangle of A -= L L^H.
template <class T>
void update_lower(bool conjugate, MatrixView<T> l, MatrixView<T> a, BlockDivision const* division) {
    if (division)
        return division->for_each_lower_part(
            a.cols, [&](LowerPart const& part) { update_part(conjugate, l, a, part); });
    constexpr Index strip = PartSizes::most_columns;
    for (Index j = 0; j < a.cols; j += strip)
        update_part(conjugate, l, a, {j, a.cols - j, j, std::min(strip, a.cols - j)});
}

// A21 L11^-H
template <class T>
void solve_lower(bool conjugate, MatrixView<T> a11, MatrixView<T> a21, BlockDivision const* division) {
    auto const solve_rows = [&](Index first, Index count) {
        solve_right<T>(conjugate ? Op::adjoint : Op::transpose, Diag::non_unit, a11,
                       a21.block(first, 0, count, a21.cols));
    };
    if (division)
        division->for_each_range(a21.rows, solve_rows);
    else
        solve_rows(0, a21.rows);
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

template <class T> Index factor_cholesky(bool conjugate, MatrixView<T> a, BlockDivision const* division) {
    Index const n = a.cols;
    if (division && !division->sizes.divide(n)) division = nullptr;
    if (n <= leaf_columns) return factor_leaf(conjugate, a);

    Index const n1 = (n / 2 + leaf_columns - 1) / leaf_columns * leaf_columns;
    Index const n2 = n - n1;
    auto const a11 = a.block(0, 0, n1, n1);
    auto const a21 = a.block(n1, 0, n2, n1);
    auto const a22 = a.block(n1, n1, n2, n2);
    if (Index const failed = factor_cholesky(conjugate, a11, division); failed >= 0) return failed;
    solve_lower(conjugate, a11, a21, division);
    update_lower(conjugate, a21, a22, division);
    Index const failed = factor_cholesky(conjugate, a22, division);
    return failed >= 0 ? n1 + failed : -1;
}

#define ESPALIER_INSTANTIATE(T) template Index factor_cholesky<T>(bool, MatrixView<T>, BlockDivision const*);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
