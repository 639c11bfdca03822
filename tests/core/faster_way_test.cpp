#include <gtest/gtest.h>

#include "core/faster_way.hpp"

namespace espalier {
namespace {

/// Does pieces until the choice is made; seconds(first, k) is the time of the k-th piece of a way.
template <class Seconds> FasterWay measured(Seconds const& seconds) {
    FasterWay way;
    int pieces[2] = {};
    while (way.measures()) {
        bool const first = way.is_first();
        way.took(seconds(first, pieces[first ? 0 : 1]++));
    }
    EXPECT_EQ(pieces[0], pieces[1]);
    return way;
}

TEST(FasterWay, TakesTheFasterWay) {
    EXPECT_TRUE(measured([](bool first, int) { return first ? 1.0 : 2.0; }).is_first());
    EXPECT_FALSE(measured([](bool first, int) { return first ? 2.0 : 1.0; }).is_first());
}

TEST(FasterWay, OneSlowPieceDoesNotDecide) {
    EXPECT_TRUE(measured([](bool first, int k) { return first ? (k == 0 ? 9.0 : 1.0) : 2.0; }).is_first());
    EXPECT_FALSE(measured([](bool first, int k) { return first ? 2.0 : (k == 1 ? 9.0 : 1.0); }).is_first());
}

} // namespace
} // namespace espalier
