#include "runtime/kept_pages.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <sys/mman.h>

#include <gtest/gtest.h>

#include "runtime/first_touch.hpp"
#include "runtime/large_vector.hpp"
#include "runtime/memory.hpp"

namespace espalier {
namespace {

constexpr std::size_t huge = Arena::alignment;

/// Begins and ends without kept pages. On several NUMA nodes nothing is kept.
class KeptPages : public testing::Test {
  protected:
    void SetUp() override {
        release_kept_pages();
        if (!has_one_node()) GTEST_SKIP() << "several NUMA nodes";
    }
    void TearDown() override { release_kept_pages(); }
};

/// Pages that nobody else has.
std::span<std::byte> some_pages(std::size_t count) {
    return {Arena(count * huge, Allocation::global).release(), count * huge};
}

bool is_mapped(std::span<std::byte> pages) {
    std::array<unsigned char, 4 * huge / 4096> resident{};
    return mincore(pages.data(), pages.size(), resident.data()) == 0;
}

TEST_F(KeptPages, AreTheNextOnesThatFit) {
    auto const pages = some_pages(5);
    std::ranges::fill(pages, std::byte{1});
    EXPECT_TRUE(take_kept_pages(huge).empty());
    keep_pages(pages.subspan(2 * huge));
    keep_pages(pages.first(huge));
    EXPECT_TRUE(take_kept_pages(4 * huge).empty());
    auto const one = take_kept_pages(huge); // the smallest range that is large enough
    EXPECT_EQ(one.data(), pages.data());
    EXPECT_EQ(one.size(), huge);
    auto const two = take_kept_pages(2 * huge);
    EXPECT_EQ(two.data(), pages.data() + 2 * huge);
    std::ranges::fill(two, std::byte{2});
    EXPECT_TRUE(take_kept_pages(2 * huge).empty());
    EXPECT_EQ(take_kept_pages(huge).data(), pages.data() + 4 * huge);
    for (std::size_t page = 0; page < 5; ++page) keep_pages(pages.subspan(page * huge, huge));
}

TEST_F(KeptPages, AreUnitedWithTheirNeighbors) {
    auto const pages = some_pages(4);
    for (std::size_t const page : {3, 0, 1, 2}) keep_pages(pages.subspan(page * huge, huge));
    auto const all = take_kept_pages(4 * huge);
    EXPECT_EQ(all.data(), pages.data());
    keep_pages(all);
}

TEST_F(KeptPages, AreReturnedToTheSystemFromALimitOn) {
    std::size_t const half = most_kept_bytes / 2;
    auto const pages = some_pages(most_kept_bytes / huge + 3);
    keep_pages(pages.first(half)); // gaps of one page separate the ranges
    keep_pages(pages.subspan(half + huge, half - huge));
    auto const last = pages.last(huge);
    keep_pages(last);
    EXPECT_TRUE(take_kept_pages(half + huge).empty());
    EXPECT_EQ(take_kept_pages(half).data(), pages.data());
    keep_pages(pages.first(half));
    keep_pages(pages.subspan(half, huge)); // unites two ranges; together with the last page too much is kept
    EXPECT_EQ(take_kept_pages(2 * half).data(), pages.data());
    EXPECT_TRUE(take_kept_pages(huge).empty());
    keep_pages(pages.first(2 * half));
    keep_pages(pages.subspan(2 * half, huge));
    EXPECT_TRUE(take_kept_pages(huge).empty());
}

TEST_F(KeptPages, AreReturnedUntilTheLimitHolds) {
    auto const pages = some_pages(most_kept_bytes / huge + 4);
    keep_pages(pages.first(huge));
    keep_pages(pages.subspan(2 * huge, huge));
    auto const rest = pages.subspan(4 * huge); // with it, both other pages are too many
    keep_pages(rest);
    EXPECT_FALSE(is_mapped(pages.first(huge)));
    EXPECT_FALSE(is_mapped(pages.subspan(2 * huge, huge)));
    EXPECT_EQ(take_kept_pages(huge).data(), rest.data());
    keep_pages(rest.first(huge));
}

TEST_F(KeptPages, AreReturnedByTheirRelease) {
    auto const pages = some_pages(2);
    keep_pages(pages);
    EXPECT_TRUE(is_mapped(pages));
    release_kept_pages();
    EXPECT_FALSE(is_mapped(pages));
    EXPECT_TRUE(take_kept_pages(huge).empty());
}

TEST_F(KeptPages, AreThoseOfTheNextArena) {
    std::byte* earlier = nullptr;
    {
        Arena const arena = Arena::of_kept_or_new_pages(2 * huge - 1, Allocation::local);
        EXPECT_TRUE(arena.fresh());
        std::ranges::fill(arena.bytes(), std::byte{1});
        earlier = arena.data();
    }
    Arena const arena = Arena::of_kept_or_new_pages(huge + 1, Allocation::interleave);
    EXPECT_EQ(arena.data(), earlier);
    EXPECT_EQ(arena.size(), huge + 1);
    EXPECT_FALSE(arena.fresh());
    EXPECT_EQ(arena.allocation(), Allocation::interleave);
}

TEST_F(KeptPages, AreNotThoseOfSmallArenas) {
    keep_pages(some_pages(1));
    for (std::size_t const bytes : {std::size_t{1}, std::size_t{1000}, Arena::large_bytes - 1}) {
        Arena arena = Arena::of_kept_or_new_pages(bytes, Allocation::local);
        EXPECT_FALSE(arena.fresh());
        EXPECT_EQ(arena.size(), bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.data()) % 64, 0U);
        std::ranges::fill(arena.bytes(), std::byte{2});
        std::byte const* const data = arena.data();
        Arena other;
        other = std::move(arena);
        EXPECT_EQ(other.data(), data);
        EXPECT_EQ(std::ranges::count(other.bytes(), std::byte{2}), static_cast<std::ptrdiff_t>(bytes));
    }
    EXPECT_TRUE(Arena::of_kept_or_new_pages(0, Allocation::local).empty());
    EXPECT_FALSE(take_kept_pages(huge).empty());
}

TEST_F(KeptPages, AreAFewRanges) {
    std::size_t const most = 64;
    auto const pages = some_pages(2 * most + 2); // a range of two pages, and single ones
    keep_pages(pages.first(2 * huge));
    for (std::size_t range = 1; range <= most; ++range)
        keep_pages(pages.subspan((2 * range + 1) * huge, huge));
    EXPECT_EQ(take_kept_pages(2 * huge).data(), pages.data());
    std::size_t left = 0;
    while (!take_kept_pages(huge).empty()) ++left;
    EXPECT_EQ(left, most - 1);
    keep_pages(pages.first(2 * huge));
}

TEST_F(KeptPages, ServeArenasAndVectors) {
    Arena first = Arena::of_kept_pages(3 * huge, Allocation::local);
    std::byte* const data = first.data();
    first = {};
    EXPECT_TRUE(Arena(3 * huge, Allocation::local).fresh()); // has zeros, and so none of them
    LargeVector<int> vector(3 * huge / sizeof(int));
    EXPECT_EQ(reinterpret_cast<std::byte*>(vector.data()), data);
    vector = LargeVector<int>(); // {} would keep the memory
    Arena const second = Arena::of_kept_pages(2 * huge + 1, Allocation::local);
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(second.size(), 2 * huge + 1);
    EXPECT_FALSE(second.fresh());
}

TEST_F(KeptPages, AreTouchedInPart) {
    Arena const arena(8 * huge, Allocation::local);
    touch_first_parts(arena.bytes());
    PageLocation const pages = query_nodes(arena.bytes());
    if (pages.unknown_bytes > 0) GTEST_SKIP() << "the system does not state the nodes of pages";
    EXPECT_GE(pages.untouched_bytes, 4 * huge);
    touch_first_parts(arena.bytes().first(huge / 2)); // too small for a part
    EXPECT_TRUE(std::ranges::all_of(arena.bytes(), [](std::byte b) { return b == std::byte{0}; }));
}

} // namespace
} // namespace espalier
