#include "kernels/panel_vector.hpp"

#include <algorithm>

#include "kernels/column_group.hpp"

namespace espalier {

namespace {

using namespace column_group;

// Calls body(columns, first column) for the groups of columns from the first to the last, `columns` being a constant.
template <class T, class Body> ESPALIER_INLINE void for_each_group_forward(Index cols, Body const& body) {
    constexpr int most = group_columns<T>;
    Index j = 0;
    for (; j + most <= cols; j += most) body(std::integral_constant<int, most>(), j);
    if constexpr (most == 8)
        if (j + 4 <= cols) {
            body(std::integral_constant<int, 4>(), j);
            j += 4;
        }
    for (; j + 2 <= cols; j += 2) body(std::integral_constant<int, 2>(), j);
    if (j < cols) body(std::integral_constant<int, 1>(), j);
}

// Visits these groups from the last to the first.
template <class T, class Body> ESPALIER_INLINE void for_each_group_backward(Index cols, Body const& body) {
    constexpr int most = group_columns<T>;
    Index j = cols;
    if (j % 2 != 0) body(std::integral_constant<int, 1>(), --j);
    if (j % 4 != 0) body(std::integral_constant<int, 2>(), j -= 2);
    if constexpr (most == 8)
        if (j % 8 != 0) body(std::integral_constant<int, 4>(), j -= 4);
    while (j > 0) body(std::integral_constant<int, most>(), j -= most);
}

// The reciprocals of the diagonal, which are independent of each other while the divisions of a substitution are not.
template <class T, int columns> ESPALIER_INLINE void invert_diagonal(MatrixView<T const> a, T* inverse) {
    for (int c = 0; c < columns; ++c) inverse[c] = T(1) / a(c, c);
}

// x := L^-1 x for the first `columns` columns of a.
template <class T, int columns> ESPALIER_INLINE void solve_lower_group(Diag diag, MatrixView<T const> a, T* x) {
    T inverse[columns], z[columns];
    if (diag == Diag::non_unit) invert_diagonal<T, columns>(a, inverse);
    for (int c = 0; c < columns; ++c) z[c] = x[c];
    for (int c = 0; c < columns; ++c) {
        if (diag == Diag::non_unit) z[c] *= inverse[c];
        for (int i = c + 1; i < columns; ++i) z[i] -= a(i, c) * z[c];
    }
    for (int c = 0; c < columns; ++c) x[c] = z[c];
}

// x := op(L)^-1 x.
template <class T, int columns>
ESPALIER_INLINE void solve_transposed_group(bool conjugate, Diag diag, MatrixView<T const> a, T* x) {
    T inverse[columns], z[columns];
    if (diag == Diag::non_unit) invert_diagonal<T, columns>(a, inverse);
    for (int c = 0; c < columns; ++c) z[c] = x[c];
    for (int c = columns - 1; c >= 0; --c) {
        if (diag == Diag::non_unit) z[c] *= conj_if(conjugate, inverse[c]);
        for (int i = 0; i < c; ++i) z[i] -= conj_if(conjugate, a(c, i)) * z[c];
    }
    for (int c = 0; c < columns; ++c) x[c] = z[c];
}

template <class T> struct SolvePanel {
    template <int bytes> ESPALIER_INLINE static void run(Diag diag, MatrixView<T const> panel, T* w) {
        for_each_group_forward<T>(panel.cols, [&](auto columns, Index j) ESPALIER_INLINE_LAMBDA {
            constexpr int count = columns.value;
            solve_lower_group<T, count>(diag, panel.block(j, j, count, count), w + j);
            T negative[count];
            for (int c = 0; c < count; ++c) negative[c] = -w[j + c];
            Index const rest = j + count;
            if (rest < panel.rows)
                add_columns<T, vector::lanes<T, bytes>, count>(group_at(panel, rest, panel.rows, j, count, 0), negative,
                                                               reinterpret_cast<Real<T>*>(w + rest));
        });
    }
};

template <class T> struct SolveTransposedPanel {
    template <int bytes>
    ESPALIER_INLINE static void run(bool conjugate, Diag diag, MatrixView<T const> panel, T* w) {
        for_each_group_backward<T>(panel.cols, [&](auto columns, Index j) ESPALIER_INLINE_LAMBDA {
            constexpr int count = columns.value;
            Index const rest = j + count;
            if (rest < panel.rows) {
                T products[count];
                auto group = group_at(panel, rest, panel.rows, j, count, 0);
                group.next = j > 0 ? -count * group.lda : 0;
                multiply_columns<T, vector::lanes<T, bytes>, count>(group, reinterpret_cast<Real<T> const*>(w + rest),
                                                                    conjugate, products);
                for (int c = 0; c < count; ++c) w[j + c] -= products[c];
            }
            solve_transposed_group<T, count>(conjugate, diag, panel.block(j, j, count, count), w + j);
        });
    }
};

} // namespace

template <class T> void solve_panel_with_vector(InstructionSet instructions, Diag diag, MatrixView<T const> panel,
                                                std::span<T> w) {
    if (panel.cols > 0) vector::run_with<SolvePanel<T>>(instructions, diag, panel, w.data());
}

template <class T> void solve_transposed_panel_with_vector(InstructionSet instructions, Op op, Diag diag,
                                                           MatrixView<T const> panel, std::span<T> w) {
    if (panel.cols > 0)
        vector::run_with<SolveTransposedPanel<T>>(instructions, op == Op::adjoint, diag, panel, w.data());
}

template <class T> void solve_panel_with_vector(Diag diag, MatrixView<T const> panel, std::span<T> w) {
    solve_panel_with_vector<T>(widest_instruction_set(), diag, panel, w);
}

template <class T>
void solve_transposed_panel_with_vector(Op op, Diag diag, MatrixView<T const> panel, std::span<T> w) {
    solve_transposed_panel_with_vector<T>(widest_instruction_set(), op, diag, panel, w);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void solve_panel_with_vector<T>(Diag, MatrixView<T const>, std::span<T>);                       \
    template void solve_transposed_panel_with_vector<T>(Op, Diag, MatrixView<T const>, std::span<T>);        \
    template void solve_panel_with_vector<T>(InstructionSet, Diag, MatrixView<T const>, std::span<T>);       \
    template void solve_transposed_panel_with_vector<T>(InstructionSet, Op, Diag, MatrixView<T const>,       \
                                                        std::span<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
