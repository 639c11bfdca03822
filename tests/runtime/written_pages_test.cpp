// Dry runs: the pages that tasks write belong to the nodes that write most of them.
#include "runtime/written_pages.hpp"

#include <cstring>

#include <unistd.h>

#include "espalier/numa.hpp"
#include "runtime/memory.hpp"
#include "support.hpp"

namespace espalier {
namespace {

std::size_t system_page() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Offset, length and node of each run, in pages.
std::vector<std::array<std::int64_t, 3>> in_pages(WrittenPages const& pages, std::byte const* start,
                                                  std::size_t page) {
    std::vector<std::array<std::int64_t, 3>> all;
    for (auto const& run : pages.runs())
        all.push_back({(run.pages.data() - start) / static_cast<std::ptrdiff_t>(page),
                       static_cast<std::int64_t>(run.pages.size() / page), run.node});
    return all;
}

//     page:     0      1      2      3      4      5
//     task 0:   xxxxxxxxx x                             node 1
//     task 1:            x xxxxxx                       node 0   (page 1: less than task 0)
//     task 2:                                xxxxxxx    node 1
//     task 3:                        x                  node 2, one byte
TEST(WrittenPages, BelongToTheNodeThatWritesMost) {
    std::size_t const page = system_page();
    Arena const arena(6 * page, Allocation::local);
    std::byte* const at = arena.data();
    std::vector<std::int32_t> const node_of_task{1, 0, 1, 2};
    auto const writes = [&](TaskId task, WriteRegister const& add) {
        if (task == 0) {
            add({at, page});
            add({at + page, page / 2 + 8});
        }
        if (task == 1) {
            add({at + page + page / 2 + 8, page / 2 - 8});
            add({at + 2 * page, page});
        }
        if (task == 2) add({at + 4 * page + 16, page});
        if (task == 3) add({at + 3 * page + 7, 1});
    };
    WrittenPages const pages(node_of_task, writes);
    std::vector<std::array<std::int64_t, 3>> const expected{{0, 2, 1}, {2, 1, 0}, {3, 1, 2}, {4, 2, 1}};
    EXPECT_EQ(in_pages(pages, at, page), expected);
    EXPECT_EQ(pages.bytes_of_node(), (std::vector<std::uint64_t>{page, 4 * page, page}));

    // A page that two nodes write equally goes to the lower one. Larger pages are not divided.
    auto const halves = [&](TaskId task, WriteRegister const& add) {
        if (task < 2) add({at + (1 - task) * page, page});
    };
    std::vector<std::int32_t> const two{3, 1};
    EXPECT_EQ(WrittenPages(two, halves, 2 * page).runs().front().node, 1);
    auto const quarter = [&](TaskId task, WriteRegister const& add) {
        if (task == 0) add({at + page + 16, 8});
    };
    WrittenPages const large(two, quarter, 4 * page);
    EXPECT_EQ(large.runs().front().pages.size(), 4 * page);
    EXPECT_EQ(large.bytes_of_node(), (std::vector<std::uint64_t>{0, 0, 0, page}));
    EXPECT_TRUE(WrittenPages({}, writes).runs().empty());
    std::vector<std::int32_t> const nowhere{-1};
    EXPECT_EQ(status_of([&] { WrittenPages(nowhere, writes); }), Status::internal);
}

// On a machine with several nodes the pages are there afterwards; with one, nothing moves.
TEST(WrittenPages, AreMovedWithTheirContents) {
    std::size_t const page = system_page(), count = 64;
    Arena const arena(count * page, Allocation::local);
    for (std::size_t k = 0; k < count; ++k)
        std::memset(arena.data() + k * page, static_cast<int>(k + 1), page);
    std::vector<std::int32_t> node_of_task(count);
    auto const nodes = memory_nodes();
    for (std::size_t k = 0; k < count; ++k) node_of_task[k] = static_cast<std::int32_t>(k % nodes.size());
    WrittenPages const pages(node_of_task, [&](TaskId task, WriteRegister const& add) {
        add({arena.data() + static_cast<std::size_t>(task) * page, page});
    });
    std::uint64_t const moved = pages.move(nodes);
    if (nodes.size() == 1) {
        EXPECT_EQ(moved, 0u);
    } else {
        EXPECT_GT(moved, 0u);
        for (auto const& [run, node] : pages.runs()) {
            auto const found = query_nodes(run).node_bytes;
            ASSERT_LT(nodes[node], std::ssize(found));
            EXPECT_EQ(found[nodes[node]], run.size());
        }
    }
    for (std::size_t k = 0; k < count * page; ++k)
        ASSERT_EQ(std::to_integer<std::size_t>(arena.data()[k]), k / page + 1);
}

} // namespace
} // namespace espalier
