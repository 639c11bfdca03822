// The pages that tasks write, and the NUMA nodes where they belong (Rossignon, Hénon, Aumage, Thibault 2013).
// A dry run of a task graph computes nothing: a function of the user names the memory that each task would
// write. A page belongs to the node whose tasks write most of its bytes, and is moved there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "policies/task_graph.hpp"

namespace espalier {

/// Registers memory that a task writes.
using WriteRegister = std::function<void(std::span<std::byte> written)>;
/// Calls the register for the memory that the task writes.
using TaskWrites = std::function<void(TaskId task, WriteRegister const& writes)>;

class WrittenPages {
  public:
    /// Consecutive pages of one node.
    struct Run {
        std::span<std::byte> pages;
        int node = 0;
    };

    /// Dry run of the tasks 0 .. node_of_task.size() - 1. Nodes are any numbers >= 0. `page_bytes` is the
    /// size of the units that are moved: a multiple of the page size of the system, or 0 for that size. A
    /// page goes to the node that writes most of it, and to the lowest of several. Linear, apart from sorting
    /// the pages.
    WrittenPages(std::span<std::int32_t const> node_of_task, TaskWrites const& writes,
                 std::size_t page_bytes = 0);

    /// By address.
    [[nodiscard]] std::span<Run const> runs() const { return runs_; }
    /// Bytes of the pages of each node, in pages of the system. If units are larger, the pages from the first
    /// to the last written one in each unit count.
    [[nodiscard]] std::vector<std::uint64_t> const& bytes_of_node() const { return bytes_of_node_; }

    /// Moves the pages. node_os_index[node] is the number that the system gives to a node. Pages that were
    /// never touched are placed when they are touched. Pages for nodes whose memory this process may not use
    /// stay where they are; all other pages are moved. Returns the bytes that are on their nodes now and were
    /// not before; 0 on a machine with one node.
    std::uint64_t move(std::span<int const> node_os_index) const;

  private:
    std::vector<Run> runs_;
    std::vector<std::uint64_t> bytes_of_node_;
};

} // namespace espalier
