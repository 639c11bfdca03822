#include "incomplete/row_arrangement.hpp"

#include <algorithm>
#include <numeric>

namespace espalier {

namespace {

constexpr std::int32_t longest_told_apart = 63; ///< Longer rows count as equally long.

std::int32_t clamped_length(std::span<BlockRow const> row) {
    return static_cast<std::int32_t>(std::min<std::size_t>(row.size(), longest_told_apart));
}

} // namespace

void RowArrangement::arrange(std::span<BlockRow> rows, std::uint8_t* begins_depth) {
    if (rows.size() < 2) return;
    std::int32_t const deepest = find_depths(rows);
    sort_by(rows, longest_told_apart, [&](BlockRow i) { return clamped_length(pattern_.upper(i)); });
    sort_by(rows, longest_told_apart, [&](BlockRow i) { return clamped_length(pattern_.lower(i)); });
    sort_by(rows, deepest, [&](BlockRow i) { return depths_[i]; });
    for (std::size_t k = 1; k < rows.size(); ++k) begins_depth[k] = depths_[rows[k]] != depths_[rows[k - 1]];
}

/// Sets depths_: the number of these rows on the longest path to a row. Returns the largest depth.
std::int32_t RowArrangement::find_depths(std::span<BlockRow const> rows) {
    BlockRow const first = rows.front();
    std::int32_t deepest = 0;
    for (BlockRow const row : rows) {
        std::int32_t depth = 0;
        auto const before = dependences_.lower(row);
        for (auto j = before.rbegin(); j != before.rend() && *j >= first; ++j)
            if (aggregate_of_.empty() || aggregate_of_[*j] == aggregate_of_[row])
                depth = std::max(depth, depths_[*j] + 1);
        depths_[row] = depth;
        deepest = std::max(deepest, depth);
    }
    return deepest;
}

/// A stable counting sort by keys in 0 .. largest.
template <class KeyOf>
void RowArrangement::sort_by(std::span<BlockRow> rows, std::int32_t largest, KeyOf const& key_of) {
    place_.assign(largest + 2, 0);
    for (BlockRow const row : rows) ++place_[key_of(row) + 1];
    std::partial_sum(place_.begin(), place_.end(), place_.begin());
    sorted_.resize(rows.size());
    for (BlockRow const row : rows) sorted_[place_[key_of(row)]++] = row;
    std::copy(sorted_.begin(), sorted_.end(), rows.begin());
}

} // namespace espalier
