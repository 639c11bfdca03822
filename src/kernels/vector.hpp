// Vector types of the compiler, and building blocks of code for several instruction sets. Such code consists
// of always inlined templates, which are called only from one function per instruction set, marked with its
// target.
#pragma once

#include <cstring>
#include <utility>

#include "core/scalar.hpp"
#include "kernels/instruction_set.hpp"

#define ESPALIER_INLINE [[gnu::always_inline]] inline
#define ESPALIER_INLINE_LAMBDA __attribute__((always_inline))

// Enables fused multiply-adds, which GCC does not use in strict ISO mode.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast")
#endif

namespace espalier::vector {

/// Number of reals in the smallest vector; a complex number is never split.
template <class T> inline constexpr int narrowest = is_complex<T> ? 2 : 1;

/// Number of reals of T in a vector of `bytes` bytes.
template <class T, int bytes> inline constexpr int lanes = bytes / static_cast<int>(sizeof(Real<T>));

/// Whether vectors of `bytes` bytes are only for old processors, without AVX2. These get fewer kernels, which
/// saves compile time.
#if defined(__x86_64__)
template <int bytes> inline constexpr bool is_fallback = bytes == 16;
#else
template <int bytes> inline constexpr bool is_fallback = false;
#endif

template <class R, int width> struct VectorType {
    typedef R type __attribute__((vector_size(width * sizeof(R))));
};
template <class R> struct VectorType<R, 1> {
    using type = R;
};
template <class R, int width> using VectorOf = typename VectorType<R, width>::type;

template <class Vector, class R> ESPALIER_INLINE void load(Vector& to, R const* from) {
    std::memcpy(&to, from, sizeof(Vector));
}
template <class Vector, class R> ESPALIER_INLINE void store(Vector const& from, R* to) {
    std::memcpy(to, &from, sizeof(Vector));
}

/// Makes the compiler keep a vector of AVX-512 in a register. GCC would read it from memory again for each
/// use, and there are fewer loads than multiplications in a cycle. Other instruction sets have too few
/// registers.
template <class Vector> ESPALIER_INLINE void keep_in_register([[maybe_unused]] Vector& x) {
#if defined(__GNUC__) && defined(__x86_64__)
    if constexpr (sizeof(Vector) == 64) asm("" : "+v"(x));
#endif
}

/// First row of vector v among the `vectors` vectors for rows [i, end). The last one ends at `end`.
template <int width, int vectors> ESPALIER_INLINE Index row_of(int v, Index i, Index end) {
    return v == vectors - 1 ? end - width : i + v * width;
}

/// Interleaved complex numbers times i: (x0, x1, x2, x3, ...) becomes (-x1, x0, -x3, x2, ...).
template <class R, int width> ESPALIER_INLINE void times_i(VectorOf<R, width>& x) {
    [&]<int... lane>(std::integer_sequence<int, lane...>) ESPALIER_INLINE_LAMBDA {
        VectorOf<R, width> const sign = {(lane % 2 ? R(1) : R(-1))...};
        x = __builtin_shufflevector(x, x, (lane ^ 1)...) * sign;
    }(std::make_integer_sequence<int, width>());
}

// Body::run<bytes>() of vectors of `bytes` bytes, inlined into one function for each instruction set.
template <class Body, class... Args> auto run_baseline(Args const&... args) {
    return Body::template run<16>(args...);
}
#if defined(__x86_64__) && ESPALIER_VECTOR_BITS >= 256
template <class Body, class... Args> [[gnu::target("avx2,fma")]] auto run_avx2(Args const&... args) {
    return Body::template run<32>(args...);
}
#if ESPALIER_VECTOR_BITS >= 512
template <class Body, class... Args>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma")]] auto run_avx512(Args const&... args) {
    return Body::template run<64>(args...);
}
#endif
#endif

/// Calls Body::run<bytes>(args...) compiled for these instructions, which the processor must support.
template <class Body, class... Args>
auto run_with([[maybe_unused]] InstructionSet instructions, Args const&... args) {
#if defined(__x86_64__) && ESPALIER_VECTOR_BITS >= 256
#if ESPALIER_VECTOR_BITS >= 512
    if (instructions == InstructionSet::avx512) return run_avx512<Body>(args...);
#endif
    if (instructions == InstructionSet::avx2) return run_avx2<Body>(args...);
#endif
    return run_baseline<Body>(args...);
}

} // namespace espalier::vector
