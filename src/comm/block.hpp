// Memory of a message: a header of one cache line and the payload behind it, so that one message carries both
// and the payload is aligned. Lengths are multiples of a line, and messages are counted in lines: their
// number fits an int up to 128 GiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "comm/block_pool.hpp"
#include "espalier/types.hpp"
#include "runtime/memory.hpp"

namespace espalier {

/// The start of each message.
struct alignas(64) MessageHeader {
    /// `block` carries a payload; `notice` says that the sender failed; `last` that nothing follows.
    enum class Kind : std::int32_t { block, notice, last };

    std::int64_t id = 0;     ///< block: chosen by the user. last: the number of blocks sent before.
    std::uint64_t bytes = 0; ///< Size of the payload.
    Kind kind = Kind::block;
    std::int32_t status = 0; ///< notice: the Status of the error.
    std::int64_t tag = -1;   ///< block: its number in a trace.
};
static_assert(sizeof(MessageHeader) == 64);

/// Maximum length of a notice in lines: the header and its text, which is truncated.
inline constexpr std::size_t lines_of_notice = 17;

/// Owns the memory of one message; movable, freed with the object. A default block has no memory.
class Block {
  public:
    static constexpr std::size_t alignment = 64;

    Block() = default;
    /// A block with `bytes` of payload, not initialized, from the pool if it is given and has room.
    /// Error{out_of_memory} states their number.
    static Block allocate(std::size_t bytes, std::shared_ptr<BlockPool> const& pool = {}) {
        if (bytes > std::numeric_limits<std::size_t>::max() / 2)
            throw Error(Status::out_of_memory,
                        fmt::format("not enough memory for a message of {} bytes", bytes));
        std::size_t const all = message_bytes(bytes);
        Block block = for_message(all, pool);
        block.size_ = bytes;
        std::memset(block.memory_ + all - alignment, 0, alignment); // so that no uninitialized bytes are sent
        block.header() = MessageHeader{};
        block.header().bytes = bytes;
        return block;
    }

    ~Block() {
        if (pool_)
            pool_->give(memory_, capacity_);
        else if (memory_)
            ::operator delete(memory_, std::align_val_t{alignment});
    }

    Block(Block&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)), pool_(std::move(other.pool_)) {}
    Block& operator=(Block&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(pool_, other.pool_);
        return *this;
    }

    /// The payload, on a 64-byte boundary.
    [[nodiscard]] std::byte* data() const { return memory_ ? memory_ + sizeof(MessageHeader) : nullptr; }
    /// Bytes of payload.
    [[nodiscard]] std::size_t size() const { return size_; }
    /// The payload as size() / sizeof(T) numbers.
    template <class T> [[nodiscard]] std::span<T> as() const {
        return {reinterpret_cast<T*>(data()), size_ / sizeof(T)};
    }

    /// Bytes of the whole message with a payload of `bytes`, which is the memory of a block.
    static std::size_t message_bytes(std::size_t bytes) {
        return sizeof(MessageHeader) + (bytes + alignment - 1) / alignment * alignment;
    }

  private:
    friend class SendingSide;
    friend class ReceivingSide;

    /// Memory to receive a message of `bytes`, a multiple of the alignment; its header has the payload size.
    static Block for_message(std::size_t bytes, std::shared_ptr<BlockPool> const& pool = {}) {
        Block block;
        block.capacity_ = bytes;
        block.size_ = bytes - sizeof(MessageHeader);
        block.memory_ = pool ? pool->take(bytes) : nullptr;
        if (block.memory_) {
            block.pool_ = pool;
            return block;
        }
        block.memory_ =
            static_cast<std::byte*>(::operator new(bytes, std::align_val_t{alignment}, std::nothrow));
        if (!block.memory_)
            throw Error(Status::out_of_memory,
                        fmt::format("not enough memory for a message of {} bytes", bytes));
        prefer_huge_pages({block.memory_, bytes});
        return block;
    }

    [[nodiscard]] MessageHeader& header() const { return *reinterpret_cast<MessageHeader*>(memory_); }
    [[nodiscard]] std::span<std::byte> message() const { return {memory_, message_bytes(size_)}; }

    std::byte* memory_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;        // of the memory
    std::shared_ptr<BlockPool> pool_; // of the memory; null if it is not from a pool
};
static_assert(Block::alignment == BlockPool::alignment);

} // namespace espalier
