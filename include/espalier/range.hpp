// A half-open range of indices for range-based loops.
#pragma once

#include "espalier/types.hpp"

namespace espalier {

/// The indices first .. last - 1 in ascending order; first <= last.
struct IndexRange {
    /// A forward iterator over the indices.
    struct Iterator {
        Index index;                                        ///< The current index.
        constexpr Index operator*() const { return index; } ///< The current index.
        /// Advances to the next index.
        constexpr Iterator& operator++() {
            ++index;
            return *this;
        }
        constexpr bool operator==(Iterator const&) const = default; ///< Whether both are at the same index.
    };

    Index first = 0; ///< First index.
    Index last = 0;  ///< One past the last index.

    [[nodiscard]] constexpr Iterator begin() const { return {first}; }   ///< For range-based loops.
    [[nodiscard]] constexpr Iterator end() const { return {last}; }      ///< For range-based loops.
    [[nodiscard]] constexpr Index size() const { return last - first; }  ///< Number of indices.
    [[nodiscard]] constexpr bool empty() const { return first == last; } ///< Whether there is no index.
    constexpr bool operator==(IndexRange const&) const = default;        ///< Whether both ends agree.
};

} // namespace espalier
