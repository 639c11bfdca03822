#include "machine/timing_structure.hpp"

#include <gtest/gtest.h>

#include "symbolic/validate.hpp"

namespace espalier {
namespace {

TEST(TimingStructure, IsValidAndWithinItsBytes) {
    for (Factorization const kind : {Factorization::llh, Factorization::lu})
        for (double const bytes : {2e6, 20e6}) {
            auto const structures = timing_structures({kind}, sizeof(double), {bytes, 1e12});
            ASSERT_EQ(structures.size(), 2U);
            for (BlockStructure const& structure : structures) {
                testing::validate(structure);
                EXPECT_LT(static_cast<double>(panel_bytes(structure, {kind}, sizeof(double))), 1.2 * bytes);
                EXPECT_GT(static_cast<double>(panel_bytes(structure, {kind}, sizeof(double))), 0.3 * bytes);
            }
        }
}

TEST(TimingStructure, IsWithinItsOperations) {
    for (double const operations : {1e8, 1e9})
        for (BlockStructure const& structure :
             timing_structures({Factorization::llh}, sizeof(double), {1e12, operations})) {
            EXPECT_LT(structure.flops, 2 * operations);
            EXPECT_GT(structure.flops, 0.3 * operations);
        }
}

TEST(TimingStructure, HasWideAndNarrowColumnBlocks) {
    auto const structures = timing_structures({Factorization::llh}, sizeof(double), {60e6, 1e12});
    for (BlockStructure const& structure : structures) {
        Index widest = 0, narrowest = 256;
        for (Cblk const& cblk : structure.cblks) {
            widest = std::max(widest, cblk.width());
            narrowest = std::min(narrowest, cblk.width());
        }
        EXPECT_GT(widest, 200);
        EXPECT_LT(narrowest, 20);
    }
}

} // namespace
} // namespace espalier
