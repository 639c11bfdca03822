// Sums of runs of entries in the vectors of a sweep, which may be short.
#pragma once

#include "espalier/types.hpp"
#include "kernels/level2.hpp"

namespace espalier {

/// Runs of at least this many entries are worth the call of a kernel.
inline constexpr Index long_run = 32;
/// to -= from.
template <class T> void subtract_run(T const* from, T* to, Index count) {
    if (count >= long_run) return subtract_entries<T>(from, to, count);
    for (Index i = 0; i < count; ++i) to[i] -= from[i];
}
/// to += from.
template <class T> void add_run(T const* from, T* to, Index count) {
    if (count >= long_run) return add_entries<T>(from, to, count);
    for (Index i = 0; i < count; ++i) to[i] += from[i];
}

} // namespace espalier
