// Column permutations, the triangular solve of LDL, and products and solves with the block-diagonal D.
#include "kernels/panel.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/pivot_block.hpp"
#include "kernels/triangular.hpp"

namespace espalier {

namespace {

// Calls single(k, d) for each 1x1 pivot and pair(k, block) for each 2x2 pivot of D, in order.
template <class T, class Single, class Pair> void for_each_pivot(bool conjugate, MatrixView<T const> diagonal,
                                                                 std::span<T const> off_diagonal,
                                                                 Single const& single, Pair const& pair) {
    for (Index k = 0; k < diagonal.cols; ++k)
        if (off_diagonal[k] == T(0)) {
            single(k, diagonal(k, k));
        } else {
            pair(k, pivot_block(conjugate, diagonal(k, k), off_diagonal[k], diagonal(k + 1, k + 1)));
            ++k;
        }
}

// to(:, k) = from(:, k) factor. The views may be the same.
template <class T> void scale_column(MatrixView<T const> from, MatrixView<T> to, Index k, T factor) {
    for (Index i = 0; i < from.rows; ++i) to(i, k) = times(from(i, k), factor);
}

// to(:, k : k + 2) = from(:, k : k + 2) d. The views may be the same.
template <class T>
void multiply_column_pair(MatrixView<T const> from, MatrixView<T> to, Index k, PivotBlock<T> const& d) {
    for (Index i = 0; i < from.rows; ++i) {
        T const x0 = from(i, k);
        T const x1 = from(i, k + 1);
        to(i, k) = times(x0, d.d00) + times(x1, d.d10);
        to(i, k + 1) = times(x0, d.d01) + times(x1, d.d11);
    }
}

} // namespace

PivotStats& PivotStats::operator+=(PivotStats const& other) {
    replaced += other.replaced;
    negative += other.negative;
    delayed += other.delayed;
    if (zero_column < 0) zero_column = other.zero_column;
    return *this;
}

// Permutes cycle by cycle, in blocks of rows, so that a column is still in cache when it is overwritten.
template <class T> void permute_columns(MatrixView<T> b, std::span<std::int32_t const> perm) {
    Index const n = b.cols;
    std::vector<std::int32_t> starts; // the first column of each cycle longer than 1
    std::vector<bool> seen(n, false);
    for (std::int32_t j = 0; j < n; ++j) {
        if (seen[j] || perm[j] == j) continue;
        starts.push_back(j);
        for (std::int32_t i = j; !seen[i]; i = perm[i]) seen[i] = true;
    }
    constexpr Index block_rows = 512;
    std::array<T, block_rows> saved;
    for (Index top = 0; top < b.rows && !starts.empty(); top += block_rows) {
        Index const rows = std::min(block_rows, b.rows - top);
        auto const column = [&](Index j) { return b.column(j) + top; };
        for (std::int32_t const start : starts) {
            std::copy_n(column(start), rows, saved.data());
            std::int32_t j = start;
            for (; perm[j] != start; j = perm[j]) std::copy_n(column(perm[j]), rows, column(j));
            std::copy_n(saved.data(), rows, column(j));
        }
    }
}

template <class T> void solve_panel_ldl(bool conjugate, MatrixView<T const> diagonal,
                                        std::span<std::int32_t const> perm, std::span<T const> off_diagonal,
                                        MatrixView<T> b) {
    permute_columns(b, perm);
    solve_right<T>(conjugate ? Op::adjoint : Op::transpose, Diag::unit, diagonal, b);
    divide_by_d(conjugate, diagonal, off_diagonal, b);
}

template <class T> void divide_by_d(bool conjugate, MatrixView<T const> diagonal,
                                    std::span<T const> off_diagonal, MatrixView<T> b) {
    for_each_pivot<T>(
        conjugate, diagonal, off_diagonal, [&](Index k, T d) { scale_column<T>(b, b, k, T(1) / d); },
        [&](Index k, PivotBlock<T> const& d) { multiply_column_pair<T>(b, b, k, inverse(conjugate, d)); });
}

template <class T> void multiply_by_d(bool conjugate, MatrixView<T const> diagonal,
                                      std::span<T const> off_diagonal, MatrixView<T const> b,
                                      MatrixView<T> w) {
    for_each_pivot<T>(
        conjugate, diagonal, off_diagonal, [&](Index k, T d) { scale_column<T>(b, w, k, d); },
        [&](Index k, PivotBlock<T> const& d) { multiply_column_pair<T>(b, w, k, d); });
}

template <class T>
void solve_d(bool conjugate, MatrixView<T const> diagonal, std::span<T const> off_diagonal, MatrixView<T> x) {
    for_each_pivot<T>(
        conjugate, diagonal, off_diagonal,
        [&](Index k, T d) {
            for (Index j = 0; j < x.cols; ++j) x(k, j) /= d;
        },
        [&](Index k, PivotBlock<T> const& d) {
            auto const inv = inverse(conjugate, d);
            for (Index j = 0; j < x.cols; ++j) {
                T const x0 = x(k, j);
                T const x1 = x(k + 1, j);
                x(k, j) = times(inv.d00, x0) + times(inv.d01, x1);
                x(k + 1, j) = times(inv.d10, x0) + times(inv.d11, x1);
            }
        });
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void permute_columns<T>(MatrixView<T>, std::span<std::int32_t const>);                          \
    template void solve_panel_ldl<T>(bool, MatrixView<T const>, std::span<std::int32_t const>,               \
                                     std::span<T const>, MatrixView<T>);                                     \
    template void multiply_by_d<T>(bool, MatrixView<T const>, std::span<T const>, MatrixView<T const>,       \
                                   MatrixView<T>);                                                           \
    template void divide_by_d<T>(bool, MatrixView<T const>, std::span<T const>, MatrixView<T>);              \
    template void solve_d<T>(bool, MatrixView<T const>, std::span<T const>, MatrixView<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
