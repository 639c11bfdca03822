#include "kernels/low_rank.hpp"

#include <algorithm>

#include "kernels/vector.hpp"

namespace espalier {

namespace {

using vector::load;
using vector::store;
using vector::VectorOf;

// Some adjacent columns of L in rows that start with the views, and the coefficients of these columns.
template <class T> struct ColumnSteps {
    Index rows;
    Index rank;
    T* l;
    Index ldl;
    T* w;
    Index ldw;
    T const* z;
    T const* y;
    Real<T> const* before;
    Real<T> const* after;
    bool stores;
};

// sum += x number, with complex numbers as pairs of reals.
template <class T, int width>
ESPALIER_INLINE void add_product(VectorOf<Real<T>, width>& sum, VectorOf<Real<T>, width> const& x, T number) {
    sum += x * real_part(number);
    if constexpr (is_complex<T>) {
        VectorOf<Real<T>, width> turned = x * imag_part(number);
        vector::times_i<Real<T>, width>(turned);
        sum += turned;
    }
}

// Rows from `row` (in reals) on, as many as `vectors` vectors hold. The columns are one pair, or pivots by
// themselves.
template <class T, int width, int vectors, int columns, bool is_pair>
ESPALIER_INLINE void apply_to_rows(ColumnSteps<T> const& s, Index row) {
    using R = Real<T>;
    using Vector = VectorOf<R, width>;
    constexpr Index parts = is_complex<T> ? 2 : 1;
    R* const l = reinterpret_cast<R*>(s.l) + row;
    R* const w = reinterpret_cast<R*>(s.w) + row;
    Vector entries[columns][vectors];
    for (int c = 0; c < columns; ++c)
        for (int v = 0; v < vectors; ++v) {
            load(entries[c][v], l + parts * c * s.ldl + v * width);
            entries[c][v] *= s.before[c];
        }
    for (Index t = 0; t < s.rank; ++t) {
        Vector rest[vectors];
        for (int v = 0; v < vectors; ++v) load(rest[v], w + parts * t * s.ldw + v * width);
        if constexpr (is_pair)
            for (int c = 0; c < columns; ++c)
                for (int v = 0; v < vectors; ++v)
                    add_product<T, width>(rest[v], entries[c][v], -s.z[c * s.rank + t]);
        for (int c = 0; c < columns; ++c)
            for (int v = 0; v < vectors; ++v) {
                if constexpr (!is_pair) add_product<T, width>(rest[v], entries[c][v], -s.z[c * s.rank + t]);
                add_product<T, width>(entries[c][v], rest[v], s.y[c * s.rank + t]);
            }
        for (int v = 0; v < vectors; ++v) store(rest[v], w + parts * t * s.ldw + v * width);
    }
    if (!s.stores) return;
    for (int c = 0; c < columns; ++c)
        for (int v = 0; v < vectors; ++v) {
            entries[c][v] *= s.after[c];
            store(entries[c][v], l + parts * c * s.ldl + v * width);
        }
}

template <class T, int width, int columns, bool is_pair>
ESPALIER_INLINE void apply_to_all(ColumnSteps<T> const& s) {
    constexpr Index parts = is_complex<T> ? 2 : 1;
    constexpr int narrow = vector::narrowest<T>;
    Index const end = parts * s.rows;
    Index row = 0;
    for (; row + 2 * width <= end; row += 2 * width) apply_to_rows<T, width, 2, columns, is_pair>(s, row);
    for (; row < end; row += narrow) apply_to_rows<T, narrow, 1, columns, is_pair>(s, row);
}

template <class T> struct ApplyColumns {
    template <int bytes> ESPALIER_INLINE static void run(ColumnSteps<T> const& s, int columns, bool is_pair) {
        constexpr int width = vector::lanes<T, bytes>;
        if (is_pair)
            apply_to_all<T, width, 2, true>(s);
        else if (columns == 4)
            apply_to_all<T, width, 4, false>(s);
        else
            apply_to_all<T, width, 1, false>(s);
    }
};

// The next columns from `first` on that one call can treat: a pair, four pivots, or one.
template <class T> int columns_at_once(LowRankSteps<T> const& steps, Index first, Index end) {
    if (steps.starts_pair[first]) return 2;
    if (first + 4 > end) return 1;
    for (Index j = first + 1; j < first + 4; ++j)
        if (steps.starts_pair[j]) return 1;
    return 4;
}

// Rows whose part of W stays in the first-level cache with all columns of L.
template <class T> Index rows_at_once(Index rank) {
    constexpr Index numbers = 16 * 1024 / sizeof(T), least = 32;
    return std::max(least, numbers / rank / least * least);
}

} // namespace

template <class T> void apply_low_rank(InstructionSet instructions, LowRankSteps<T> const& steps, Index first,
                                       Index end, MatrixView<T> l, MatrixView<T> w, bool stores) {
    Index const rank = steps.rank, most = rows_at_once<T>(rank);
    for (Index row = 0; row < l.rows; row += most)
        for (Index j = first; j < end;) {
            int const columns = columns_at_once(steps, j, end);
            ColumnSteps<T> const some{std::min(most, l.rows - row),
                                      rank,
                                      l.column(j - first) + row,
                                      l.ld,
                                      w.data + row,
                                      w.ld,
                                      steps.z.data() + j * rank,
                                      steps.y.data() + j * rank,
                                      steps.before.data() + j,
                                      steps.after.data() + j,
                                      stores};
            vector::run_with<ApplyColumns<T>>(instructions, some, columns, steps.starts_pair[j]);
            j += columns;
        }
}

template <class T> void apply_low_rank(LowRankSteps<T> const& steps, Index first, Index end, MatrixView<T> l,
                                       MatrixView<T> w, bool stores) {
    apply_low_rank<T>(widest_instruction_set(), steps, first, end, l, w, stores);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void apply_low_rank<T>(LowRankSteps<T> const&, Index, Index, MatrixView<T>, MatrixView<T>,      \
                                    bool);                                                                   \
    template void apply_low_rank<T>(InstructionSet, LowRankSteps<T> const&, Index, Index, MatrixView<T>,     \
                                    MatrixView<T>, bool);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
