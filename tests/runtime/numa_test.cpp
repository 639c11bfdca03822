// The public helpers for memory on NUMA nodes. Pages are read back from the system.
#include "espalier/numa.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "core/status_of.hpp"
#include "runtime/page_bytes.hpp"

namespace espalier {
namespace {

std::uint64_t bytes_on(PageLocation const& location, int node) {
    return node < std::ssize(location.node_bytes) ? location.node_bytes[node] : 0;
}

bool is_known(std::span<std::byte const> range) {
    return query_nodes(range).unknown_bytes == 0;
}

void fill(std::span<std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 % 251);
}

TEST(NumaNodes, AreAscendingAndTheRangesOfMemoryAreOnThem) {
    std::vector<int> const nodes = memory_nodes();
    ASSERT_FALSE(nodes.empty());
    EXPECT_TRUE(std::is_sorted(nodes.begin(), nodes.end()));
    std::vector<NodeRange> ranges;
    for (int const node : nodes) ranges.push_back({std::size_t{4} << 20, node});
    NumaMemory const memory(ranges);
    auto const bytes = memory.bytes();
    ASSERT_EQ(bytes.size(), nodes.size() << 22);
    EXPECT_EQ(std::ranges::count(bytes, std::byte{0}), std::ssize(bytes));
    fill(bytes);
    if (!is_known(bytes)) GTEST_SKIP() << "the system does not say where pages lie";
    for (std::size_t k = 0; k < nodes.size(); ++k)
        EXPECT_EQ(bytes_on(query_nodes(bytes.subspan(k << 22, std::size_t{4} << 20)), nodes[k]),
                  std::uint64_t{4} << 20);
}

TEST(NumaNodes, TakeTurnsInDistributedMemory) {
    std::vector<int> const nodes = memory_nodes();
    std::size_t const page = 4096, pieces = 3 * nodes.size();
    NumaMemory const memory = NumaMemory::distributed(pieces * page - 5, page - 1);
    EXPECT_EQ(memory.bytes().size(), pieces * page - 5);
    EXPECT_EQ(memory.as<double>().size(), (pieces * page - 5) / sizeof(double));
    fill(memory.bytes());
    NumaMemory const halves = NumaMemory::distributed(10 * page * nodes.size());
    fill(halves.bytes());
    EXPECT_TRUE(NumaMemory::distributed(0).bytes().empty());
    EXPECT_TRUE(NumaMemory().bytes().empty());
    if (!is_known(memory.bytes())) GTEST_SKIP() << "the system does not say where pages lie";
    for (std::size_t k = 0; k + 1 < pieces; ++k)
        EXPECT_EQ(bytes_on(query_nodes(memory.bytes().subspan(k * page, page)), nodes[k % nodes.size()]),
                  page);
    for (std::size_t k = 0; k < nodes.size(); ++k)
        EXPECT_EQ(bytes_on(query_nodes(halves.bytes().subspan(k * 10 * page, 10 * page)), nodes[k]),
                  10 * page);
}

TEST(NumaNodes, ReceivePagesThatAreMoved) {
    std::vector<char> heap(3'000'000); // any memory
    auto const bytes = std::as_writable_bytes(std::span(heap));
    fill(bytes);
    std::vector<char> const before = heap;
    std::vector<int> nodes = memory_nodes();
    nodes.push_back(nodes.front()); // and back
    for (int const node : nodes) {
        PageLocation const after = move_to_node(bytes, node);
        EXPECT_EQ(total(after), bytes.size());
        EXPECT_EQ(heap, before);
        if (after.unknown_bytes > 0) GTEST_SKIP() << "the system does not say where pages lie";
        EXPECT_EQ(bytes_on(after, node), bytes.size());
    }
    NumaMemory const untouched = NumaMemory::distributed(100'000);
    EXPECT_EQ(move_to_node(untouched.bytes(), nodes.front()).untouched_bytes, 100'000u);
    EXPECT_EQ(total(move_to_node({}, nodes.front())), 0u);
}

TEST(NumaNodes, ThatDoNotExistAreRefused) {
    std::vector<char> heap(100);
    auto const bytes = std::as_writable_bytes(std::span(heap));
    EXPECT_TRUE(throws_error(Status::usage, "NUMA node 1000", [&] { move_to_node(bytes, 1000); }));
    EXPECT_EQ(status_of([&] { move_to_node(bytes, -1); }), Status::usage);
    NodeRange const ranges[] = {{100, memory_nodes().front()}, {1, 1000}};
    EXPECT_EQ(status_of([&] { NumaMemory const memory(ranges); }), Status::usage);
    EXPECT_EQ(status_of([&] { NumaMemory::distributed(std::size_t{1} << 60); }), Status::out_of_memory);
}

TEST(NumaNodes, MemoryMovesToAnotherOwner) {
    NumaMemory first = NumaMemory::distributed(5000);
    std::byte* const data = first.bytes().data();
    NumaMemory second = std::move(first);
    EXPECT_EQ(second.bytes().data(), data);
    first = std::move(second);
    EXPECT_EQ(first.bytes().data(), data);
}

} // namespace
} // namespace espalier
