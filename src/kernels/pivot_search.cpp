// The first pass computes the largest size with vector instructions, the second finds the first entry of that
// size.
#include "kernels/pivot_search.hpp"

#include "kernels/instruction_set.hpp"
#include "kernels/vector.hpp"

namespace espalier {

namespace {

// Sizes of the entries in a vector; both parts of a complex number get its size.
template <class T, int width> ESPALIER_INLINE void to_sizes(vector::VectorOf<Real<T>, width>& x) {
    x = x < 0 ? -x : x;
    if constexpr (is_complex<T>)
        [&]<int... lane>(std::integer_sequence<int, lane...>) ESPALIER_INLINE_LAMBDA {
            x += __builtin_shufflevector(x, x, (lane ^ 1)...);
        }
    (std::make_integer_sequence<int, width>());
}

// The largest size among x[0 .. n), where n >= 1 is a multiple of the entries in a vector.
template <class T, int width> ESPALIER_INLINE Real<T> largest_size(T const* x, Index n) {
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

template <class T> Real<T> largest_baseline(T const* x, Index n) {
    return largest_size<T, vector::lanes<T, 16>>(x, n);
}
#if defined(__x86_64__)
template <class T> ESPALIER_AVX2 Real<T> largest_avx2(T const* x, Index n) {
    return largest_size<T, vector::lanes<T, 32>>(x, n);
}
template <class T> ESPALIER_AVX512 Real<T> largest_avx512(T const* x, Index n) {
    return largest_size<T, vector::lanes<T, 64>>(x, n);
}
#endif

} // namespace

template <class T> LargestEntry<T> largest_entry(T const* x, Index n) {
    constexpr Index whole = 64 / static_cast<Index>(sizeof(T)); // entries in a vector of any set
    Index const in_vectors = n / whole * whole;
    Real<T> value = 0;
    if (in_vectors > 0) {
#if defined(__x86_64__)
        switch (widest_instruction_set()) {
        case InstructionSet::avx512:
            value = largest_avx512(x, in_vectors);
            break;
        case InstructionSet::avx2:
            value = largest_avx2(x, in_vectors);
            break;
        case InstructionSet::baseline:
            value = largest_baseline(x, in_vectors);
            break;
        }
#else
        value = largest_baseline(x, in_vectors);
#endif
    }
    for (Index i = in_vectors; i < n; ++i) value = std::max(value, abs1(x[i])); // max(v, NaN) is v
    if (!(value > 0)) return {};
    for (Index i = 0; i < n; ++i)
        if (abs1(x[i]) == value) return {i, value};
    return {};
}

#define ESPALIER_INSTANTIATE(T) template LargestEntry<T> largest_entry<T>(T const*, Index);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
