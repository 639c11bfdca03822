// Coefficient memory: large anonymous mappings on huge pages with a NUMA policy, and the questions that can
// be asked about where pages really lie. An arena is reserved at once, comes zeroed from the kernel, takes
// its pages when they are first touched, and gives everything back when it is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/types.hpp"
#include "runtime/process_limits.hpp"

namespace espalier {

/// So many bytes of an allocation, on a node (the system's number).
struct NodeRange {
    std::size_t bytes = 0;
    int node_os_index = 0;
};

class Arena {
  public:
    /// Start of an arena; large arenas are multiples of it, so that every page can be a huge page.
    static constexpr std::size_t alignment = std::size_t{2} << 20;

    Arena() = default;

    /// `bytes` of zeros. Pages are placed by Allocation: `global` by the process's policy, when whoever comes
    /// first touches them; `local` on the node of the thread that first touches them, whatever numactl said;
    /// `interleave` round the nodes that the process may use. Where the system has one node or refuses
    /// (containers often do), the three are the same. Error{out_of_memory} states the bytes wanted, also
    /// when the system has fewer available: it would grant them now and kill the process later.
    Arena(std::size_t bytes, Allocation allocation);

    /// An allocation distributed over nodes: consecutive ranges, each with the wish that its pages be taken
    /// from its node, whoever touches them first. A page that two ranges share goes to the one that holds its
    /// first byte; a node that is full, or that the system does not let this process have, gives way to
    /// another, which query_nodes() tells once pages are touched. Errors as above.
    static Arena on_nodes(std::span<NodeRange const> ranges);

    ~Arena();
    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&& other) noexcept;

    [[nodiscard]] std::byte* data() const { return data_; } ///< Null for an empty arena.
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

    /// The arena as an array of T; size() / sizeof(T) entries, zero while fresh().
    template <class T> [[nodiscard]] std::span<T> as() const {
        return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
    }

    /// True while everything is still zero, so that assembly need not clear it again. The arena cannot see
    /// writes: the one who has written something says so by mark_used(). Not synchronized.
    [[nodiscard]] bool fresh() const { return fresh_; }
    void mark_used() { fresh_ = false; }

    [[nodiscard]] Allocation allocation() const { return allocation_; } ///< `local` when made by on_nodes().
    /// Of the pages that the arena was made for, small or huge; the system may give small ones all the same.
    [[nodiscard]] std::size_t page_bytes() const;

  private:
    void map(std::size_t bytes);
    void release() noexcept;

    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t mapped_ = 0;
    bool fresh_ = true;
    Allocation allocation_ = Allocation::local;
};

/// Take the pages of a range now, from the calling thread's node where the policy is first touch. Contents
/// stay; nobody else may write to the range meanwhile.
void populate(std::span<std::byte> range);

/// Where the pages of a range lie.
struct PageLocation {
    std::vector<std::uint64_t> node_bytes; ///< By the system's node number (Topology::Node::os_index).
    std::uint64_t untouched_bytes = 0;     ///< Not yet backed by memory.
    std::uint64_t unknown_bytes = 0;       ///< The system refused to tell.
};

/// Ask the kernel where a range lies. The sum of the answer is the size of the range. Up to 2^18 pages (1 GiB
/// of small ones) are asked one by one; longer ranges are sampled evenly. About 0.2 us a page asked.
PageLocation query_nodes(std::span<std::byte const> range);

/// What sample_nodes() says of a page that is not on a node.
inline constexpr int page_untouched = -1; ///< Not yet backed by memory.
inline constexpr int page_unknown = -2;   ///< The system refused to tell.

struct PageSample {
    std::size_t strip_bytes = 1; ///< A multiple of the page size.
    std::vector<int> node;       ///< Of one page in each strip: the system's number, or one of the above.
};

/// Ask for one page in each strip of `strip_bytes` (rounded up to pages) of the range; strips are counted
/// from the start of the page that holds the range's first byte. Which page of a strip is asked looks random,
/// so that pages dealt out in turn are seen in their proportion; it is the same in each call. About 0.2 us a
/// strip.
PageSample sample_nodes(std::span<std::byte const> range, std::size_t strip_bytes);

/// Move the pages of a range that are backed by memory to a node (the system's number); a page belongs to the
/// range that holds its first byte. Returns the bytes that then lie on the node: fewer than asked where pages
/// are untouched, or the system refuses. Later first touches are not affected.
std::uint64_t move_to_node(std::span<std::byte> range, int node_os_index);

} // namespace espalier
