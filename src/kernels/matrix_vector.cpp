#include "kernels/matrix_vector.hpp"

#include <algorithm>
#include <array>

#include "kernels/column_group.hpp"

namespace espalier {

namespace {

using namespace column_group;

template <class T, int bytes> constexpr int group_columns = vector::is_fallback<bytes> ? 2
                                                            : is_complex<T>            ? 4
                                                                                       : 8;

// The columns that the caller needs next begin `after` columns from the last group, which may be negative; 0
// if it needs none.
template <class T>
ESPALIER_INLINE FetchColumns columns_after(MatrixView<T const> a, Index col, int columns, Index after) {
    constexpr Index parts = is_complex<T> ? 2 : 1;
    bool const is_last = col + 2 * columns > a.cols;
    return {parts * (is_last ? after : columns) * a.ld};
}

// Rows of a part whose groups of columns fit in the first-level cache twice.
constexpr Index rows_of_part = 256;

// Calls body(columns, first_row, end_row, first column) for the parts of a matrix, `columns` being a
// constant.
template <int most, class T, class Body>
ESPALIER_INLINE void for_each_group(MatrixView<T const> a, Body const& body) {
    for (Index i = 0; i < a.rows; i += rows_of_part) {
        Index const end = std::min(i + rows_of_part, a.rows);
        Index j = 0;
        for (; j + most <= a.cols; j += most) body(std::integral_constant<int, most>(), i, end, j);
        if constexpr (most == 8)
            if (j + 4 <= a.cols) {
                body(std::integral_constant<int, 4>(), i, end, j);
                j += 4;
            }
        if constexpr (most > 2)
            if (j + 2 <= a.cols) {
                body(std::integral_constant<int, 2>(), i, end, j);
                j += 2;
            }
        if (j < a.cols) body(std::integral_constant<int, 1>(), i, end, j);
    }
}

template <class T> struct AddProduct {
    template <int bytes>
    ESPALIER_INLINE static void run(MatrixView<T const> a, T const* x, T* y, Index after) {
        for_each_group<group_columns<T, bytes>>(a, [&](auto columns, Index i, Index end,
                                                       Index j) ESPALIER_INLINE_LAMBDA {
            add_columns<T, vector::lanes<T, bytes>, columns.value>(group_at(a, i, end, j),
                                                                   columns_after(a, j, columns.value, after),
                                                                   x + j, reinterpret_cast<Real<T>*>(y + i));
        });
    }
};

template <class T> struct SubtractProduct {
    template <int bytes>
    ESPALIER_INLINE static void run(MatrixView<T const> a, T const* y, T* x, bool conjugate, Index after) {
        for_each_group<group_columns<T, bytes>>(
            a, [&](auto columns, Index i, Index end, Index j) ESPALIER_INLINE_LAMBDA {
                T products[columns.value];
                multiply_columns<T, vector::lanes<T, bytes>, columns.value>(
                    group_at(a, i, end, j), columns_after(a, j, columns.value, after),
                    reinterpret_cast<Real<T> const*>(y + i), conjugate, products);
                for (int c = 0; c < columns.value; ++c) x[j + c] -= products[c];
            });
    }
};

template <class T> void add_product(InstructionSet instructions, MatrixView<T const> a, std::span<T const> x,
                                    std::span<T> y, Index after) {
    if (a.rows > 0 && a.cols > 0) vector::run_with<AddProduct<T>>(instructions, a, x.data(), y.data(), after);
}

template <class T> void subtract_product(InstructionSet instructions, Op op, MatrixView<T const> a,
                                         std::span<T const> y, std::span<T> x, Index after) {
    if (a.rows > 0 && a.cols > 0)
        vector::run_with<SubtractProduct<T>>(instructions, a, y.data(), x.data(), op == Op::adjoint, after);
}

constexpr Index block_width = 8;

template <class T> T entry(MatrixView<T const> a, Index i, Index j, Op op) {
    if (op == Op::none) return a(i, j);
    return op == Op::adjoint ? conj(a(j, i)) : a(j, i);
}

// The triangle of op(A), lower or upper, of a block of at most block_width columns.
template <class T> void solve_block(bool is_lower, Op op, Diag diag, MatrixView<T const> a, T* x) {
    Index const n = a.cols;
    for (Index step = 0; step < n; ++step) {
        Index const j = is_lower ? step : n - 1 - step;
        if (diag == Diag::non_unit) x[j] /= entry(a, j, j, op);
        for (Index rest = step + 1; rest < n; ++rest) {
            Index const i = is_lower ? rest : n - 1 - rest;
            x[i] -= entry(a, i, j, op) * x[j];
        }
    }
}

} // namespace

template <class T> void add_product_with_vector(InstructionSet instructions, MatrixView<T const> a,
                                                std::span<T const> x, std::span<T> y) {
    add_product<T>(instructions, a, x, y, 0);
}

template <class T> void subtract_product_with_vector(InstructionSet instructions, Op op,
                                                     MatrixView<T const> a, std::span<T const> y,
                                                     std::span<T> x) {
    subtract_product<T>(instructions, op, a, y, x, 0);
}

template <class T> void add_product_with_vector(MatrixView<T const> a, std::span<T const> x, std::span<T> y) {
    add_product<T>(widest_instruction_set(), a, x, y, 0);
}

template <class T>
void subtract_product_with_vector(Op op, MatrixView<T const> a, std::span<T const> y, std::span<T> x) {
    subtract_product<T>(widest_instruction_set(), op, a, y, x, 0);
}

// Blocks of columns from the first or from the last. Each block is subtracted from the rows that follow, or
// after transposition it receives the rows before it.
template <class T>
void solve_with_vector(Uplo uplo, Op op, Diag diag, MatrixView<T const> a, std::span<T> x) {
    InstructionSet const instructions = widest_instruction_set();
    Index const n = a.cols;
    bool const is_lower = (uplo == Uplo::lower) == (op == Op::none);
    for (Index done = 0; done < n; done += block_width) {
        Index const width = std::min(block_width, n - done);
        Index const first = is_lower ? done : n - done - width;
        Index const rest = n - done - width;                   // rows still to be solved
        Index const first_rest = is_lower ? first + width : 0; // the first of them
        Index const first_done = is_lower ? 0 : first + width;
        Index const after = is_lower ? std::min(width, rest) : -std::min(width, rest);
        std::span<T> const block = x.subspan(first, width);
        if (op != Op::none)
            subtract_product<T>(instructions, op, a.block(first_done, first, done, width),
                                x.subspan(first_done, done), block, after);
        solve_block(is_lower, op, diag, a.block(first, first, width, width), block.data());
        if (op != Op::none) continue;
        std::array<T, block_width> negative;
        std::transform(block.begin(), block.end(), negative.begin(), [](T value) { return -value; });
        add_product<T>(instructions, a.block(first_rest, first, rest, width),
                       std::span(negative).first(width), x.subspan(first_rest, rest), after);
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void add_product_with_vector<T>(MatrixView<T const>, std::span<T const>, std::span<T>);         \
    template void subtract_product_with_vector<T>(Op, MatrixView<T const>, std::span<T const>,               \
                                                  std::span<T>);                                             \
    template void add_product_with_vector<T>(InstructionSet, MatrixView<T const>, std::span<T const>,        \
                                             std::span<T>);                                                  \
    template void subtract_product_with_vector<T>(InstructionSet, Op, MatrixView<T const>,                   \
                                                  std::span<T const>, std::span<T>);                         \
    template void solve_with_vector<T>(Uplo, Op, Diag, MatrixView<T const>, std::span<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
