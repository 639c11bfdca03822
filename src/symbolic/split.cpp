#include "symbolic/split.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <tuple>

namespace espalier {

namespace {

Index num_pieces(Index width, PieceWidths const& bounds) {
    Index const wanted = (width + bounds.most - 1) / bounds.most;
    return std::clamp<Index>(wanted, 1, std::max<Index>(1, width / bounds.least));
}

// For the supernodes that will be split, the number of runs that a cut before each column divides.
class CutCounts {
  public:
    CutCounts(Supernodes const& supernodes, RowRuns const& runs, std::vector<PieceWidths> const& widths)
        : offset_(supernodes.parent.size(), -1) {
        Offset total = 0;
        for (SupernodeId s = 0; s < supernodes.size(); ++s)
            if (num_pieces(supernodes.width[s], widths[s]) > 1) {
                offset_[s] = total;
                total += supernodes.width[s] + 1;
            }
        counts_.assign(total, 0);
        for (FacingRun const& run : runs.runs)
            if (Offset const at = offset_[run.facing]; at >= 0) {
                ++counts_[at + run.begin + 1];
                --counts_[at + run.end];
            }
        for (SupernodeId s = 0; s < supernodes.size(); ++s)
            if (Offset const at = offset_[s]; at >= 0)
                std::partial_sum(counts_.begin() + at, counts_.begin() + at + supernodes.width[s] + 1,
                                 counts_.begin() + at);
    }
    /// Entry col is the number of runs that a cut before column col divides.
    [[nodiscard]] std::int32_t const* of(SupernodeId s) const { return counts_.data() + offset_[s]; }

  private:
    std::vector<Offset> offset_;
    std::vector<std::int32_t> counts_;
};

// The best cut in [low, high]: it divides the fewest runs; then the width of the piece is a multiple of 16,
// or of 8; then it is nearest to the even cut.
Index best_cut(Index previous, Index even, Index low, Index high, std::int32_t const* cut_runs) {
    auto const misalignment = [&](Index col) {
        Index const width = col - previous;
        return width % 16 == 0 ? 0 : width % 8 == 0 ? 1 : 2;
    };
    Index best = low;
    auto best_rank = std::tuple{std::numeric_limits<std::int32_t>::max(), 0, Index{0}};
    for (Index col = low; col <= high; ++col) {
        auto const rank = std::tuple{cut_runs[col], misalignment(col), std::abs(col - even)};
        if (rank < best_rank) {
            best_rank = rank;
            best = col;
        }
    }
    return best;
}

void append_cuts(Index width, Index pieces, PieceWidths const& bounds, std::int32_t const* cut_runs,
                 std::vector<Index>& ends) {
    Index const slack = width / pieces / 8; // more slack brings no gain
    Index const widest = std::max(bounds.most, (width + pieces - 1) / pieces);
    Index previous = 0;
    for (Index left = pieces; left > 1; --left) {
        // The remaining columns must fit the bounds of the remaining pieces.
        Index const even = previous + (width - previous + left / 2) / left;
        Index const lowest = std::max(previous + bounds.least, width - (left - 1) * widest);
        Index const highest = std::min(previous + widest, width - (left - 1) * bounds.least);
        previous = best_cut(previous, even, std::max(lowest, even - slack), std::min(highest, even + slack),
                            cut_runs);
        ends.push_back(previous);
    }
    ends.push_back(width);
}

} // namespace

std::int32_t Pieces::piece_of(SupernodeId s, Index col) const {
    auto const pieces = of(s);
    return static_cast<std::int32_t>(std::upper_bound(pieces.begin(), pieces.end(), col) - pieces.begin());
}

Pieces split_supernodes(Supernodes const& supernodes, RowRuns const& runs,
                        std::vector<PieceWidths> const& widths) {
    CutCounts const cut_counts(supernodes, runs, widths);
    Pieces result;
    for (SupernodeId s = 0; s < supernodes.size(); ++s) {
        Index const width = supernodes.width[s];
        if (Index const pieces = num_pieces(width, widths[s]); pieces > 1)
            append_cuts(width, pieces, widths[s], cut_counts.of(s), result.ends);
        else
            result.ends.push_back(width);
        result.ptr.push_back(std::ssize(result.ends));
    }
    return result;
}

} // namespace espalier
