#include "incomplete/row_arrangement.hpp"

#include <algorithm>
#include <numeric>

namespace espalier {

namespace {

constexpr std::size_t longest_told_apart = 63; ///< Longer rows count as equally long.

std::uint8_t clamped_length(std::span<BlockRow const> row) {
    return static_cast<std::uint8_t>(std::min(row.size(), longest_told_apart));
}

} // namespace

void RowArrangement::arrange(std::span<BlockRow const> rows, BlockRow first, ArrangedRows const& to) {
    auto const put = [&](BlockRow row, std::int32_t place) {
        to.row_at[first + place] = row;
        to.position_of[row] = first + place;
    };
    std::uint8_t* const begins_depth = to.begins_depth + first;
    if (keeps_order_) {
        for (std::size_t k = 0; k < rows.size(); ++k) put(rows[k], static_cast<std::int32_t>(k));
        std::fill_n(begins_depth, rows.size(), 1);
        return;
    }
    auto const bounds = find_keys(rows);
    std::int64_t const lengths = std::int64_t(bounds.lower_lengths) * bounds.upper_lengths;
    auto const length_of = [&](Key const& key) {
        return key.lower_length * bounds.upper_lengths + key.upper_length;
    };
    std::int64_t values_of_depth = 1;
    if (bounds.depths * lengths <= std::ssize(rows)) {
        values_of_depth = lengths;
        sort_by(
            bounds.depths * lengths, [&](Key const& key) { return key.depth * lengths + length_of(key); },
            [&](std::size_t k, std::int32_t place) { put(rows[k], place); });
    } else { // fewer counters if the sort has two steps
        sorted_.resize(rows.size());
        sorted_keys_.resize(rows.size());
        sort_by(lengths, length_of, [&](std::size_t k, std::int32_t place) {
            sorted_[place] = rows[k];
            sorted_keys_[place] = keys_[k];
        });
        keys_.swap(sorted_keys_);
        sort_by(
            bounds.depths, [](Key const& key) { return key.depth; },
            [&](std::size_t k, std::int32_t place) { put(sorted_[k], place); });
    }
    std::fill_n(begins_depth, rows.size(), 0);
    for (std::int32_t depth = 0; depth < bounds.depths; ++depth) // every depth has rows
        begins_depth[depth > 0 ? ends_[depth * values_of_depth - 1] : 0] = 1;
}

/// Sets keys_. The depth of a row is the number of these rows on the longest path to it.
RowArrangement::KeyBounds RowArrangement::find_keys(std::span<BlockRow const> rows) {
    BlockRow const first = rows.front();
    KeyBounds bounds;
    keys_.resize(rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        BlockRow const row = rows[k];
        std::int32_t depth = 0;
        auto const before = dependences_.lower(row);
        for (auto j = before.rbegin(); j != before.rend() && *j >= first; ++j)
            if (aggregate_of_.empty() || aggregate_of_[*j] == aggregate_of_[row])
                depth = std::max(depth, depths_[*j] + 1);
        depths_[row] = depth;
        Key const key{depth, clamped_length(pattern_.lower(row)), clamped_length(pattern_.upper(row))};
        bounds.depths = std::max(bounds.depths, depth + 1);
        bounds.lower_lengths = std::max(bounds.lower_lengths, key.lower_length + 1);
        bounds.upper_lengths = std::max(bounds.upper_lengths, key.upper_length + 1);
        keys_[k] = key;
    }
    return bounds;
}

/// A stable counting sort by value_of(key), which is in 0 .. values - 1. Calls put(k, place of row k).
/// Afterwards ends_[v] is the end of the rows with values up to v.
template <class ValueOf, class Put>
void RowArrangement::sort_by(std::int64_t values, ValueOf const& value_of, Put const& put) {
    ends_.assign(values + 1, 0);
    for (Key const& key : keys_) ++ends_[value_of(key) + 1];
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
    for (std::size_t k = 0; k < keys_.size(); ++k) put(k, ends_[value_of(keys_[k])]++);
}

} // namespace espalier
