// Memory on its way between two processes: a header of one cache line and the payload behind it, so that one
// message carries both and the payload is aligned. Both ends are multiples of the line, in which messages are
// counted: their number stays an int up to 128 GiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace espalier {

/// What a message starts with.
struct alignas(64) MessageHeader {
    /// `block` carries a payload; `notice` says that the sender failed; `last` that nothing follows.
    enum class Kind : std::int32_t { block, notice, last };

    std::int64_t id = 0; ///< Of a block: the user's name for it. Of the last message: blocks sent before it.
    std::uint64_t bytes = 0; ///< Of the payload.
    Kind kind = Kind::block;
    std::int32_t status = 0; ///< Of a notice.
    std::int64_t tag = -1;   ///< Of a block: what a trace calls it.
};
static_assert(sizeof(MessageHeader) == 64);

/// Owns one piece of such memory; movable, freed with the object. An empty block has no memory at all.
class Block {
  public:
    static constexpr std::size_t alignment = 64;

    Block() = default;
    /// `bytes` of payload, not initialised. Error{out_of_memory} states their number.
    static Block allocate(std::size_t bytes);
    ~Block();
    Block(Block&& other) noexcept;
    Block& operator=(Block&& other) noexcept;

    /// The payload, on a 64-byte boundary.
    [[nodiscard]] std::byte* data() const { return memory_ ? memory_ + sizeof(MessageHeader) : nullptr; }
    /// Bytes of payload.
    [[nodiscard]] std::size_t size() const { return size_; }
    /// The payload as size() / sizeof(T) numbers.
    template <class T> [[nodiscard]] std::span<T> as() const {
        return {reinterpret_cast<T*>(data()), size_ / sizeof(T)};
    }

    /// Bytes of the whole message with a payload of `bytes`: what a block takes of memory.
    static std::size_t message_bytes(std::size_t bytes);

  private:
    friend class SendingSide;
    friend class ReceivingSide;

    /// Memory for a whole message of `bytes`, a multiple of the alignment; the payload is what its header
    /// says.
    static Block for_message(std::size_t bytes);
    [[nodiscard]] MessageHeader& header() const { return *reinterpret_cast<MessageHeader*>(memory_); }
    [[nodiscard]] std::span<std::byte> message() const { return {memory_, message_bytes(size_)}; }

    std::byte* memory_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace espalier
