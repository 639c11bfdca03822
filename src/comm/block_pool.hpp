// Memory for the blocks of one run, which is touched before the run. The system provides a page at its first
// touch, and a virtual machine may get it from its host, so blocks in new memory would delay tasks and
// messages by several milliseconds each. A pool holds what the blocks of a process are planned to need at
// once. Blocks that do not fit are allocated one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/memory.hpp"

namespace espalier {

class BlockPool {
  public:
    /// Sizes and addresses of blocks are multiples of this.
    static constexpr std::size_t alignment = 64;

    /// At least `bytes`. Error{out_of_memory}.
    explicit BlockPool(std::size_t bytes);
    BlockPool(BlockPool const&) = delete;
    BlockPool& operator=(BlockPool const&) = delete;

    /// The whole memory, which workers may touch in parts before the first block is taken.
    [[nodiscard]] std::span<std::byte> memory() const { return arena_.bytes(); }

    /// A block of `bytes`, a multiple of the alignment and not 0, from the smallest gap that has room for it;
    /// null if there is none. Contents are arbitrary. Any thread may call it. Takes time logarithmic in the
    /// number of gaps, as give() does.
    std::byte* take(std::size_t bytes) noexcept;

    /// Gives a block of take() back.
    void give(std::byte* block, std::size_t bytes) noexcept;

  private:
    /// Free memory begins with this, and ends with its size. Gaps form a binary search tree by size and
    /// address, which is also a heap of pseudorandom priorities (Seidel and Aragon 1996), so its depth is
    /// logarithmic. No two gaps are adjacent.
    struct Gap {
        std::size_t bytes;
        Gap* left;
        Gap* right;
    };

    /// A bit for each unit of `alignment` bytes.
    class Units {
      public:
        explicit Units(std::size_t count) : words_(count / 64 + 1) {}
        [[nodiscard]] bool contains(std::size_t unit) const {
            return (words_[unit / 64] >> unit % 64 & 1) != 0;
        }
        void insert(std::size_t unit) { words_[unit / 64] |= std::uint64_t{1} << unit % 64; }
        void erase(std::size_t unit) { words_[unit / 64] &= ~(std::uint64_t{1} << unit % 64); }

      private:
        std::vector<std::uint64_t> words_;
    };

    [[nodiscard]] std::size_t unit_of(std::byte const* address) const {
        return static_cast<std::size_t>(address - arena_.data()) / alignment;
    }
    void add_gap(std::byte* begin, std::size_t bytes);
    void remove_gap(Gap* gap);

    Arena arena_;
    std::mutex mutex_; ///< Guards what follows, and the gaps.
    Gap* root_ = nullptr;
    Units begins_; ///< The first unit of each gap.
    Units ends_;   ///< The unit after each gap.
};

} // namespace espalier
