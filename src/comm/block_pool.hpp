// Memory for the blocks of one run, which is touched before the run. The system provides a page at its first
// touch, and a virtual machine may get it from its host, so blocks in new memory would delay tasks and
// messages by several milliseconds each. A pool holds what the blocks of a process are planned to need at
// once. Blocks that do not fit are allocated one by one.
#pragma once

#include <cstddef>
#include <mutex>
#include <new>
#include <span>

#include "runtime/memory.hpp"

namespace espalier {

class BlockPool {
  public:
    /// Sizes and addresses of blocks are multiples of this.
    static constexpr std::size_t alignment = 64;

    /// At least `bytes`. Error{out_of_memory}.
    explicit BlockPool(std::size_t bytes)
        : arena_((bytes + Arena::alignment - 1) / Arena::alignment * Arena::alignment, Allocation::local),
          first_(::new (arena_.data()) Gap{arena_.size(), nullptr}) {}
    BlockPool(BlockPool const&) = delete;
    BlockPool& operator=(BlockPool const&) = delete;

    /// The whole memory, which workers may touch in parts before the first block is taken.
    [[nodiscard]] std::span<std::byte> memory() const { return arena_.bytes(); }

    /// A block of `bytes`, a multiple of the alignment and not 0, from the smallest gap that has room for it;
    /// null if there is none. Contents are arbitrary. Any thread may call it.
    std::byte* take(std::size_t bytes) noexcept {
        std::lock_guard const lock(mutex_);
        Gap** best = nullptr;
        for (Gap** at = &first_; *at; at = &(*at)->next)
            if ((*at)->bytes >= bytes && (!best || (*at)->bytes < (*best)->bytes)) best = at;
        if (!best) return nullptr;
        Gap* const gap = *best;
        // A block comes from the end of the gap, so that the gap stays in its place in the list.
        gap->bytes -= bytes;
        if (gap->bytes == 0) *best = gap->next;
        return reinterpret_cast<std::byte*>(gap) + gap->bytes;
    }

    /// Gives a block of take() back.
    void give(std::byte* block, std::size_t bytes) noexcept {
        std::lock_guard const lock(mutex_);
        Gap* before = nullptr;
        Gap* after = first_;
        for (; after && reinterpret_cast<std::byte*>(after) < block; after = after->next) before = after;
        Gap* gap = ::new (block) Gap{bytes, after};
        if (after && end_of(gap) == reinterpret_cast<std::byte*>(after)) {
            gap->bytes += after->bytes;
            gap->next = after->next;
        }
        if (before && end_of(before) == block) {
            before->bytes += gap->bytes;
            before->next = gap->next;
        } else {
            (before ? before->next : first_) = gap;
        }
    }

  private:
    // Free memory begins with its description. The list is sorted by address, and no two gaps are adjacent.
    struct Gap {
        std::size_t bytes;
        Gap* next;
    };
    static_assert(sizeof(Gap) <= alignment);
    static std::byte* end_of(Gap* gap) { return reinterpret_cast<std::byte*>(gap) + gap->bytes; }

    Arena arena_;
    std::mutex mutex_; // guards first_ and the list
    Gap* first_;
};

} // namespace espalier
