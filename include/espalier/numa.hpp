// Memory on NUMA nodes: allocation distributed over the nodes, pages moved to a node, and queries of where
// pages are. The solver places its own coefficients (Options::allocation); these helpers are for the data of
// a program.
//
// Nodes have the numbers of the system, as in `numactl --hardware`. On a machine with one node, or if the
// system refuses (containers often do), everything works and all pages are on that node; query_nodes() says
// so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/export.h"

namespace espalier {

/// A number of bytes of an allocation for a node (the system's number).
struct NodeRange {
    std::size_t bytes = 0; ///< Length of the range.
    int node_os_index = 0; ///< The node.
};

/// The nodes of the pages of a range.
struct PageLocation {
    std::vector<std::uint64_t> node_bytes; ///< By the system's node number.
    std::uint64_t untouched_bytes = 0;     ///< Not yet backed by memory.
    std::uint64_t unknown_bytes = 0;       ///< The system does not report the node.
};

/// The nodes whose memory this process may use, ascending; {0} if the system has no NUMA.
ESPALIER_API std::vector<int> memory_nodes();

/// Queries the nodes of a range from the kernel. The numbers add up to the size of the range. Up to 2^18
/// pages (1 GiB of small ones) are queried one by one; longer ranges are sampled. About 0.2 us a page.
ESPALIER_API PageLocation query_nodes(std::span<std::byte const> range);

/// Moves the pages of a range to a node, those at its ends included; contents are kept. Pages that were never
/// touched are not moved: they will be placed when they are touched. Returns where the pages are afterwards:
/// some remain where they were if the node is full or the system refuses. The range may be any memory of the
/// process, also from malloc. Error{usage} for a node that is not one of memory_nodes().
ESPALIER_API PageLocation move_to_node(std::span<std::byte> range, int node_os_index);

/// Zeros whose pages are preferably placed on given nodes, whichever thread touches them first. If a node is
/// full, the system uses another one. Movable, not copyable; freed by the destructor.
class ESPALIER_API NumaMemory {
  public:
    NumaMemory();
    /// Consecutive ranges, each for its node. A page that two ranges share belongs to the one with its first
    /// byte. Error{usage} for a node that is not one of memory_nodes(); Error{out_of_memory} states the
    /// bytes.
    explicit NumaMemory(std::span<NodeRange const> ranges);
    /// `bytes` in pieces of `piece_bytes`, rounded up to whole pages, on the nodes of memory_nodes() in turn.
    /// 0: one equal piece for each node. Pieces are larger if there would be more than 16384. Errors as
    /// above.
    static NumaMemory distributed(std::size_t bytes, std::size_t piece_bytes = 0);

    ~NumaMemory();
    NumaMemory(NumaMemory&& other) noexcept;            ///< Leaves `other` empty.
    NumaMemory& operator=(NumaMemory&& other) noexcept; ///< Frees its memory; leaves `other` empty.

    [[nodiscard]] std::span<std::byte> bytes() const; ///< Begins at a page.
    /// The memory as an array of T; bytes().size() / sizeof(T) entries.
    template <class T> [[nodiscard]] std::span<T> as() const {
        return {reinterpret_cast<T*>(bytes().data()), bytes().size() / sizeof(T)};
    }

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace espalier
