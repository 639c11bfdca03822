// The limit of 32-bit numbers of column blocks, groups of rows and tasks. Unlike the integers of other
// libraries (checked_cast), they depend on settings that the user may change.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

#include "espalier/types.hpp"

namespace espalier {

/// The largest number of them. Tests lower it, because they cannot reach it otherwise.
inline std::atomic<std::int32_t> most_ids{std::numeric_limits<std::int32_t>::max()};

/// Throws Error{unsupported}: `count` `things` exceed the limit. `remedy` says how to get fewer.
[[noreturn]] void reject_count(std::int64_t count, char const* things, char const* remedy);

/// Converts the number of `things` (a plural noun) to 32 bits. Error{unsupported} as reject_count().
inline std::int32_t checked_count(std::integral auto count, char const* things, char const* remedy) {
    if (!(std::cmp_less_equal(count, most_ids.load(std::memory_order_relaxed))))
        reject_count(static_cast<std::int64_t>(count), things, remedy);
    return static_cast<std::int32_t>(count);
}

inline std::int32_t checked_column_blocks(std::integral auto count) {
    return checked_count(count, "column blocks", "increase max-block-width");
}
inline std::int32_t checked_tasks(std::integral auto count) {
    return checked_count(count, "tasks", "increase max-block-width");
}
inline std::int32_t checked_row_groups(std::integral auto count) {
    return checked_count(count, "groups of rows", "increase split-rows");
}

} // namespace espalier
