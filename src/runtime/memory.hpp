// Coefficient memory: large anonymous mappings on huge pages with a NUMA policy, and queries of where pages
// are. An arena reserves its memory at once, is zeroed by the kernel, gets its pages when they are first
// touched, and releases everything when it is destroyed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "espalier/numa.hpp"
#include "espalier/types.hpp"

namespace espalier {

class Arena {
  public:
    /// Alignment of an arena; a large arena is a multiple of it, so every page can be a huge one.
    static constexpr std::size_t alignment = std::size_t{2} << 20;
    /// Arenas of at least this size have huge pages. In smaller ones a huge page would waste more than the
    /// page faults cost.
    static constexpr std::size_t large_bytes = alignment / 2;
    /// From this size on the available memory is checked first, which takes about 100 us.
    static constexpr std::size_t checked_bytes = std::size_t{64} << 20;

    Arena() = default;

    /// `bytes` zeros. Pages are placed when they are first touched: `global` by the policy of the process;
    /// `local` on the node of the thread that touches them, whatever policy numactl has set; `interleave` on
    /// the nodes that the process may use in turn. With one node, or if the system refuses (containers often
    /// do), the three are the same. Error{out_of_memory} states the requested bytes, also if the system has
    /// fewer available: it would grant them now and kill the process later.
    Arena(std::size_t bytes, Allocation allocation);

    /// `bytes` with any contents, if possible in pages that this process has used before: the system clears
    /// each page that it provides. Large arenas take kept pages (kept_pages.hpp), and their pages are kept
    /// afterwards. On a machine with one NUMA node, small ones come from the heap and are aligned to cache
    /// lines only. New pages remain untouched, and the arena is then fresh(). Errors as above.
    static Arena of_kept_or_new_pages(std::size_t bytes, Allocation allocation);
    /// Does the same and touches the first pages if they are new. The time of these touches shows whether
    /// huge pages are fast, and the rest of the arena gets huge or small pages accordingly.
    static Arena of_kept_pages(std::size_t bytes, Allocation allocation);
    /// Gives up the memory, and returns it: for a large arena whole huge pages, which keep_pages() takes.
    std::byte* release();

    /// An allocation distributed over nodes: consecutive ranges whose pages are preferably placed on their
    /// nodes, whichever thread touches them first. A page that two ranges share belongs to the one with its
    /// first byte. If a node is full or not available to this process, the system uses another one;
    /// query_nodes() shows which. Errors as above.
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

    /// Whether everything is still zero, so that assembly need not clear it. The arena does not notice
    /// writes: a caller that has written calls mark_used(). Not synchronized.
    [[nodiscard]] bool fresh() const { return fresh_; }
    void mark_used() { fresh_ = false; }

    [[nodiscard]] Allocation allocation() const { return allocation_; } ///< `local` for on_nodes().
    /// The page size that the arena was made for; the system may use small pages instead of huge ones.
    [[nodiscard]] std::size_t page_bytes() const;

  private:
    void map(std::size_t bytes);
    void take_from_heap(std::size_t bytes);
    void swap(Arena& other) noexcept;

    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t mapped_ = 0;
    bool fresh_ = true;
    bool keeps_pages_ = false;
    bool is_on_heap_ = false;
    Allocation allocation_ = Allocation::local;
};

/// Allocates the pages of a range now, on the node of the calling thread if the policy is first touch.
/// Contents are kept; no other thread may write to the range in the meantime.
void populate(std::span<std::byte> range);

/// Asks for huge pages where the range has whole ones, as far as it is large and untouched.
void prefer_huge_pages(std::span<std::byte> range);

/// Asks for huge or small pages in a rest of an arena that begins at a multiple of Arena::alignment. Touched
/// pages remain as they are, but the system may join small ones later if huge ones are asked for.
void choose_pages(std::span<std::byte> rest, bool huge);

/// Results of sample_nodes() for a page that is not on a node.
inline constexpr int page_untouched = -1; ///< Not yet backed by memory.
inline constexpr int page_unknown = -2;   ///< The system does not report the node.

struct PageSample {
    std::size_t strip_bytes = 1; ///< A multiple of the page size.
    std::vector<int> node;       ///< For one page in each strip: the system's number, or one of the above.
};

/// Queries one page in each strip of `strip_bytes` (rounded up to pages) of the range; strips begin with the
/// page that has the first byte of the range. The page of a strip is chosen by a hash, so that interleaved
/// pages are sampled in proportion; it is the same in each call. About 0.2 us for each strip.
PageSample sample_nodes(std::span<std::byte const> range, std::size_t strip_bytes);

/// Asks the system to move the touched pages of a range to a node; it may refuse.
void move_pages_to(std::span<std::byte> range, int node_os_index);

} // namespace espalier
