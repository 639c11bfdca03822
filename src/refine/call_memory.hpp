// The number of vectors that a call allocates. It predicts the memory of the call (Options::max_memory).
#pragma once

#include <algorithm>
#include <cstdint>

#include "espalier/types.hpp"

namespace espalier {

/// The facts about a solver that determine which copies of vectors a call makes: whether there is one
/// process, whether the owners have other rows than the caller (SystemVectors::is_in_place), and whether the
/// working system is scaled.
struct VectorLayout {
    bool is_alone = true;
    bool is_moved = false;
    bool is_scaled = false;
};

struct CallMemory {
    Index whole = 0;         ///< Columns of all rows, on process 0.
    Index own = 0;           ///< Columns of owned rows in the precision of the system.
    Index low = 0;           ///< Columns of owned rows in lower precision, if the factors have it.
    Index swept = 0;         ///< Columns that pass through the factors together.
    std::uint64_t bytes = 0; ///< Further bytes, on process 0.
};

/// A block of right-hand sides, its solutions, and their conversion to owned rows.
inline CallMemory memory_of_solve(VectorLayout layout, Index columns) {
    return {2 * columns, (layout.is_moved ? columns : 0) + (layout.is_alone ? 0 : columns), columns, columns};
}

/// A refinement of these solutions. The method stores `vectors` vectors for each of `at_once` columns.
inline CallMemory memory_of_refinement(VectorLayout layout, Index columns, Index at_once, Index vectors) {
    Index const moved = layout.is_moved ? 2 : 0, sent = layout.is_alone ? 0 : 1,
                scaled = layout.is_scaled ? 2 : 0;
    Index const together = std::min(columns, at_once);
    return {2 * columns, (moved + sent + scaled) * columns + vectors * together, together, together};
}

/// The most vectors of owned rows that a condition estimate stores, without its error bounds.
constexpr Index vectors_of_condition = 30;

/// Condition estimates, with error bounds of `at_once` solutions.
inline CallMemory memory_of_condition(Index at_once) {
    return {0, 20 * at_once + vectors_of_condition, 4 * at_once, 4 * at_once};
}

inline CallMemory operator+(CallMemory a, CallMemory b) {
    return {a.whole + b.whole, a.own + b.own, std::max(a.low, b.low), std::max(a.swept, b.swept),
            a.bytes + b.bytes};
}

} // namespace espalier
