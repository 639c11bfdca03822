#include "runtime/first_touch.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "runtime/memory.hpp"

namespace espalier {
namespace {

constexpr double fast = 2e-4, slow = 4e-3; // seconds of a part

bool take(PageChoice& choice, int parts, double seconds) {
    bool changes = false;
    for (; parts > 0; --parts) changes = choice.took(seconds);
    return changes;
}

TEST(PageChoice, KeepsHugePagesThatAreFast) {
    PageChoice choice;
    EXPECT_FALSE(take(choice, 100, fast));
    EXPECT_TRUE(choice.is_huge());
}

TEST(PageChoice, OverlooksASlowPageNowAndThen) {
    PageChoice choice;
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(choice.took(slow));
        EXPECT_FALSE(choice.took(fast));
    }
    EXPECT_TRUE(choice.is_huge());
}

TEST(PageChoice, TakesSmallPagesWhileTheyAreFaster) {
    PageChoice choice;
    EXPECT_TRUE(take(choice, 2, slow));
    EXPECT_FALSE(choice.is_huge());
    EXPECT_FALSE(take(choice, 100, slow / 3));
    EXPECT_FALSE(choice.is_huge());
}

TEST(PageChoice, ReturnsToHugePagesForGoodIfSmallOnesAreSlowToo) {
    PageChoice choice;
    EXPECT_TRUE(take(choice, 2, slow));
    EXPECT_TRUE(take(choice, 2, slow));
    EXPECT_TRUE(choice.is_huge());
    EXPECT_FALSE(take(choice, 100, slow));
    EXPECT_TRUE(choice.is_huge());
}

TEST(FirstTouch, TouchesAllPagesAndLeavesZeros) {
    Arena const arena(3 * Arena::alignment + 12345, Allocation::local);
    FirstTouch touch(arena.bytes());
    for (int parts = 0; parts < 4; ++parts) {
        EXPECT_EQ(touch.next(), arena.data() + parts * Arena::alignment);
        touch.touch_part();
    }
    EXPECT_TRUE(touch.done());
    if (PageLocation const pages = query_nodes(arena.bytes()); pages.unknown_bytes == 0) {
        EXPECT_EQ(pages.untouched_bytes, 0u);
    }
    EXPECT_TRUE(std::ranges::all_of(arena.bytes(), [](std::byte b) { return b == std::byte{0}; }));
}

TEST(FirstTouch, PagesMayBecomeSmallBetweenTwoParts) {
    Arena const arena(4 * Arena::alignment, Allocation::local);
    populate(arena.bytes().first(Arena::alignment));
    for (bool const huge : {false, true}) {
        std::span<std::byte> const rest = arena.bytes().subspan((huge ? 2 : 1) * Arena::alignment);
        choose_pages(rest, huge);
        populate(rest.first(Arena::alignment));
    }
    std::ranges::fill(arena.bytes(), std::byte{1});
    EXPECT_TRUE(std::ranges::all_of(arena.bytes(), [](std::byte b) { return b == std::byte{1}; }));
}

} // namespace
} // namespace espalier
