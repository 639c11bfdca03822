// Memory of delayed panels: what was returned is joined and taken again.
#include "runtime/delayed_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace espalier {
namespace {

std::span<std::byte> bytes_of(double* data, std::size_t count) {
    return std::as_writable_bytes(std::span(data, count));
}

TEST(DelayedMemory, JoinsNeighborsThatWereReturnedInAnyOrder) {
    DelayedMemory memory;
    double* const first = memory.take<double>(8);
    double* const second = memory.take<double>(5); // padded to a cache line
    double* const third = memory.take<double>(8);
    EXPECT_EQ(second, first + 8);
    EXPECT_EQ(third, second + 8);
    memory.give_back(bytes_of(first, 8));
    memory.give_back(bytes_of(third, 8));
    EXPECT_NE(memory.take<double>(24), first) << "the middle is in use";
    memory.give_back(bytes_of(second, 5));
    EXPECT_EQ(memory.take<double>(24), first);
}

TEST(DelayedMemory, TakesTheSmallestRangeThatSufficesAndKeepsTheRest) {
    DelayedMemory memory;
    double* const large = memory.take<double>(64);
    memory.take<double>(8);
    double* const small = memory.take<double>(16);
    memory.take<double>(8);
    memory.give_back(bytes_of(large, 64));
    memory.give_back(bytes_of(small, 16));
    EXPECT_EQ(memory.take<double>(16), small);
    EXPECT_EQ(memory.take<double>(16), large);
    EXPECT_EQ(memory.take<double>(48), large + 16);
}

// An arena whose rest is too small is left, but the rest serves for smaller ranges.
TEST(DelayedMemory, UsesTheRestsOfArenasAndAllAgainAfterARestart) {
    DelayedMemory memory;
    double* const first = memory.take<double>(8);
    std::size_t const arena = memory.bytes() / sizeof(double);
    memory.take<double>(arena);
    EXPECT_EQ(memory.take<double>(8), first + 8);
    std::size_t const all = memory.bytes();
    memory.restart();
    EXPECT_EQ(memory.take<double>(8), first);
    memory.take<double>(arena);
    EXPECT_EQ(memory.bytes(), all);
}

TEST(DelayedMemory, DescriptionsLieApartAndAreTakenAgainAfterARestart) {
    DelayedMemory memory;
    double* const first = memory.take<double>(8);
    std::vector<std::span<std::int64_t>> all;
    for (std::int64_t i = 0; i < 3000; ++i) { // more than one piece of memory
        all.push_back(memory.describe<std::int64_t>(static_cast<std::size_t>(i % 50)));
        std::ranges::fill(all.back(), i);
    }
    EXPECT_EQ(memory.take<double>(8), first + 8);
    for (std::int64_t i = 0; i < 3000; ++i)
        EXPECT_EQ(std::ranges::count(all[i], i), i % 50) << "no other description is there";
    std::size_t const bytes = memory.bytes();
    memory.restart();
    EXPECT_EQ(memory.describe<std::int64_t>(0).data(), all[0].data());
    for (int i = 1; i < 3000; ++i) (void)memory.describe<std::int64_t>(static_cast<std::size_t>(i % 50));
    EXPECT_EQ(memory.bytes(), bytes);
    EXPECT_EQ(memory.describe<double>(100'000).size(), 100'000U) << "longer than a piece";
}

} // namespace
} // namespace espalier
