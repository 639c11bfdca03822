// The first pass computes the largest size with vector instructions, the second finds its first entry.
#include "kernels/pivot_search.hpp"

#include <algorithm>
#include <utility>

#include "kernels/vector.hpp"

namespace espalier {

namespace {

// Sizes of the entries in a vector; both parts of a complex number get its size.
template <class T, int width> ESPALIER_INLINE void to_sizes(vector::VectorOf<Real<T>, width>& x) {
    x = x < 0 ? -x : x;
    if constexpr (is_complex<T>)
        [&]<int... lane>(std::integer_sequence<int, lane...>) ESPALIER_INLINE_LAMBDA {
            x += __builtin_shufflevector(x, x, (lane ^ 1)...);
        }(std::make_integer_sequence<int, width>());
}

// The largest size among x[0 .. n), where n >= 1 is a multiple of the entries in a vector.
template <class T, int width> ESPALIER_INLINE Real<T> largest_in_vectors(T const* x, Index n) {
    using R = Real<T>;
    using Vector = vector::VectorOf<R, width>;
    Vector largest = {};
    R const* const reals = reinterpret_cast<R const*>(x);
    for (Index i = 0; i < n * vector::narrowest<T>; i += width) {
        Vector sizes;
        vector::load(sizes, reals + i);
        to_sizes<T, width>(sizes);
        largest = sizes > largest ? sizes : largest;
    }
    R result = 0;
    for (int lane = 0; lane < width; ++lane) result = std::max(result, largest[lane]);
    return result;
}

// The largest size among vectors that were added. For real numbers, the largest and the smallest one are
// found without sizes, which takes fewer instructions.
template <class T, int width> struct LargestOfVectors {
    using Vector = vector::VectorOf<Real<T>, width>;
    Vector largest = {}, smallest = {};
    ESPALIER_INLINE void add(Vector& x) { // may change x
        if constexpr (is_complex<T>)
            to_sizes<T, width>(x);
        else
            smallest = x < smallest ? x : smallest;
        largest = x > largest ? x : largest;
    }
    [[nodiscard]] ESPALIER_INLINE Real<T> result() const {
        Real<T> size = 0;
        for (int lane = 0; lane < width; ++lane) size = std::max({size, largest[lane], -smallest[lane]});
        return size;
    }
};

// Returns the largest size in the first n rows of a block. Vectors have `width` numbers.
template <class T, int width>
ESPALIER_INLINE Real<T> largest_in_columns(MatrixView<T const> const& block, Index n) {
    using R = Real<T>;
    using Vector = vector::VectorOf<R, width>;
    LargestOfVectors<T, width> largest[4];
    for (Index j = 0; j < block.cols; ++j) {
        R const* const reals = reinterpret_cast<R const*>(block.column(j));
        Index const end = n * vector::narrowest<T>;
        Index i = 0;
        for (; i + 4 * width <= end; i += 4 * width)
            for (int part = 0; part < 4; ++part) {
                Vector x;
                vector::load(x, reals + i + part * width);
                largest[part].add(x);
            }
        for (; i < end; i += width) {
            Vector x;
            vector::load(x, reals + i);
            largest[0].add(x);
        }
    }
    return std::max({largest[0].result(), largest[1].result(), largest[2].result(), largest[3].result()});
}

template <class T> struct LargestInColumns {
    template <int bytes> ESPALIER_INLINE static Real<T> run(MatrixView<T const> const& block, Index n) {
        return largest_in_columns<T, vector::lanes<T, bytes>>(block, n);
    }
};

template <class T> struct LargestSize {
    template <int bytes> ESPALIER_INLINE static Real<T> run(T const* x, Index n) {
        return largest_in_vectors<T, vector::lanes<T, bytes>>(x, n);
    }
};

} // namespace

template <class T> Real<T> largest_size(T const* x, Index n) {
    constexpr Index whole = 64 / static_cast<Index>(sizeof(T)); // entries in a vector of any set
    Index const in_vectors = n / whole * whole;
    Real<T> value = 0;
    if (in_vectors > 0) value = vector::run_with<LargestSize<T>>(widest_instruction_set(), x, in_vectors);
    for (Index i = in_vectors; i < n; ++i) value = std::max(value, abs1(x[i])); // max(v, NaN) is v
    return value;
}

template <class T> Real<T> largest_size_in(MatrixView<T const> block) {
    constexpr Index whole = 64 / static_cast<Index>(sizeof(T)); // entries in a vector of any set
    Index const in_vectors = block.rows / whole * whole;
    Real<T> value = 0;
    if (in_vectors > 0)
        value = vector::run_with<LargestInColumns<T>>(widest_instruction_set(), block, in_vectors);
    for (Index j = 0; j < block.cols; ++j)
        for (Index i = in_vectors; i < block.rows; ++i) value = std::max(value, abs1(block(i, j)));
    return value;
}

template <class T> LargestEntry<T> largest_entry(T const* x, Index n) {
    Real<T> const value = largest_size(x, n);
    if (!(value > 0)) return {};
    for (Index i = 0; i < n; ++i)
        if (abs1(x[i]) == value) return {i, value};
    return {};
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template LargestEntry<T> largest_entry<T>(T const*, Index);                                              \
    template Real<T> largest_size<T>(T const*, Index);                                                       \
    template Real<T> largest_size_in<T>(MatrixView<T const>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
