#include "kernels/level2.hpp"

#include <algorithm>
#include <array>

#include "kernels/matrix_vector.hpp"
#include "kernels/panel.hpp"
#include "kernels/product.hpp"
#include "kernels/triangular.hpp"
#include "kernels/vector.hpp"

namespace espalier {

namespace {

// A matrix is read once from memory. Register tiles read it across its columns, which hardware does not
// prefetch, so a part that fits in the second-level cache is first fetched column by column.
template <class T> Index rows_in_cache(MatrixView<T const> a) {
    constexpr Index cache = 128 * 1024 / sizeof(T);
    return std::max<Index>(cache / std::max<Index>(1, a.cols) / 16 * 16, 16);
}
template <class T> void fetch(MatrixView<T const> a) {
    constexpr Index line = 64 / sizeof(T);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; i += line) __builtin_prefetch(a.column(j) + i, 0, 2);
}

// to += from or to -= from, on `count` reals.
template <class R, bool subtracts> struct AddReals {
    template <int bytes> ESPALIER_INLINE static void run(R const* from, R* to, Index count) {
        constexpr int width = vector::lanes<R, bytes>;
        Index i = 0;
        for (; i + width <= count; i += width) {
            vector::VectorOf<R, width> sum, term;
            vector::load(sum, to + i);
            vector::load(term, from + i);
            sum = subtracts ? sum - term : sum + term;
            vector::store(sum, to + i);
        }
        for (; i < count; ++i) to[i] = subtracts ? to[i] - from[i] : to[i] + from[i];
    }
};
template <class T, bool subtracts> void add_or_subtract(T const* from, T* to, Index count) {
    using R = Real<T>;
    constexpr Index parts = is_complex<T> ? 2 : 1;
    vector::run_with<AddReals<R, subtracts>>(widest_instruction_set(), reinterpret_cast<R const*>(from),
                                             reinterpret_cast<R*>(to), parts * count);
}

constexpr Index leaf_width = 8;

// Z := Z E^-1 for E = op(A) lower triangular (op is Op::none or Op::transpose) of at most leaf_width columns.
// With the order of all columns, and of the rows of E, reversed, this is Z' := Z' E'^-1 with E' upper
// triangular.
template <class T> void solve_lower_leaf(Op op, Diag diag, MatrixView<T const> a, MatrixView<T> z) {
    Index const n = a.cols;
    std::array<T, leaf_width * leaf_width> reversed;
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i <= j; ++i)
            reversed[i + j * n] = op == Op::none ? a(n - 1 - i, n - 1 - j) : a(n - 1 - j, n - 1 - i);
    solve_right<T>(Op::none, diag, {reversed.data(), n, n, n}, {z.column(n - 1), z.rows, n, -z.ld});
}

//     [ Z1 Z2 ] [ E11     ]^-1:   Z2 := Z2 E22^-1;   Z1 := (Z1 - Z2 E21) E11^-1
//               [ E21 E22 ]
template <class T> void solve_lower(Op op, Diag diag, MatrixView<T const> a, MatrixView<T> z) {
    Index const n = a.cols;
    if (n <= leaf_width) return solve_lower_leaf(op, diag, a, z);
    Index const n1 = (n / 2 + leaf_width - 1) / leaf_width * leaf_width;
    Index const n2 = n - n1;
    auto const z1 = z.block(0, 0, z.rows, n1);
    auto const z2 = z.block(0, n1, z.rows, n2);
    solve_lower(op, diag, a.block(n1, n1, n2, n2), z2);
    subtract_product<T>(op, z2, op == Op::none ? a.block(n1, 0, n2, n1) : a.block(0, n1, n1, n2), z1);
    solve_lower(op, diag, a.block(0, 0, n1, n1), z1);
}

} // namespace

template <class T> void multiply(MatrixView<T const> a, RowBlock<T const> x, RowBlock<T> y) {
    if (y.vectors() == 0 || y.length() == 0) return;
    if (y.vectors() == 1) {
        std::ranges::fill(y.only(), T(0));
        return add_product_with_vector<T>(a, x.only(), y.only());
    }
    Index const step = rows_in_cache(a);
    for (Index i = 0; i < a.rows; i += step) {
        auto const part = a.block(i, 0, std::min(step, a.rows - i), a.cols);
        fetch(part);
        assign_product<T>(x.conjugated ? Op::adjoint : Op::transpose, x.z, part,
                          y.z.block(0, i, y.vectors(), part.rows));
    }
}

template <class T> void subtract_multiply(Op op, MatrixView<T const> a, RowBlock<T const> y, RowBlock<T> x) {
    if (x.vectors() == 0 || x.length() == 0 || y.length() == 0) return;
    if (x.vectors() == 1) return subtract_product_with_vector<T>(op, a, y.only(), x.only());
    Index const step = rows_in_cache(a);
    for (Index i = 0; i < a.rows; i += step) {
        auto const part = a.block(i, 0, std::min(step, a.rows - i), a.cols);
        fetch(part);
        subtract_product<T>(Op::none, y.z.block(0, i, y.vectors(), part.rows), part, x.z);
    }
}

template <class T> void solve_triangular(Uplo uplo, Op op, Diag diag, MatrixView<T const> a, RowBlock<T> x) {
    if (x.vectors() == 0 || x.length() == 0) return;
    if (x.vectors() == 1) return solve_with_vector<T>(uplo, op, diag, a, x.only());
    // X := A^-1 X is Z := Z A^-T or Z := Z A^-H; X := A^-T X and X := A^-H X are Z := Z A^-1.
    Op const on_rows = op != Op::none ? Op::none : x.conjugated ? Op::adjoint : Op::transpose;
    if ((uplo == Uplo::upper) == (on_rows == Op::none))
        solve_right<T>(on_rows, diag, a, x.z);
    else
        solve_lower<T>(on_rows, diag, a, x.z);
}

template <class T>
void solve_d(bool conjugate, MatrixView<T const> diagonal, std::span<T const> off_diagonal, RowBlock<T> x) {
    if (x.vectors() == 1)
        return solve_d<T>(conjugate, diagonal, off_diagonal,
                          MatrixView<T>{x.z.data, x.length(), 1, x.length()});
    divide_by_d(conjugate, diagonal, off_diagonal, x.z);
}

template <class T> void add_entries(T const* from, T* to, Index count) {
    add_or_subtract<T, false>(from, to, count);
}
template <class T> void subtract_entries(T const* from, T* to, Index count) {
    add_or_subtract<T, true>(from, to, count);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void multiply<T>(MatrixView<T const>, RowBlock<T const>, RowBlock<T>);                          \
    template void subtract_multiply<T>(Op, MatrixView<T const>, RowBlock<T const>, RowBlock<T>);             \
    template void solve_triangular<T>(Uplo, Op, Diag, MatrixView<T const>, RowBlock<T>);                     \
    template void solve_d<T>(bool, MatrixView<T const>, std::span<T const>, RowBlock<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
ESPALIER_INSTANTIATE_FUNCTION(add_entries)
ESPALIER_INSTANTIATE_FUNCTION(subtract_entries)

} // namespace espalier
