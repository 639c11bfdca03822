#include "symbolic/split.hpp"

#include <gtest/gtest.h>

#include "symbolic/prepared.hpp"

namespace espalier {
namespace {

std::vector<Index> widths_of(Pieces const& pieces, SupernodeId s) {
    std::vector<Index> widths;
    Index previous = 0;
    for (Index end : pieces.of(s)) {
        widths.push_back(end - previous);
        previous = end;
    }
    return widths;
}

TEST(Split, KeepsWidthsWithinBoundsForEveryWidth) {
    for (auto const& [least, most] :
         {std::pair<Index, Index>{1, 1}, {4, 8}, {4, 7}, {16, 37}, {7, 8}, {5, 5}}) {
        PieceWidths const bounds{least, most};
        for (Index width = 1; width < 120; ++width) {
            Supernodes one;
            one.parent = {no_supernode};
            one.width = {width};
            auto const widths = widths_of(split_supernodes(one, RowRuns{{0, 0}, {}}, {bounds}), 0);
            EXPECT_EQ(std::accumulate(widths.begin(), widths.end(), Index{0}), width);
            for (Index w : widths) {
                EXPECT_GE(w, std::min(least, width));
                if (most >= 2 * least - 1) {
                    EXPECT_LE(w, most);
                }
            }
        }
    }
}

TEST(Split, CutsWhereNoFacingRunIsCut) {
    Supernodes s;
    s.parent = {1, no_supernode};
    s.width = {1, 64};
    RowRuns const runs{{0, 3, 3}, {{1, 0, 30}, {1, 30, 35}, {1, 36, 64}}};
    PieceWidths const bounds{16, 40};
    auto const pieces = split_supernodes(s, runs, {bounds, bounds});
    EXPECT_EQ(widths_of(pieces, 1), (std::vector<Index>{30, 34}));
    EXPECT_EQ(pieces.piece_of(1, 29), 0);
    EXPECT_EQ(pieces.piece_of(1, 30), 1);
}

TEST(Split, PrefersMultiplesOf16) {
    Supernodes s;
    s.parent = {no_supernode};
    s.width = {300};
    EXPECT_EQ(widths_of(split_supernodes(s, RowRuns{{0, 0}, {}}, {PieceWidths{}}), 0),
              (std::vector<Index>{144, 156}));
}

} // namespace
} // namespace espalier
