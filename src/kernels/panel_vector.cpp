#include "kernels/panel_vector.hpp"

#include <algorithm>

#include "kernels/column_group.hpp"

namespace espalier {

namespace {

using namespace column_group;

// Calls body(columns) with the constant `columns` = count, if 0 < count < below.
template <int below, class Body> ESPALIER_INLINE void with_constant(Index count, Body const& body) {
    [&]<int... before>(std::integer_sequence<int, before...>) ESPALIER_INLINE_LAMBDA {
        (void)((count == before + 1 && (body(std::integral_constant<int, before + 1>()), true)) || ...);
    }(std::make_integer_sequence<int, below - 1>());
}

// Calls body(columns, first column) for the groups of `most` columns from the first to the last, `columns`
// being a constant. The last group has what remains.
template <int most, class Body> ESPALIER_INLINE void for_each_group_forward(Index cols, Body const& body) {
    Index j = 0;
    for (; j + most <= cols; j += most) body(std::integral_constant<int, most>(), j);
    with_constant<most>(cols - j, [&](auto columns) ESPALIER_INLINE_LAMBDA { body(columns, j); });
}

// Visits these groups from the last to the first.
template <int most, class Body> ESPALIER_INLINE void for_each_group_backward(Index cols, Body const& body) {
    Index j = cols / most * most;
    with_constant<most>(cols - j, [&](auto columns) ESPALIER_INLINE_LAMBDA { body(columns, j); });
    while (j > 0) body(std::integral_constant<int, most>(), j -= most);
}

// The reciprocals of the diagonal, which are independent of each other while the divisions of a substitution
// are not.
template <class T, int columns>
ESPALIER_INLINE void invert_diagonal(Diag diag, MatrixView<T const> a, T* inverse) {
    for (int c = 0; c < columns; ++c) inverse[c] = diag == Diag::non_unit ? T(1) / a(c, c) : T(1);
}

// x := L^-1 x for the first `columns` columns of a. Columns are divided by their diagonal entries first, so
// that a step waits for one operation of the step before.
template <class T, int columns>
ESPALIER_INLINE void solve_lower_group(Diag diag, MatrixView<T const> a, T* x) {
    T inverse[columns], z[columns];
    invert_diagonal<T, columns>(diag, a, inverse);
    for (int c = 0; c < columns; ++c) z[c] = x[c];
    for (int c = 0; c < columns; ++c)
        for (int i = c + 1; i < columns; ++i) z[i] -= a(i, c) * inverse[c] * z[c];
    for (int c = 0; c < columns; ++c) x[c] = z[c] * inverse[c];
}

// x := op(L)^-1 x.
template <class T, int columns>
ESPALIER_INLINE void solve_transposed_group(bool conjugate, Diag diag, MatrixView<T const> a, T* x) {
    T inverse[columns], z[columns];
    invert_diagonal<T, columns>(diag, a, inverse);
    for (int c = 0; c < columns; ++c) z[c] = x[c] * conj_if(conjugate, inverse[c]);
    for (int c = columns - 1; c >= 0; --c)
        for (int i = 0; i < c; ++i) z[i] -= conj_if(conjugate, a(c, i) * inverse[i]) * z[c];
    for (int c = 0; c < columns; ++c) x[c] = z[c];
}

// The rows of a group of columns from first_row on. Panels are stored one after the other, so what is fetched
// ahead is the next group of columns, or the panels that follow if the columns are short (direction 1), or
// precede (-1). `gap` entries before the next panel are skipped.
template <class T> ESPALIER_INLINE ColumnGroup<Real<T>>
rows_of_group(MatrixView<T const> panel, Index first_row, Index j, int columns, int direction, Index gap) {
    constexpr Index parts = is_complex<T> ? 2 : 1;
    constexpr Index ahead = 16384 / Index{sizeof(Real<T>)}, line = 64 / Index{sizeof(T)};
    ColumnGroup<Real<T>> group = group_at(panel, first_row, panel.rows, j, columns, 0);
    Index const next = columns * group.lda;
    Index const distance = std::max(next, ahead);
    bool const leaves_panel = distance > (direction > 0 ? panel.cols - j - 1 : j) * group.lda;
    group.next = direction * (distance + (leaves_panel ? parts * gap : 0));
    if (next < ahead) // also fetches the rows above
        for (int c = 0; c < columns; ++c)
            for (Index i = 0; i < first_row; i += line)
                prefetch(reinterpret_cast<Real<T> const*>(panel.column(j + c) + i) + group.next);
    return group;
}

template <class T> struct SolvePanel {
    template <int bytes>
    ESPALIER_INLINE static void run(Diag diag, MatrixView<T const> panel, T* w, Index gap) {
        for_each_group_forward<group_columns<T, bytes>>(
            panel.cols, [&](auto columns, Index j) ESPALIER_INLINE_LAMBDA {
                constexpr int count = columns.value;
                solve_lower_group<T, count>(diag, panel.block(j, j, count, count), w + j);
                T negative[count];
                for (int c = 0; c < count; ++c) negative[c] = -w[j + c];
                Index const rest = j + count;
                auto const group = rows_of_group(panel, rest, j, count, 1, gap);
                if (rest < panel.rows)
                    add_columns<T, vector::lanes<T, bytes>, count>(group, negative,
                                                                   reinterpret_cast<Real<T>*>(w + rest));
            });
    }
};

template <class T> struct SolveTransposedPanel {
    template <int bytes>
    ESPALIER_INLINE static void run(bool conjugate, Diag diag, MatrixView<T const> panel, T* w) {
        for_each_group_backward<group_columns<T, bytes>>(
            panel.cols, [&](auto columns, Index j) ESPALIER_INLINE_LAMBDA {
                constexpr int count = columns.value;
                Index const rest = j + count;
                auto const group = rows_of_group(panel, rest, j, count, -1, 0);
                if (rest < panel.rows) {
                    T products[count];
                    multiply_columns<T, vector::lanes<T, bytes>, count>(
                        group, reinterpret_cast<Real<T> const*>(w + rest), conjugate, products);
                    for (int c = 0; c < count; ++c) w[j + c] -= products[c];
                }
                solve_transposed_group<T, count>(conjugate, diag, panel.block(j, j, count, count), w + j);
            });
    }
};

template <class T> struct SubtractUpperPanel {
    template <int bytes> ESPALIER_INLINE static void
    run(MatrixView<T const> panel, MatrixView<T const> diagonal, T const* y, T* x, Index gap) {
        constexpr Index line = 64 / Index{sizeof(T)};
        for (Index j = diagonal.cols - 1; j >= 0; --j)
            for (Index i = 0; i <= j; i += line)
                prefetch(reinterpret_cast<Real<T> const*>(diagonal.column(j) + i));
        if (panel.rows == 0) return;
        for_each_group_backward<group_columns<T, bytes>>(panel.cols, [&](auto columns,
                                                                         Index j) ESPALIER_INLINE_LAMBDA {
            constexpr int count = columns.value;
            T products[count];
            multiply_columns<T, vector::lanes<T, bytes>, count>(rows_of_group(panel, 0, j, count, -1, gap),
                                                                reinterpret_cast<Real<T> const*>(y), false,
                                                                products);
            for (int c = 0; c < count; ++c) x[j + c] -= products[c];
        });
    }
};

} // namespace

template <class T> void solve_panel_with_vector(InstructionSet instructions, Diag diag,
                                                MatrixView<T const> panel, std::span<T> w, Index gap) {
    if (panel.cols > 0) vector::run_with<SolvePanel<T>>(instructions, diag, panel, w.data(), gap);
}

template <class T> void subtract_upper_panel_with_vector(InstructionSet instructions,
                                                         MatrixView<T const> panel,
                                                         MatrixView<T const> diagonal, std::span<T const> y,
                                                         std::span<T> x, Index gap) {
    vector::run_with<SubtractUpperPanel<T>>(instructions, panel, diagonal, y.data(), x.data(), gap);
}

template <class T> void solve_transposed_panel_with_vector(InstructionSet instructions, Op op, Diag diag,
                                                           MatrixView<T const> panel, std::span<T> w) {
    if (panel.cols > 0)
        vector::run_with<SolveTransposedPanel<T>>(instructions, op == Op::adjoint, diag, panel, w.data());
}

template <class T>
void solve_panel_with_vector(Diag diag, MatrixView<T const> panel, std::span<T> w, Index gap) {
    solve_panel_with_vector<T>(widest_instruction_set(), diag, panel, w, gap);
}

template <class T> void subtract_upper_panel_with_vector(MatrixView<T const> panel,
                                                         MatrixView<T const> diagonal, std::span<T const> y,
                                                         std::span<T> x, Index gap) {
    subtract_upper_panel_with_vector<T>(widest_instruction_set(), panel, diagonal, y, x, gap);
}

template <class T>
void solve_transposed_panel_with_vector(Op op, Diag diag, MatrixView<T const> panel, std::span<T> w) {
    solve_transposed_panel_with_vector<T>(widest_instruction_set(), op, diag, panel, w);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void solve_panel_with_vector<T>(Diag, MatrixView<T const>, std::span<T>, Index);                \
    template void solve_transposed_panel_with_vector<T>(Op, Diag, MatrixView<T const>, std::span<T>);        \
    template void subtract_upper_panel_with_vector<T>(MatrixView<T const>, MatrixView<T const>,              \
                                                      std::span<T const>, std::span<T>, Index);              \
    template void solve_panel_with_vector<T>(InstructionSet, Diag, MatrixView<T const>, std::span<T>,        \
                                             Index);                                                         \
    template void subtract_upper_panel_with_vector<T>(                                                       \
        InstructionSet, MatrixView<T const>, MatrixView<T const>, std::span<T const>, std::span<T>, Index);  \
    template void solve_transposed_panel_with_vector<T>(InstructionSet, Op, Diag, MatrixView<T const>,       \
                                                        std::span<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
