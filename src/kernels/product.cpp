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
        vector::product<T, vector::lanes<T, bytes>, vector::vectors_of_tile<bytes>,
                        vector::columns_of_tile<T, bytes>>(op, conjugate_b);
    }
};

// A subtraction is divided along the depth into equal parts of at most this depth. With smaller parts C would
// be read and written more often. Assignments are not divided. They use copies up to this depth.
constexpr Index most_depth = 256;

// Copies of operands. Columns of A at distances of a multiple of 1 KiB map to few sets of the first-level
// cache and evict each other, and so do rows of B^T. Other operands are copied if they are read often enough.
template <class T> bool collides(MatrixView<T const> a) {
    return a.ld * static_cast<Index>(sizeof(T)) % 1024 == 0 && a.cols > 32;
}
template <class T> bool copies_a(MatrixView<T const> a, Index columns) {
    return columns >= 32 || collides(a);
}
template <class T> bool copies_b(Op op_b, MatrixView<T const> b, Index rows) {
    return op_b != Op::none && (rows >= 96 || collides(b));
}

// Memory for copies, which stay in the second-level cache.
template <class T> class Copies {
  public:
    /// The number of columns of C for which B is copied at once.
    static Index most_columns(Index depth) {
        return bytes_of_b / (strip_stride(depth) * Index{sizeof(T)}) / vector::strip_columns *
               vector::strip_columns;
    }
    /// The number of rows of A that are copied at once, in reals.
    static Index rows_at_once(Index depth) {
        return bytes_of_a / (depth * Index{sizeof(Real<T>)} + most_padding_of_a_row);
    }
    [[nodiscard]] Real<T>* for_a() { return reinterpret_cast<Real<T>*>(a_); }

    /// Distance of the strips, for one of their columns. Strips at multiples of 4 KiB would map to the same
    /// lines of the first-level cache.
    static Index strip_stride(Index depth) { return depth + 1; }
    /// The rows of B^T, row p of strip s of columns at (s * strip_stride(depth) + p) * strip_columns.
    T const* strips_of(MatrixView<T const> b) {
        constexpr Index strip = vector::strip_columns;
        T* const entries = reinterpret_cast<T*>(b_);
        Index const whole = b.rows / strip * strip, stride = strip_stride(b.cols);
        for (Index p = 0; p < b.cols; ++p) {
            T const* const from = b.column(p);
            T* const to = entries + p * strip;
            for (Index j = 0; j < whole; j += strip) std::copy_n(from + j, strip, to + j * stride);
            std::copy_n(from + whole, b.rows - whole, to + whole * stride);
        }
        return entries;
    }

  private:
    static constexpr Index bytes_of_a = 192 * 1024, bytes_of_b = 512 * 1024;
    static constexpr Index most_padding_of_a_row = 16; // a tile has at least two vectors of two rows
    static_assert(bytes_of_a / (most_depth * 8 + most_padding_of_a_row) >= 2 * vector::most_vectors * 8,
                  "a block of rows has at least two tiles");
    alignas(64) std::byte a_[bytes_of_a + 64]; // not cleared
    alignas(64) std::byte b_[bytes_of_b];
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

// The product without division. B is copied if `copies` is given and it is transposed, A if copy_a is given.
template <class T> void tiled_product(InstructionSet instructions, vector::Into into, Op op_b,
                                      MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c,
                                      Copies<T>* copies, Real<T>* copy_a) {
    T const* const strips = copies ? copies->strips_of(b) : nullptr;
    auto const run = [&](Index depth_stride, auto column_stride, Index strip_stride) {
        constexpr Index parts = is_complex<T> ? 2 : 1;
        using R = Real<T>;
        // std::complex<R> is laid out as R[2], by the standard.
        using Stride = decltype(column_stride);
        vector::Operands<R, Stride> const op{.rows = parts * c.rows,
                                             .columns = c.cols,
                                             .depth = a.cols,
                                             .a = reinterpret_cast<R const*>(a.data),
                                             .lda = parts * a.ld,
                                             .b = reinterpret_cast<R const*>(strips ? strips : b.data),
                                             .depth_stride = depth_stride,
                                             .column_stride = column_stride,
                                             .strip_stride = strip_stride,
                                             .c = reinterpret_cast<R*>(c.data),
                                             .ldc = parts * c.ld,
                                             .into = into,
                                             .rows_at_once = Copies<T>::rows_at_once(a.cols),
                                             .copy = copy_a};
        vector::run_with<TiledProduct<T, Stride>>(instructions, op, op_b == Op::adjoint);
    };
    if (op_b == Op::none)
        run(1, b.ld, b.ld);
    else if (strips)
        run(vector::strip_columns, vector::UnitStride(), Copies<T>::strip_stride(a.cols));
    else
        run(b.ld, vector::UnitStride(), 1);
}

// The part of B in op(B) with these rows and columns.
template <class T> MatrixView<T const> part_of(Op op_b, MatrixView<T const> b, Index row, Index column,
                                               Index rows, Index columns) {
    return op_b == Op::none ? b.block(row, column, rows, columns) : b.block(column, row, columns, rows);
}

// Divides the product, and copies operands where it pays. Only a subtraction can be divided along the depth.
template <class T> void divided_product(vector::Into into, Op op_b, MatrixView<T const> a,
                                        MatrixView<T const> b, MatrixView<T> c) {
    auto const instructions = widest_instruction_set();
    Index const parts = into == vector::Into::subtract ? (a.cols + most_depth - 1) / most_depth : 1;
    Index const step = (a.cols + parts - 1) / parts;
    bool const copy_a = step <= most_depth && copies_a(a, c.cols);
    bool const copy_b = step <= most_depth && copies_b(op_b, b, c.rows);
    Copies<T>* copies = nullptr;
    if (copy_a || copy_b) {
        // 704 KiB, more than some threads of programs have on their stacks.
        thread_local auto const memory = std::make_unique_for_overwrite<Copies<T>>();
        copies = memory.get();
    }
    Index const strips = copy_b ? Copies<T>::most_columns(step) : c.cols;
    for (Index p = 0; p < a.cols; p += step) {
        Index const depth = std::min(step, a.cols - p);
        for (Index j = 0; j < c.cols; j += strips) {
            Index const columns = std::min(strips, c.cols - j);
            tiled_product<T>(instructions, into, op_b, a.block(0, p, a.rows, depth),
                             part_of(op_b, b, p, j, depth, columns), c.block(0, j, c.rows, columns),
                             copy_b ? copies : nullptr, copy_a ? copies->for_a() : nullptr);
        }
    }
}

} // namespace

template <class T> void subtract_small_product(InstructionSet instructions, Op op_b, MatrixView<T const> a,
                                               MatrixView<T const> b, MatrixView<T> c) {
    if (c.rows > 0) tiled_product<T>(instructions, vector::Into::subtract, op_b, a, b, c, nullptr, nullptr);
}

template <class T>
void subtract_product(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c) {
    if (c.rows == 0 || c.cols == 0 || a.cols == 0) return;
    if (tiles_are_faster(a, c))
        divided_product(vector::Into::subtract, op_b, a, b, c);
    else
        gemm<T>(Op::none, op_b, T(-1), a, b, T(1), c);
}

template <class T>
void assign_product(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c) {
    if (c.rows == 0 || c.cols == 0) return;
    if (a.cols > 0 && tiles_are_faster(a, c))
        divided_product(vector::Into::assign, op_b, a, b, c);
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
