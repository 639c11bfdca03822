// Products of a few columns of a matrix with a vector, the building blocks of products and substitutions with
// one vector. They are limited by memory bandwidth, so they fetch what is needed next meanwhile. Complex
// numbers are pairs of reals.
#pragma once

#include <algorithm>
#include <array>

#include "kernels/vector.hpp"
#include "kernels/view.hpp"

namespace espalier::column_group {

using vector::load;
using vector::store;
using vector::VectorOf;

// A group of columns of a matrix and the vectors along its rows and columns, with complex numbers as pairs of
// reals: `rows` and `lda` count reals.
template <class R> struct ColumnGroup {
    Index rows;
    R const* a;
    Index lda;
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

// Calls step(i, fresh) for vectors of `width` reals that cover [0, rows); only the last `fresh` reals of a
// vector are new. There is at least one vector. The step is written once, because the compiler inlines it.
template <int width, class Step> ESPALIER_INLINE void for_each_vector(Index rows, Step const& step) {
    for (Index i = 0; i < rows; i += width) step(std::min(i, rows - width), std::min(Index{width}, rows - i));
}

// The width for fewer rows than `width`. Half the width for each step would compile many more kernels.
template <class T, int width> constexpr int narrower = std::max(width / 4, vector::narrowest<T>);

// Fetches into the second-level cache. A core has too few buffers for lines on their way to the first-level
// cache to use the bandwidth of the memory: with those, panels of 150 rows are read at half the rate.
template <class R> ESPALIER_INLINE void prefetch(R const* at) {
    __builtin_prefetch(at, 0, 2);
}

// Fetches the columns at this distance from those in use; none if it is 0.
struct FetchColumns {
    Index distance;

    template <int width, int columns, class R>
    ESPALIER_INLINE void operator()(ColumnGroup<R> const& group, Index i, int c) const {
        if (distance != 0) prefetch(group.a + c * group.lda + i + distance);
    }
};

// y += the columns times the numbers of x.
template <class T, int width, int columns, class Fetch> ESPALIER_INLINE void
add_columns(ColumnGroup<Real<T>> const& group, Fetch const& fetch, T const* x, Real<T>* y) {
    using R = Real<T>;
    using Vector = VectorOf<R, width>;
    if constexpr (width > vector::narrowest<T>)
        if (group.rows < width) return add_columns<T, narrower<T, width>, columns>(group, fetch, x, y);
    for_each_vector<width>(group.rows, [&](Index i, Index fresh) ESPALIER_INLINE_LAMBDA {
        Vector sum[2] = {}, imaginary = {};
        for (int c = 0; c < columns; ++c) {
            Vector entries;
            load(entries, group.a + c * group.lda + i);
            fetch.template operator()<width, columns>(group, i, c);
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

// Lane l of the pairs of segments: the first halves (half = 0) or the second halves of the segments of two
// vectors.
template <int width, int segment, int half> constexpr int lane_of_half(int l) {
    constexpr int part = segment / 2;
    return l / part * segment + half * part +
           l % part; // lanes from `width` on are those of the second vector
}

// Each vector has `segment` partial sums for each of width / segment columns. Stores the sums of the first
// `columns` columns. Halves of segments are added to each other, for two vectors at a time.
template <class R, int width, int columns, int count, int segment = width>
ESPALIER_INLINE void store_sums(VectorOf<R, width> const (&sums)[count], R* to) {
    if constexpr (segment == 1) {
        R all[count * width];
        for (int v = 0; v < count; ++v) store(sums[v], all + v * width);
        for (int c = 0; c < columns; ++c) to[c] = all[c];
    } else {
        VectorOf<R, width> folded[(count + 1) / 2];
        [&]<int... l>(std::integer_sequence<int, l...>) ESPALIER_INLINE_LAMBDA {
            for (int v = 0; v < count; v += 2) {
                auto const& other = sums[v + 1 < count ? v + 1 : v];
                folded[v / 2] =
                    __builtin_shufflevector(sums[v], other, lane_of_half<width, segment, 0>(l)...) +
                    __builtin_shufflevector(sums[v], other, lane_of_half<width, segment, 1>(l)...);
            }
        }(std::make_integer_sequence<int, width>());
        store_sums<R, width, columns, (count + 1) / 2, segment / 2>(folded, to);
    }
}

// The products of the columns, transposed or conjugated, with y.
template <class T, int width, int columns, class Fetch>
ESPALIER_INLINE void multiply_columns(ColumnGroup<Real<T>> const& group, Fetch const& fetch, Real<T> const* y,
                                      bool conjugate, T* to) {
    using R = Real<T>;
    using Vector = VectorOf<R, width>;
    if constexpr (width > vector::narrowest<T>)
        if (group.rows < width)
            return multiply_columns<T, narrower<T, width>, columns>(group, fetch, y, conjugate, to);
    Vector sum[columns] = {}, crossed[columns] = {}; // sums of a y, and of a i y
    for_each_vector<width>(group.rows, [&](Index i, Index fresh) ESPALIER_INLINE_LAMBDA {
        Vector numbers, turned;
        load(numbers, y + i);
        keep_fresh<R, width>(numbers, fresh);
        if constexpr (is_complex<T>) {
            turned = numbers;
            vector::times_i<R, width>(turned);
        }
        for (int c = 0; c < columns; ++c) {
            Vector entries;
            load(entries, group.a + c * group.lda + i);
            fetch.template operator()<width, columns>(group, i, c);
            sum[c] += entries * numbers;
            if constexpr (is_complex<T>) crossed[c] += entries * turned;
        }
    });
    if constexpr (is_complex<T>) {
        for (int c = 0; c < columns; ++c) {
            // a y = (ar yr - ai yi) + i (ar yi + ai yr); turned numbers are -yi + i yr.
            R even[2] = {}, odd[2] = {};
            for (int lane = 0; lane < width; lane += 2) {
                even[0] += sum[c][lane];
                odd[0] += sum[c][lane + 1];
                even[1] += crossed[c][lane];
                odd[1] += crossed[c][lane + 1];
            }
            to[c] =
                conjugate ? T(even[0] + odd[0], -odd[1] - even[1]) : T(even[0] - odd[0], odd[1] - even[1]);
        }
    } else if constexpr (width == 1) {
        for (int c = 0; c < columns; ++c) to[c] = sum[c];
    } else {
        store_sums<R, width, columns>(sum, to);
    }
}

template <class T> ESPALIER_INLINE ColumnGroup<Real<T>> group_at(MatrixView<T const> a, Index first_row,
                                                                 Index end_row, Index col) {
    constexpr Index parts = is_complex<T> ? 2 : 1;
    return {parts * (end_row - first_row), reinterpret_cast<Real<T> const*>(a.column(col) + first_row),
            parts * a.ld};
}

} // namespace espalier::column_group
