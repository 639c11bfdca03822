// The recursion of solve_right(), with tiles compiled for each instruction set.
//
//     [ B1 B2 ] [ E11 E12 ]^-1:   B1 := B1 E11^-1;   B2 := (B2 - B1 E12) E22^-1
//               [     E22 ]
#include "kernels/triangular.hpp"

#include <array>
#include <cstddef>

#include "kernels/triangular_tile.hpp"

namespace espalier {

namespace {

// The most columns of a triangle without recursion. The rows of X of a tile then fit the first-level cache.
constexpr Index most_columns = 128;

template <class T, class Stride> struct TileSolve {
    template <int bytes>
    ESPALIER_INLINE static void run(vector::Triangle<Real<T>, Stride> const& op, bool conjugate) {
        vector::solve<T, vector::lanes<T, bytes>, vector::vectors_of_tile<bytes>,
                      vector::columns_of_tile<T, bytes>>(op, conjugate);
    }
};

template <class T> struct RightSolve {
    InstructionSet instructions;
    Op op;
    Diag diag;

    void run(MatrixView<T const> t, MatrixView<T> b) const {
        Index const n = t.cols;
        if (n <= most_columns) return solve_tiles(t, b);
        Index const n1 = (n / 2 + vector::strip_columns - 1) / vector::strip_columns * vector::strip_columns;
        Index const n2 = n - n1;
        auto const b1 = b.block(0, 0, b.rows, n1);
        auto const b2 = b.block(0, n1, b.rows, n2);
        run(t.block(0, 0, n1, n1), b1);
        subtract_product<T>(op, b1, op == Op::none ? t.block(0, n1, n1, n2) : t.block(n1, 0, n2, n1), b2);
        run(t.block(n1, n1, n2, n2), b2);
    }

    void solve_tiles(MatrixView<T const> t, MatrixView<T> b) const {
        if (op == Op::none)
            run_tiles(1, t.ld, t, b);
        else
            run_tiles(t.ld, vector::UnitStride(), t, b);
    }

    template <class Stride>
    void run_tiles(Index depth_stride, Stride column_stride, MatrixView<T const> t, MatrixView<T> b) const {
        constexpr Index parts = is_complex<T> ? 2 : 1;
        using R = Real<T>;
        std::array<T, most_columns> inverse; // not cleared, like the next one
        if (diag == Diag::non_unit)
            for (Index j = 0; j < t.cols; ++j) inverse[j] = T(1) / conj_if(op == Op::adjoint, t(j, j));
        alignas(64) std::array<std::byte, vector::most_vectors * 64 * most_columns> solved;
        vector::Triangle<R, Stride> const triangle{
            .rows = parts * b.rows,
            .columns = b.cols,
            .e = reinterpret_cast<R const*>(t.data),
            .depth_stride = depth_stride,
            .column_stride = column_stride,
            .inverse_diagonal = diag == Diag::unit ? nullptr : reinterpret_cast<R const*>(inverse.data()),
            .b = reinterpret_cast<R*>(b.data),
            .ldb = parts * b.ld,
            .solved = reinterpret_cast<R*>(solved.data())};
        vector::run_with<TileSolve<T, Stride>>(instructions, triangle, op == Op::adjoint);
    }
};

} // namespace

template <class T>
void solve_right(InstructionSet instructions, Op op, Diag diag, MatrixView<T const> t, MatrixView<T> b) {
    if (b.rows == 0 || b.cols == 0) return;
    RightSolve<T>{instructions, op, diag}.run(t, b);
}

template <class T> void solve_right(Op op, Diag diag, MatrixView<T const> t, MatrixView<T> b) {
    solve_right(widest_instruction_set(), op, diag, t, b);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void solve_right<T>(InstructionSet, Op, Diag, MatrixView<T const>, MatrixView<T>);              \
    template void solve_right<T>(Op, Diag, MatrixView<T const>, MatrixView<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
