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

void RowArrangement::arrange(std::span<BlockRow const> rows, BlockRow* arranged, std::uint8_t* begins_depth) {
    if (rows.size() < 2) {
        std::ranges::copy(rows, arranged);
        return;
    }
    auto const bounds = find_keys(rows);
    std::int64_t const lengths = std::int64_t(bounds.lower_lengths) * bounds.upper_lengths;
    auto const length_of = [&](Key const& key) {
        return key.lower_length * bounds.upper_lengths + key.upper_length;
    };
    if (bounds.depths * lengths <= std::ssize(rows)) {
        sort_by(rows, arranged, bounds.depths * lengths,
                [&](Key const& key) { return key.depth * lengths + length_of(key); });
    } else { // fewer counters if the sort has two steps
        sorted_.resize(rows.size());
        sort_by(rows, sorted_.data(), lengths, length_of);
        sort_by(sorted_, arranged, bounds.depths, [](Key const& key) { return key.depth; });
    }
    for (std::size_t k = 1; k < rows.size(); ++k) begins_depth[k] = keys_[k].depth != keys_[k - 1].depth;
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

/// A stable counting sort of the rows and of keys_ by value_of(key), which is in 0 .. values - 1.
template <class ValueOf> void RowArrangement::sort_by(std::span<BlockRow const> rows, BlockRow* sorted,
                                                      std::int64_t values, ValueOf const& value_of) {
    place_.assign(values + 1, 0);
    for (Key const& key : keys_) ++place_[value_of(key) + 1];
    std::partial_sum(place_.begin(), place_.end(), place_.begin());
    sorted_keys_.resize(rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        std::int32_t const to = place_[value_of(keys_[k])]++;
        sorted[to] = rows[k];
        sorted_keys_[to] = keys_[k];
    }
    keys_.swap(sorted_keys_);
}

} // namespace espalier
