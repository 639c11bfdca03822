#include "symbolic/supernodes.hpp"

#include <gtest/gtest.h>

#include "symbolic/prepared.hpp"

namespace espalier {
namespace {

using namespace testing;

TEST(FundamentalSupernodes, OfATriangleAndATail) {
    // 0 - 1 - 2, and 2 3 4 a triangle: 0 and 1 are separate supernodes, 2 3 4 one supernode.
    auto const p = prepare(graph_from(5, {{0, 1}, {1, 2}, {2, 3}, {2, 4}, {3, 4}}), natural_order(5));
    EXPECT_EQ(p.fundamental.member_ptr, (std::vector<Vertex>{0, 1, 2, 5}));
    EXPECT_EQ(p.fundamental.parent, (std::vector<SupernodeId>{1, 2, no_supernode}));
    EXPECT_EQ(p.fundamental.width, (std::vector<Index>{1, 1, 3}));
    EXPECT_EQ(p.fundamental.below, (std::vector<Index>{1, 1, 0}));
}

} // namespace
} // namespace espalier
