#include "symbolic/piece_widths.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "symbolic/prepared.hpp"

namespace espalier {
namespace {

// A root with 2000 columns above two subtrees of one supernode each, of 4:1 work.
Supernodes two_children() {
    Supernodes s;
    s.parent = {2, 2, no_supernode};
    s.width = {1000, 250, 2000};
    s.below = {2000, 2000, 0};
    return s;
}

TEST(PieceWidths, AreWideForOneWorker) {
    EXPECT_EQ(widths_for_workers(two_children(), 1), uniform_widths(two_children(), PieceWidths{}));
}

TEST(PieceWidths, GetNarrowerTowardsTheRootAndWithMoreWorkers) {
    std::vector<PieceWidths> before = widths_for_workers(two_children(), 1);
    for (int const workers : {2, 4, 8, 64, 4096}) {
        auto const widths = widths_for_workers(two_children(), workers);
        for (std::size_t s = 0; s < widths.size(); ++s) {
            EXPECT_LE(widths[s].most, before[s].most);
            EXPECT_GE(widths[s].most, narrowest_piece);
            EXPECT_EQ(widths[s].least, widths[s].most / 2);
        }
        EXPECT_LE(widths[2].most, widths[0].most);
        EXPECT_LE(widths[0].most, widths[1].most);
        before = widths;
    }
    EXPECT_EQ(before, uniform_widths(two_children(), {narrowest_piece / 2, narrowest_piece}));
}

TEST(PieceWidths, EachSupernodeIsSplitWithinItsBounds) {
    Graph const graph = testing::grid(12, 12, 4);
    auto const ordering = testing::nested_dissection(12, 12, 4);
    auto const whole = find_supernodes(uncompressed(graph), ordering, {});
    std::vector<PieceWidths> widths;
    for (SupernodeId s = 0; s < whole.supernodes.size(); ++s)
        widths.push_back(s % 2 == 0 ? PieceWidths{4, 8} : PieceWidths{1'000, 1'000});
    auto const structure = split_structure(whole, widths);
    testing::validate(structure);
    std::vector<Index> widest(whole.supernodes.size(), 0);
    for (Cblk const& cblk : structure.cblks) // the pieces of a supernode have its old rows
        for (SupernodeId s = 0, row = 0; s < whole.supernodes.size(); ++s)
            for (Index i = 0; i < whole.supernodes.width[s]; ++i, ++row)
                if (whole.rows[row] == structure.inverse[cblk.first_col])
                    widest[s] = std::max(widest[s], cblk.width());
    for (SupernodeId s = 0; s < whole.supernodes.size(); ++s) {
        Index const width = whole.supernodes.width[s];
        EXPECT_EQ(widest[s] == width, s % 2 == 1 || width <= 8) << width;
        if (s % 2 == 0) {
            EXPECT_LE(widest[s], 8);
        }
    }
}

TEST(PieceWidths, SplittingAgainIsTheFactorizationWithTheseWidths) {
    Graph const graph = testing::grid(9, 9, 9);
    auto const ordering = testing::nested_dissection(9, 9, 9);
    auto const whole = find_supernodes(uncompressed(graph), ordering, {});
    for (Index const most : {256, 16, 8}) {
        SymbolicOptions options{.max_width = most, .min_width = most / 2};
        auto const wanted = symbolic_factorization(uncompressed(graph), ordering, options);
        auto const found = split_structure(whole, uniform_widths(whole.supernodes, {most / 2, most}));
        EXPECT_EQ(found.perm, wanted.perm);
        EXPECT_EQ(found.num_cblks(), wanted.num_cblks());
        EXPECT_EQ(found.num_bloks(), wanted.num_bloks());
        EXPECT_EQ(found.nnz_factor, wanted.nnz_factor);
    }
}

} // namespace
} // namespace espalier
