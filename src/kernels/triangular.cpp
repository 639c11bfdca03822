// The recursion of solve_right(), with tiles compiled for each instruction set.
//
//     [ B1 B2 ] [ E11 E12 ]^-1:   B1 := B1 E11^-1;   B2 := (B2 - B1 E12) E22^-1
//               [     E22 ]
#include "kernels/triangular.hpp"

#include <array>

#include "kernels/triangular_tile.hpp"

namespace espalier {

namespace {

constexpr Index tile_columns = 8;

template <class T> struct TileSolve {
    template <int bytes>
    ESPALIER_INLINE static void run(vector::Triangle<Real<T>> const& op, Index columns, bool conjugate) {
        constexpr int width = vector::lanes<T, bytes>;
        if (columns == 8)
            vector::solve_columns<T, width, 8>(op, conjugate);
        else if (columns == 4)
            vector::solve_columns<T, width, 4>(op, conjugate);
        else if (columns == 2)
            vector::solve_columns<T, width, 2>(op, conjugate);
        else
            vector::solve_columns<T, width, 1>(op, conjugate);
    }
};

template <class T> struct RightSolve {
    InstructionSet instructions;
    Op op;
    Diag diag;

    void run(MatrixView<T const> t, MatrixView<T> b) const {
        Index const n = t.cols;
        if (n <= tile_columns && (n & (n - 1)) == 0) return solve_tile_columns(t, b);
        Index n1 = tile_columns / 2;
        if (n > tile_columns)
            n1 = (n / 2 + tile_columns - 1) / tile_columns * tile_columns;
        else if (n < n1)
            n1 = 2;
        Index const n2 = n - n1;
        auto const b1 = b.block(0, 0, b.rows, n1);
        auto const b2 = b.block(0, n1, b.rows, n2);
        run(t.block(0, 0, n1, n1), b1);
        subtract_product<T>(op, b1, op == Op::none ? t.block(0, n1, n1, n2) : t.block(n1, 0, n2, n1), b2);
        run(t.block(n1, n1, n2, n2), b2);
    }

    void solve_tile_columns(MatrixView<T const> t, MatrixView<T> b) const {
        std::array<T, tile_columns> inverse;
        if (diag == Diag::non_unit)
            for (Index j = 0; j < t.cols; ++j) inverse[j] = T(1) / conj_if(op == Op::adjoint, t(j, j));
        constexpr Index parts = is_complex<T> ? 2 : 1;
        using R = Real<T>;
        vector::Triangle<R> const triangle{
            .e = reinterpret_cast<R const*>(t.data),
            .row_stride = op == Op::none ? 1 : t.ld,
            .column_stride = op == Op::none ? t.ld : 1,
            .inverse_diagonal = diag == Diag::unit ? nullptr : reinterpret_cast<R const*>(inverse.data()),
            .b = reinterpret_cast<R*>(b.data),
            .rows = parts * b.rows,
            .ldb = parts * b.ld};
        vector::run_with<TileSolve<T>>(instructions, triangle, t.cols, op == Op::adjoint);
    }
};

} // namespace

template <class T>
void solve_right(InstructionSet instructions, Op op, Diag diag, MatrixView<T const> t, MatrixView<T> b) {
    if (b.rows == 0 || b.cols == 0) return;
    constexpr Index block_rows = is_complex<T> ? 128 : 256; // keeps the block of B in cache between tiles
    RightSolve<T> const solve{instructions, op, diag};
    for (Index i = 0; i < b.rows; i += block_rows)
        solve.run(t, b.block(i, 0, std::min(block_rows, b.rows - i), b.cols));
}

template <class T> void solve_right(Op op, Diag diag, MatrixView<T const> t, MatrixView<T> b) {
    solve_right(widest_instruction_set(), op, diag, t, b);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void solve_right<T>(InstructionSet, Op, Diag, MatrixView<T const>, MatrixView<T>);              \
    template void solve_right<T>(Op, Diag, MatrixView<T const>, MatrixView<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
