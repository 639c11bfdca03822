// Selects register tiles or BLAS, and compiles the tiles for each instruction set.
#include "kernels/product.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "kernels/product_tile.hpp"

namespace espalier {

namespace {

template <class T, class Stride> struct TiledProduct {
    template <int bytes>
    ESPALIER_INLINE static void run(vector::Operands<Real<T>, Stride> const& op, bool conjugate_b) {
        constexpr int columns = bytes == 64 ? 8 : vector::is_fallback<bytes> ? 2 : 4;
        vector::product<T, vector::lanes<T, bytes>, is_complex<T> ? columns / 2 : columns>(op, conjugate_b);
    }
};

// Blocks of A have at most 256 KiB, so they stay in the second-level cache for all columns of C.
template <class T> constexpr Index block_rows = is_complex<T> ? 128 : 256;
constexpr Index block_depth = 128;

// Columns at distances of a multiple of 1 KiB map to few sets of the first-level cache and evict each other. Tiles
// then read a copy.
template <class T> bool collides(MatrixView<T const> a) {
    return a.ld * static_cast<Index>(sizeof(T)) % 1024 == 0 && a.cols > 32;
}

// The copy of a block whose columns collide. At most most_rows x block_depth entries.
template <class T> class SpacedCopy {
  public:
    static constexpr Index most_rows = 128;

    MatrixView<T const> of(MatrixView<T const> block) {
        T* const entries = reinterpret_cast<T*>(bytes_);
        for (Index j = 0; j < block.cols; ++j) std::copy_n(block.column(j), block.rows, entries + j * ld);
        return {entries, block.rows, block.cols, ld};
    }

  private:
    static constexpr Index ld = most_rows + 64 / static_cast<Index>(sizeof(T));
    alignas(64) std::byte bytes_[ld * block_depth * sizeof(T)]; // not cleared
};

template <class T> bool tiles_are_faster(MatrixView<T const> a, MatrixView<T> c) {
    double const volume =
        static_cast<double>(c.rows) * static_cast<double>(c.cols) * static_cast<double>(a.cols);
    switch (widest_instruction_set()) {
    case InstructionSet::avx512:
        return true;
    case InstructionSet::avx2:
        return volume <= 64 * 64 * 64 || blas_is_narrow();
    case InstructionSet::baseline:
        return volume <= 16 * 16 * 16;
    }
    return false;
}

template <class T> void tiled_product(InstructionSet instructions, vector::Into into, Op op_b,
                                      MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c) {
    auto const run = [&](Index depth_stride, auto column_stride) {
        constexpr Index parts = is_complex<T> ? 2 : 1;
        using R = Real<T>;
        // std::complex<R> is laid out as R[2], by the standard.
        using Stride = decltype(column_stride);
        vector::Operands<R, Stride> const op{.rows = parts * c.rows,
                                             .columns = c.cols,
                                             .depth = a.cols,
                                             .a = reinterpret_cast<R const*>(a.data),
                                             .lda = parts * a.ld,
                                             .b = reinterpret_cast<R const*>(b.data),
                                             .depth_stride = depth_stride,
                                             .column_stride = column_stride,
                                             .c = reinterpret_cast<R*>(c.data),
                                             .ldc = parts * c.ld,
                                             .into = into};
        vector::run_with<TiledProduct<T, Stride>>(instructions, op, op_b == Op::adjoint);
    };
    if (op_b == Op::none)
        run(1, b.ld);
    else
        run(b.ld, vector::UnitStride());
}

// The part of B in op(B) with these rows and columns.
template <class T>
MatrixView<T const> part_of(Op op_b, MatrixView<T const> b, Index row, Index column, Index rows, Index columns) {
    return op_b == Op::none ? b.block(row, column, rows, columns) : b.block(column, row, columns, rows);
}

// C -= A op(B) for operands with columns that collide.
template <class T>
void spaced_product(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c) {
    constexpr Index most = SpacedCopy<T>::most_rows;
    auto const instructions = widest_instruction_set();
    bool const copies_a = collides(a), copies_b = collides(b);
    struct Copies {
        SpacedCopy<T> a, b;
    };
    // Up to 540 KB, more than some threads of programs have on their stacks.
    thread_local auto const copies = std::make_unique_for_overwrite<Copies>();
    auto& [copy_a, copy_b] = *copies;
    for (Index p = 0; p < a.cols; p += block_depth) {
        Index const depth = std::min(block_depth, a.cols - p);
        for (Index j = 0; j < c.cols; j += most) {
            Index const columns = std::min(most, c.cols - j);
            auto b_part = part_of(op_b, b, p, j, depth, columns);
            if (copies_b) b_part = copy_b.of(b_part);
            for (Index i = 0; i < c.rows; i += most) {
                Index const rows = std::min(most, c.rows - i);
                auto a_part = a.block(i, p, rows, depth);
                if (copies_a) a_part = copy_a.of(a_part);
                tiled_product<T>(instructions, vector::Into::subtract, op_b, a_part, b_part,
                                 c.block(i, j, rows, columns));
            }
        }
    }
}

// Multiplies blocks of A with all columns. Only a subtraction can be split along the depth.
template <class T> void blocked_product(vector::Into into, Op op_b, MatrixView<T const> a,
                                        MatrixView<T const> b, MatrixView<T> c) {
    auto const instructions = widest_instruction_set();
    Index const step = into == vector::Into::subtract ? block_depth : a.cols;
    for (Index p = 0; p < a.cols; p += step) {
        Index const depth = std::min(step, a.cols - p);
        auto const b_part = part_of(op_b, b, p, 0, depth, c.cols);
        for (Index i = 0; i < c.rows; i += block_rows<T>) {
            Index const rows = std::min(block_rows<T>, c.rows - i);
            tiled_product<T>(instructions, into, op_b, a.block(i, p, rows, depth), b_part,
                             c.block(i, 0, rows, c.cols));
        }
    }
}

} // namespace

template <class T> void subtract_small_product(InstructionSet instructions, Op op_b, MatrixView<T const> a,
                                               MatrixView<T const> b, MatrixView<T> c) {
    if (c.rows > 0) tiled_product(instructions, vector::Into::subtract, op_b, a, b, c);
}

template <class T>
void subtract_product(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c) {
    if (c.rows == 0 || c.cols == 0 || a.cols == 0) return;
    if (!tiles_are_faster(a, c))
        gemm<T>(Op::none, op_b, T(-1), a, b, T(1), c);
    else if (collides(a) || collides(b))
        spaced_product(op_b, a, b, c);
    else
        blocked_product(vector::Into::subtract, op_b, a, b, c);
}

template <class T>
void assign_product(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c) {
    if (c.rows == 0 || c.cols == 0) return;
    bool const uses_tiles = a.cols > 0 && tiles_are_faster(a, c) && !collides(a) && !collides(b);
    if (uses_tiles)
        blocked_product(vector::Into::assign, op_b, a, b, c);
    else
        gemm<T>(Op::none, op_b, T(1), a, b, T(0), c);
}

template <class T>
void subtract_product_lower(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c) {
    constexpr Index strip = 32;
    Index const depth = a.cols;
    for (Index j = 0; j < c.cols; j += strip) {
        Index const width = std::min(strip, c.cols - j);
        auto const columns = op_b == Op::none ? b.block(0, j, depth, width) : b.block(j, 0, width, depth);
        subtract_product<T>(op_b, a.block(j, 0, c.rows - j, depth), columns,
                            c.block(j, j, c.rows - j, width));
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void subtract_product<T>(Op, MatrixView<T const>, MatrixView<T const>, MatrixView<T>);          \
    template void assign_product<T>(Op, MatrixView<T const>, MatrixView<T const>, MatrixView<T>);            \
    template void subtract_product_lower<T>(Op, MatrixView<T const>, MatrixView<T const>, MatrixView<T>);    \
    template void subtract_small_product<T>(InstructionSet, Op, MatrixView<T const>, MatrixView<T const>,    \
                                            MatrixView<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
