#include "machine/timing_structure.hpp"

#include <span>

#include <gtest/gtest.h>

#include "symbolic/validate.hpp"

namespace espalier {
namespace {

// The two lattices in three dimensions; the plane follows.
std::span<BlockStructure const> solids(std::vector<BlockStructure> const& structures) {
    return std::span(structures).first(2);
}

TEST(TimingStructure, IsValidAndWithinItsBytes) {
    for (Factorization const kind : {Factorization::llh, Factorization::lu})
        for (double const bytes : {2e6, 20e6}) {
            auto const structures = timing_structures({kind}, sizeof(double), {bytes, 1e12});
            ASSERT_EQ(structures.size(), 3U);
            testing::validate(structures[2]);
            EXPECT_LT(static_cast<double>(panel_bytes(structures[2], {kind}, sizeof(double))), bytes);
            for (BlockStructure const& structure : solids(structures)) {
                testing::validate(structure);
                EXPECT_LT(static_cast<double>(panel_bytes(structure, {kind}, sizeof(double))), 1.2 * bytes);
                EXPECT_GT(static_cast<double>(panel_bytes(structure, {kind}, sizeof(double))), 0.3 * bytes);
            }
        }
}

TEST(TimingStructure, IsWithinItsOperations) {
    for (double const operations : {1e8, 1e9}) {
        auto const structures = timing_structures({Factorization::llh}, sizeof(double), {1e12, operations});
        EXPECT_LT(structures[2].flops, operations);
        for (BlockStructure const& structure : solids(structures)) {
            EXPECT_LT(structure.flops, 2 * operations);
            EXPECT_GT(structure.flops, 0.3 * operations);
        }
    }
}

TEST(TimingStructure, HasWideAndNarrowColumnBlocks) {
    auto const structures = timing_structures({Factorization::llh}, sizeof(double), {60e6, 1e12});
    for (BlockStructure const& structure : solids(structures)) {
        Index widest = 0, narrowest = 256;
        for (Cblk const& cblk : structure.cblks) {
            widest = std::max(widest, cblk.width());
            narrowest = std::min(narrowest, cblk.width());
        }
        EXPECT_GT(widest, 200);
        EXPECT_LT(narrowest, 20);
    }
}

TEST(TimingStructure, HasNarrowColumnBlocksWithFewRows) {
    auto const mean_rows = [](BlockStructure const& structure) {
        Index rows = 0, count = 0;
        for (Cblk const& cblk : structure.cblks)
            if (cblk.width() < 32) rows += cblk.rows_below(), ++count;
        return static_cast<double>(rows) / static_cast<double>(count);
    };
    auto const structures = timing_structures({Factorization::llh}, sizeof(double), {60e6, 1e12});
    for (BlockStructure const& structure : solids(structures))
        EXPECT_LT(mean_rows(structures[2]), 0.75 * mean_rows(structure));
}

} // namespace
} // namespace espalier
