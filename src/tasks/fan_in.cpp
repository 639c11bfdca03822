#include "tasks/fan_in.hpp"

#include <algorithm>

namespace espalier {

double PanelFormat::bytes(Index rows, Index rows_below, Index width) const {
    Index const upper = has_upper ? rows_below : 0;
    return static_cast<double>(rows + upper) * static_cast<double>(width) * scalar_bytes;
}

Index FanInBlocks::count_within(FanInBlock const& block, Index begin, Index end) const {
    Index count = 0;
    for (BlockRows const& run : rows_of(block))
        count += std::max<Index>(0, std::min(end, run.end) - std::max(begin, run.begin));
    return count;
}

void BlockRowsUnion::add(BlockStructure const& structure, BlokId first, BlokId end) {
    for (BlokId b = first; b < end; ++b) {
        Blok const& blok = structure.bloks[b];
        if (!intervals_.empty() && intervals_.back().end == blok.first_row)
            intervals_.back().end = blok.end_row;
        else
            intervals_.push_back({blok.first_row, blok.end_row});
    }
}

void BlockRowsUnion::finish(BlockStructure const& structure, FanInBlock& block,
                            std::vector<BlockRows>& rows) {
    std::sort(intervals_.begin(), intervals_.end(),
              [](Interval const& a, Interval const& b) { return a.begin < b.begin; });
    Cblk const& target = structure.cblks[block.target];
    block.rows = 0;
    block.first_rows = block.end_rows = static_cast<Offset>(rows.size());
    auto const take = [&](Index begin, Index end) { // rows of the panel
        if (block.end_rows > block.first_rows && rows.back().end == begin) {
            rows.back().end = end;
        } else {
            rows.push_back({begin, end, block.rows});
            ++block.end_rows;
        }
        block.rows += end - begin;
    };
    auto const bloks = structure.bloks.begin();
    auto at = bloks + target.first_blok;
    auto const end = bloks + target.end_blok;
    Index done = 0; // rows of the matrix before this one are taken
    for (Interval const& interval : intervals_)
        for (Index row = std::max(done, interval.begin); row < interval.end;) {
            at = std::partition_point(at, end, [&](Blok const& b) { return b.end_row <= row; });
            Index const to = std::min(interval.end, at->end_row);
            take(at->panel_row + (row - at->first_row), at->panel_row + (to - at->first_row));
            row = done = to;
        }
    block.rows_below = 0;
    for (Offset r = block.first_rows; r < block.end_rows; ++r) {
        BlockRows const& run = rows[r];
        block.rows_below += std::max<Index>(0, run.end - std::max(run.begin, target.width()));
    }
    intervals_.clear();
}

} // namespace espalier
