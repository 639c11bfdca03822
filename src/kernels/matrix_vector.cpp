#include "kernels/matrix_vector.hpp"

#include <algorithm>
#include <array>

#include "kernels/vector.hpp"

namespace espalier {

namespace {

using vector::load;
using vector::store;
using vector::VectorOf;

// A group of columns of a matrix and the vectors along its rows and columns, with complex numbers as pairs of
// reals: `rows` and `lda` count reals.
template <class R> struct ColumnGroup {
    Index rows;
    R const* a;
    Index lda;
    Index next; // distance of the group to fetch meanwhile; 0 for none
};

// Keeps the last `fresh` reals of a vector, and clears those that the vector before contains as well.
template <class R, int width> ESPALIER_INLINE void keep_fresh(VectorOf<R, width>& numbers, Index fresh) {
    static constexpr auto ones = [] {
        std::array<R, 2 * width> result{};
        for (int i = width; i < 2 * width; ++i) result[i] = 1;
        return result;
    }();
    if (fresh == width) return;
    VectorOf<R, width> mask;
    load(mask, ones.data() + fresh);
    numbers *= mask;
}

// Calls step(i, fresh) for vectors of `width` reals that cover [0, rows); only the last `fresh` reals of a vector
// are new. There is at least one vector.
template <int width, class Step> ESPALIER_INLINE void for_each_vector(Index rows, Step const& step) {
    Index i = 0;
    for (; i + width <= rows; i += width) step(i, Index{width});
    if (i < rows) step(rows - width, rows - i);
}

template <class R> ESPALIER_INLINE void fetch_next(ColumnGroup<R> const& group, R const* at) {
    if (group.next != 0) __builtin_prefetch(at + group.next, 0, 3);
}

// y += the columns times the numbers of x.
template <class T, int width, int columns>
ESPALIER_INLINE void add_columns(ColumnGroup<Real<T>> const& group, T const* x, Real<T>* y) {
    using R = Real<T>;
    using Vector = VectorOf<R, width>;
    if constexpr (width > vector::narrowest<T>)
        if (group.rows < width) return add_columns<T, width / 2, columns>(group, x, y);
    for_each_vector<width>(group.rows, [&](Index i, Index fresh) ESPALIER_INLINE_LAMBDA {
        Vector sum[2] = {}, imaginary = {};
        for (int c = 0; c < columns; ++c) {
            R const* const from = group.a + c * group.lda + i;
            Vector entries;
            load(entries, from);
            fetch_next(group, from);
            sum[c % 2] += entries * real_part(x[c]);
            if constexpr (is_complex<T>) imaginary += entries * imag_part(x[c]);
        }
        sum[0] += sum[1];
        if constexpr (is_complex<T>) {
            vector::times_i<R, width>(imaginary);
            sum[0] += imaginary;
        }
        keep_fresh<R, width>(sum[0], fresh);
        Vector old;
        load(old, y + i);
        old += sum[0];
        store(old, y + i);
    });
}

// The products of the columns, transposed or conjugated, with y.
template <class T, int width, int columns>
ESPALIER_INLINE void multiply_columns(ColumnGroup<Real<T>> const& group, Real<T> const* y, bool conjugate, T* to) {
    using R = Real<T>;
    using Vector = VectorOf<R, width>;
    if constexpr (width > vector::narrowest<T>)
        if (group.rows < width) return multiply_columns<T, width / 2, columns>(group, y, conjugate, to);
    Vector sum[columns] = {}, crossed[columns] = {}; // of a y, and of a i y
    for_each_vector<width>(group.rows, [&](Index i, Index fresh) ESPALIER_INLINE_LAMBDA {
        Vector numbers, turned;
        load(numbers, y + i);
        keep_fresh<R, width>(numbers, fresh);
        if constexpr (is_complex<T>) {
            turned = numbers;
            vector::times_i<R, width>(turned);
        }
        for (int c = 0; c < columns; ++c) {
            R const* const from = group.a + c * group.lda + i;
            Vector entries;
            load(entries, from);
            fetch_next(group, from);
            sum[c] += entries * numbers;
            if constexpr (is_complex<T>) crossed[c] += entries * turned;
        }
    });
    for (int c = 0; c < columns; ++c) {
        if constexpr (is_complex<T>) {
            // a y = (ar yr - ai yi) + i (ar yi + ai yr); turned numbers are -yi + i yr.
            R even[2] = {}, odd[2] = {};
            for (int lane = 0; lane < width; lane += 2) {
                even[0] += sum[c][lane];
                odd[0] += sum[c][lane + 1];
                even[1] += crossed[c][lane];
                odd[1] += crossed[c][lane + 1];
            }
            to[c] = conjugate ? T(even[0] + odd[0], -odd[1] - even[1]) : T(even[0] - odd[0], odd[1] - even[1]);
        } else if constexpr (width == 1) {
            to[c] = sum[c];
        } else {
            R total = 0;
            for (int lane = 0; lane < width; ++lane) total += sum[c][lane];
            to[c] = total;
        }
    }
}

template <class T> constexpr int group_columns = is_complex<T> ? 4 : 8;

// Rows of a part whose groups of columns fit in the first-level cache twice.
constexpr Index rows_of_part = 256;

// Calls body(columns, first_row, end_row, first column) for the parts of a matrix, `columns` being a constant.
template <class T, class Body> ESPALIER_INLINE void for_each_group(MatrixView<T const> a, Body const& body) {
    constexpr int most = group_columns<T>;
    for (Index i = 0; i < a.rows; i += rows_of_part) {
        Index const end = std::min(i + rows_of_part, a.rows);
        Index j = 0;
        for (; j + most <= a.cols; j += most) body(std::integral_constant<int, most>(), i, end, j);
        if constexpr (most == 8)
            if (j + 4 <= a.cols) {
                body(std::integral_constant<int, 4>(), i, end, j);
                j += 4;
            }
        for (; j + 2 <= a.cols; j += 2) body(std::integral_constant<int, 2>(), i, end, j);
        if (j < a.cols) body(std::integral_constant<int, 1>(), i, end, j);
    }
}

// `after` columns from the last group, positive or negative, is what the caller needs next; 0 for nothing.
template <class T> ESPALIER_INLINE ColumnGroup<Real<T>> group_at(MatrixView<T const> a, Index first_row, Index end_row,
                                                                Index col, int columns, Index after) {
    constexpr Index parts = is_complex<T> ? 2 : 1;
    bool const is_last = col + 2 * columns > a.cols;
    return {parts * (end_row - first_row), reinterpret_cast<Real<T> const*>(a.column(col) + first_row),
            parts * a.ld, parts * (is_last ? after : columns) * a.ld};
}

template <class T> struct AddProduct {
    template <int bytes>
    ESPALIER_INLINE static void run(MatrixView<T const> a, T const* x, T* y, Index after) {
        for_each_group(a, [&](auto columns, Index i, Index end, Index j) ESPALIER_INLINE_LAMBDA {
            add_columns<T, vector::lanes<T, bytes>, columns.value>(
                group_at(a, i, end, j, columns.value, after), x + j, reinterpret_cast<Real<T>*>(y + i));
        });
    }
};

template <class T> struct SubtractProduct {
    template <int bytes>
    ESPALIER_INLINE static void run(MatrixView<T const> a, T const* y, T* x, bool conjugate, Index after) {
        for_each_group(a, [&](auto columns, Index i, Index end, Index j) ESPALIER_INLINE_LAMBDA {
            T products[columns.value];
            multiply_columns<T, vector::lanes<T, bytes>, columns.value>(group_at(a, i, end, j, columns.value, after),
                                                                        reinterpret_cast<Real<T> const*>(y + i),
                                                                        conjugate, products);
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

template <class T> void subtract_product_with_vector(InstructionSet instructions, Op op, MatrixView<T const> a,
                                                     std::span<T const> y, std::span<T> x) {
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
        add_product<T>(instructions, a.block(first_rest, first, rest, width), std::span(negative).first(width),
                       x.subspan(first_rest, rest), after);
    }
}

void fetch_beginning(std::span<std::byte const> panel) {
    constexpr std::size_t line = 64, most = std::size_t{8} << 10;
    for (std::size_t at = 0; at < std::min(panel.size(), most); at += line) __builtin_prefetch(panel.data() + at, 0, 2);
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
