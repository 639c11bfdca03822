
#include <fstream>

#include "runtime/memory.hpp"
#include "runtime/page_bytes.hpp"
#include "runtime/process_limits.hpp"
#include "support.hpp"

namespace espalier {
namespace {

constexpr Allocation all_policies[] = {Allocation::global, Allocation::local, Allocation::interleave};

TEST(Arena, IsAlignedZeroAndWritable) {
    for (Allocation const policy : all_policies)
        for (std::size_t const bytes :
             {std::size_t{1}, std::size_t{4097}, std::size_t{3} << 20, std::size_t{9'000'001}}) {
            Arena arena(bytes, policy);
            EXPECT_EQ(arena.size(), bytes);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.data()) % Arena::alignment, 0u);
            EXPECT_TRUE(arena.fresh());
            EXPECT_TRUE(std::all_of(arena.bytes().begin(), arena.bytes().end(),
                                    [](std::byte b) { return b == std::byte{0}; }));
            std::fill(arena.bytes().begin(), arena.bytes().end(), std::byte{0x5a});
            arena.mark_used();
            EXPECT_FALSE(arena.fresh());
            EXPECT_EQ(arena.as<double>().size(), bytes / sizeof(double));
        }
}

TEST(Arena, EmptyArenasAreHarmless) {
    Arena const none;
    Arena const zero(0, Allocation::local);
    EXPECT_TRUE(none.empty());
    EXPECT_TRUE(zero.empty());
    EXPECT_EQ(zero.data(), nullptr);
    EXPECT_TRUE(zero.as<double>().empty());
    EXPECT_EQ(total(query_nodes(zero.bytes())), 0u);
    populate(zero.bytes());
}

TEST(Arena, MovesItsMemoryAndItsState) {
    Arena first(1 << 20, Allocation::local);
    first.data()[7] = std::byte{42};
    first.mark_used();
    std::byte* const data = first.data();
    Arena second(std::move(first));
    EXPECT_TRUE(first.empty()); // NOLINT: the moved-from state is documented by this test
    EXPECT_TRUE(first.fresh());
    EXPECT_EQ(second.data(), data);
    EXPECT_FALSE(second.fresh());
    Arena third(64, Allocation::global);
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(third.data()[7], std::byte{42});
    EXPECT_EQ(third.size(), std::size_t{1} << 20);
    EXPECT_FALSE(third.fresh());
}

TEST(Arena, StatesTheBytesItCouldNotGet) {
    for (std::size_t const bytes :
         {std::size_t{1} << 45, std::size_t{1} << 60, std::numeric_limits<std::size_t>::max()})
        EXPECT_TRUE(throws_error(Status::out_of_memory, std::to_string(bytes) + " bytes",
                                 [&] { Arena const arena(bytes, Allocation::local); }));
}

TEST(Arena, GivesItsMemoryBackToTheSystem) {
    auto const resident = [] {
        std::ifstream file("/proc/self/statm");
        std::int64_t size = 0, pages = 0;
        file >> size >> pages;
        return pages * 4096;
    };
    std::int64_t const before = resident();
    {
        Arena const arena(32 << 20, Allocation::local);
        populate(arena.bytes());
        EXPECT_GT(resident(), before + (24 << 20));
    }
    EXPECT_LT(resident(), before + (8 << 20));
    EXPECT_GE(peak_rss_bytes(), static_cast<std::uint64_t>(32 << 20));
}

TEST(Arena, PagesExistAfterTheirFirstTouchAndCanBeQueried) {
    for (Allocation const policy : all_policies) {
        Arena const arena((8 << 20) + 12345, policy);
        auto const before = query_nodes(arena.bytes());
        EXPECT_EQ(total(before), arena.size());
        if (before.unknown_bytes > 0) GTEST_SKIP() << "the system does not say where pages lie";
        EXPECT_EQ(before.untouched_bytes, arena.size());
        populate(arena.bytes());
        auto const after = query_nodes(arena.bytes());
        EXPECT_EQ(total(after), arena.size());
        EXPECT_EQ(after.untouched_bytes, 0u);
        EXPECT_TRUE(arena.fresh()); // populating changes no value
        EXPECT_EQ(arena.data()[arena.size() - 1], std::byte{0});

        auto const part = query_nodes(arena.bytes().subspan(1000, 10'001)); // neither end on a page
        EXPECT_EQ(total(part), 10'001u);
    }
}

TEST(Arena, QueriesOfLongRangesAreSampledButAddUp) {
    Arena const arena((std::size_t{1} << 30) + (5 << 20) + 3, Allocation::local); // never touched
    auto const location = query_nodes(arena.bytes());
    EXPECT_EQ(total(location), arena.size());
    EXPECT_TRUE(location.node_bytes.empty());
}

TEST(Arena, IsDistributedOverNodesAsRequested) {
    int const node = machine().nodes()[0].os_index;
    // A node that no machine has is ignored.
    NodeRange const ranges[] = {{5000, node}, {0, node}, {3 << 20, node}, {100, 1000}, {5000, node}};
    Arena const arena = Arena::on_nodes(ranges);
    EXPECT_EQ(arena.size(), std::size_t{5000 + (3 << 20) + 100 + 5000});
    EXPECT_TRUE(std::all_of(arena.bytes().begin(), arena.bytes().end(),
                            [](std::byte b) { return b == std::byte{0}; }));
    populate(arena.bytes());
    auto const location = query_nodes(arena.bytes());
    EXPECT_EQ(total(location), arena.size());
    if (location.unknown_bytes == 0) {
        EXPECT_GE(location.node_bytes.at(static_cast<std::size_t>(node)), std::uint64_t{3} << 20);
    }
    EXPECT_TRUE(Arena::on_nodes({}).empty());
    NodeRange const absurd[] = {{std::numeric_limits<std::size_t>::max(), node}, {2, node}};
    EXPECT_EQ(status_of([&] { (void)Arena::on_nodes(absurd); }), Status::out_of_memory);
}

TEST(Arena, SamplesOnePageOfEachStrip) {
    Arena const arena((4 << 20) + 1, Allocation::local);
    auto const before = sample_nodes(arena.bytes(), 100'000);
    EXPECT_EQ(before.strip_bytes % 4096, 0u);
    EXPECT_GE(before.strip_bytes, 100'000u);
    EXPECT_EQ(before.node.size(), (arena.size() + before.strip_bytes - 1) / before.strip_bytes);
    if (before.node[0] == page_unknown) GTEST_SKIP() << "the system does not say where pages lie";
    EXPECT_EQ(std::count(before.node.begin(), before.node.end(), page_untouched),
              static_cast<std::ptrdiff_t>(before.node.size()));
    populate(arena.bytes());
    for (int const node : sample_nodes(arena.bytes(), 100'000).node) EXPECT_GE(node, 0);
    EXPECT_EQ(sample_nodes(arena.bytes(), 1).node.size(), 1025u);
    EXPECT_TRUE(sample_nodes({}, 4096).node.empty());
}

} // namespace
} // namespace espalier
