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

// x := U^-1 x for these columns.
template <class T, int columns> ESPALIER_INLINE void solve_upper_group(MatrixView<T const> a, T* x) {
    T inverse[columns], z[columns];
    invert_diagonal<T, columns>(Diag::non_unit, a, inverse);
    for (int c = 0; c < columns; ++c) z[c] = x[c];
    for (int c = columns - 1; c >= 0; --c)
        for (int i = 0; i < c; ++i) z[i] -= a(i, c) * inverse[c] * z[c];
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

// The memory behind a panel, in the direction in which panels are read. The first `adjacent` entries are
// needed next. The following `gap` entries are skipped.
struct NextPanel {
    Index adjacent = 0;
    Index gap = 0;
};

// Panels are stored one after the other, and read in the order of memory or in the opposite one: what is
// needed next is at a distance from the group of columns in use, forward (direction 1) or backward (-1).
template <class T> struct Ahead {
    static constexpr Index parts = is_complex<T> ? 2 : 1;
    MatrixView<T const> panel;
    int direction;
    NextPanel next;

    // The distance, at least `least` reals, to the columns that follow those from j on.
    [[nodiscard]] ESPALIER_INLINE Index distance(Index j, int columns, Index least) const {
        Index const result = std::max(columns * parts * panel.ld, least);
        Index const left = (direction > 0 ? panel.cols - j - 1 : j) * panel.ld + next.adjacent;
        return direction * (result + (result > parts * left ? parts * next.gap : 0));
    }
};

// Long columns: a group of many columns, in which each line is fetched when the line as many columns before
// it is used.
template <class T, int bytes> struct LongColumns {
    static constexpr int most = vector::is_fallback<bytes> ? 2 : is_complex<T> ? 4 : 8;

    ESPALIER_INLINE static FetchColumns fetch(Ahead<T> const& ahead, Index, Index j, int columns) {
        return {ahead.distance(j, columns, 16384 / Index{sizeof(Real<T>)})};
    }
};

// Short columns: the processor does not foresee accesses to several of them at a time, so a group has few.
// Lines at two distances are fetched in the order of memory while it is used: the `far` ones into the
// second-level cache, and the `near` ones into the first-level one. A core has too few buffers for lines on
// their way to the first-level cache to fetch all of them from memory.
template <class R> struct FetchLines {
    static constexpr Index line = 64 / Index{sizeof(R)};
    R const* far;
    R const* near;

    template <int width, int columns>
    ESPALIER_INLINE void operator()(ColumnGroup<R> const&, Index i, int c) const {
        if (c * width % line == 0) fetch(i * columns + c * width);
    }
    ESPALIER_INLINE void fetch(Index at) const {
        prefetch(far + at);
        __builtin_prefetch(near + at);
    }
};

template <class T> struct ShortColumns {
    static constexpr int most = 2;

    // For the rows from first_row on. Fetches the lines for those above it.
    ESPALIER_INLINE static FetchLines<Real<T>> fetch(Ahead<T> const& ahead, Index first_row, Index j,
                                                     int columns) {
        using R = Real<T>;
        auto const* const from = reinterpret_cast<R const*>(ahead.panel.column(j));
        FetchLines<R> lines{from + ahead.distance(j, columns, 16384 / Index{sizeof(R)}),
                            from + ahead.distance(j, columns, 2048 / Index{sizeof(R)})};
        Index const above = first_row * columns * ahead.parts;
        for (Index i = 0; i < above; i += lines.line) lines.fetch(i);
        return {lines.far + above, lines.near + above};
    }
};

// Calls body(columns, first column, fetch) for the groups of columns of a panel, forward or backward.
// fetch(first_row) fetches what is needed after the rows from there on.
template <class T, int bytes, int direction, class Body>
ESPALIER_INLINE void for_each_group(MatrixView<T const> panel, NextPanel next, Body const& body) {
    constexpr Index short_column = (direction > 0 ? 16384 : 4096) / Index{sizeof(T)};
    auto const visit_all = [&](auto kind) ESPALIER_INLINE_LAMBDA {
        auto const visit = [&](auto columns, Index j) ESPALIER_INLINE_LAMBDA {
            body(columns, j, [&](Index first_row) ESPALIER_INLINE_LAMBDA {
                return kind.fetch(Ahead<T>{panel, direction, next}, first_row, j, columns.value);
            });
        };
        if constexpr (direction > 0)
            for_each_group_forward<kind.most>(panel.cols, visit);
        else
            for_each_group_backward<kind.most>(panel.cols, visit);
    };
    if (panel.ld <= short_column)
        visit_all(ShortColumns<T>());
    else
        visit_all(LongColumns<T, bytes>());
}

template <class T> struct SolvePanel {
    template <int bytes>
    ESPALIER_INLINE static void run(Diag diag, MatrixView<T const> panel, T* w, Index gap) {
        for_each_group<T, bytes, 1>(
            panel, {0, gap}, [&](auto columns, Index j, auto const& fetch) ESPALIER_INLINE_LAMBDA {
                constexpr int count = columns.value;
                solve_lower_group<T, count>(diag, panel.block(j, j, count, count), w + j);
                T negative[count];
                for (int c = 0; c < count; ++c) negative[c] = -w[j + c];
                Index const rest = j + count;
                auto const next = fetch(rest);
                if (rest < panel.rows)
                    add_columns<T, vector::lanes<T, bytes>, count>(group_at(panel, rest, panel.rows, j), next,
                                                                   negative,
                                                                   reinterpret_cast<Real<T>*>(w + rest));
            });
    }
};

template <class T> struct SolveTransposedPanel {
    template <int bytes>
    ESPALIER_INLINE static void run(bool conjugate, Diag diag, MatrixView<T const> panel, T* w) {
        for_each_group<T, bytes, -1>(
            panel, {}, [&](auto columns, Index j, auto const& fetch) ESPALIER_INLINE_LAMBDA {
                constexpr int count = columns.value;
                Index const rest = j + count;
                auto const next = fetch(rest);
                if (rest < panel.rows) {
                    T products[count];
                    multiply_columns<T, vector::lanes<T, bytes>, count>(
                        group_at(panel, rest, panel.rows, j), next,
                        reinterpret_cast<Real<T> const*>(w + rest), conjugate, products);
                    for (int c = 0; c < count; ++c) w[j + c] -= products[c];
                }
                solve_transposed_group<T, count>(conjugate, diag, panel.block(j, j, count, count), w + j);
            });
    }
};

// The strip of a packed triangle that contains column j of `cols` columns.
template <class T> ESPALIER_INLINE MatrixView<T> packed_strip(T* packed, Index cols, Index j) {
    Index const first = j / packed_columns * packed_columns;
    Index const count = std::min(packed_columns, cols - first);
    return {packed + packed_upper_size(first), first + count, count, first + count};
}

template <class T> struct SolveUpperPanel {
    template <int bytes> ESPALIER_INLINE static void run(MatrixView<T const> panel, T const* triangle,
                                                         T const* y, T* x, Index gap) {
        if (panel.rows > 0) subtract<bytes>(panel, y, x, {packed_upper_size(panel.cols), gap});
        solve<bytes>(triangle, panel.cols, x, gap);
    }

  private:
    template <int bytes>
    ESPALIER_INLINE static void subtract(MatrixView<T const> panel, T const* y, T* x, NextPanel next) {
        for_each_group<T, bytes, -1>(panel, next,
                                     [&](auto columns, Index j, auto const& fetch) ESPALIER_INLINE_LAMBDA {
                                         constexpr int count = columns.value;
                                         T products[count];
                                         multiply_columns<T, vector::lanes<T, bytes>, count>(
                                             group_at(panel, 0, panel.rows, j), fetch(0),
                                             reinterpret_cast<Real<T> const*>(y), false, products);
                                         for (int c = 0; c < count; ++c) x[j + c] -= products[c];
                                     });
    }

    template <int bytes> ESPALIER_INLINE static void solve(T const* triangle, Index cols, T* x, Index gap) {
        constexpr int most = LongColumns<T, bytes>::most;
        static_assert(packed_columns % most == 0);
        for_each_group_backward<most>(cols, [&](auto columns, Index j) ESPALIER_INLINE_LAMBDA {
            constexpr int count = columns.value;
            MatrixView<T const> const strip = packed_strip<T const>(triangle, cols, j);
            Index const at = j % packed_columns;
            solve_upper_group<T, count>(strip.block(j, at, count, count), x + j);
            if (j == 0) return;
            T negative[count];
            for (int c = 0; c < count; ++c) negative[c] = -x[j + c];
            Index const ahead = -std::max<Index>(16384 / Index{sizeof(T)}, count * strip.ld);
            Index const left = packed_upper_size(j);
            FetchColumns const next{Ahead<T>::parts * (ahead - (-ahead > left ? gap : 0))};
            add_columns<T, vector::lanes<T, bytes>, count>(group_at(strip, 0, j, at), next, negative,
                                                           reinterpret_cast<Real<T>*>(x));
        });
    }
};

} // namespace

template <class T> void solve_panel_with_vector(InstructionSet instructions, Diag diag,
                                                MatrixView<T const> panel, std::span<T> w, Index gap) {
    if (panel.cols > 0) vector::run_with<SolvePanel<T>>(instructions, diag, panel, w.data(), gap);
}

template <class T> void pack_upper(MatrixView<T const> diagonal, T* packed) {
    for (Index j = 0; j < diagonal.cols; ++j) {
        MatrixView<T> const strip = packed_strip(packed, diagonal.cols, j);
        T* const to = strip.column(j % packed_columns);
        std::fill(std::copy_n(diagonal.column(j), j + 1, to), to + strip.rows, T(0));
    }
}

template <class T> void solve_upper_panel_with_vector(InstructionSet instructions, MatrixView<T const> panel,
                                                      T const* triangle, std::span<T const> y, std::span<T> x,
                                                      Index gap) {
    if (panel.cols > 0)
        vector::run_with<SolveUpperPanel<T>>(instructions, panel, triangle, y.data(), x.data(), gap);
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

template <class T> void solve_upper_panel_with_vector(MatrixView<T const> panel, T const* triangle,
                                                      std::span<T const> y, std::span<T> x, Index gap) {
    solve_upper_panel_with_vector<T>(widest_instruction_set(), panel, triangle, y, x, gap);
}

template <class T>
void solve_transposed_panel_with_vector(Op op, Diag diag, MatrixView<T const> panel, std::span<T> w) {
    solve_transposed_panel_with_vector<T>(widest_instruction_set(), op, diag, panel, w);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void solve_panel_with_vector<T>(Diag, MatrixView<T const>, std::span<T>, Index);                \
    template void solve_transposed_panel_with_vector<T>(Op, Diag, MatrixView<T const>, std::span<T>);        \
    template void pack_upper<T>(MatrixView<T const>, T*);                                                    \
    template void solve_upper_panel_with_vector<T>(MatrixView<T const>, T const*, std::span<T const>,        \
                                                   std::span<T>, Index);                                     \
    template void solve_panel_with_vector<T>(InstructionSet, Diag, MatrixView<T const>, std::span<T>,        \
                                             Index);                                                         \
    template void solve_upper_panel_with_vector<T>(InstructionSet, MatrixView<T const>, T const*,            \
                                                   std::span<T const>, std::span<T>, Index);                 \
    template void solve_transposed_panel_with_vector<T>(InstructionSet, Op, Diag, MatrixView<T const>,       \
                                                        std::span<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
