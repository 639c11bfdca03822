// Arithmetic without denormal numbers, which are below the normal range of a precision. Numbers may decay
// that far along a factorization, and x86 processors take about a hundred times as long for operations with
// them.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace espalier {

/// While it exists, operations of the thread that made it read denormal numbers as zeros and return zeros in
/// their place, if `flushes` is set. Afterwards, the thread treats them as before. Has no effect on
/// processors other than x86-64.
class FlushDenormals {
  public:
    explicit FlushDenormals([[maybe_unused]] bool flushes) {
#if defined(__x86_64__)
        before_ = _mm_getcsr();
        if (flushes) _mm_setcsr(before_ | modes);
#endif
    }
    ~FlushDenormals() {
#if defined(__x86_64__)
        _mm_setcsr((_mm_getcsr() & ~modes) | (before_ & modes)); // keeps the flags of exceptions
#endif
    }
    FlushDenormals(FlushDenormals const&) = delete;
    FlushDenormals& operator=(FlushDenormals const&) = delete;

  private:
    static constexpr std::uint32_t modes = 1u << 15 | 1u << 6; // FTZ and DAZ
    std::uint32_t before_ = 0;
};

} // namespace espalier
