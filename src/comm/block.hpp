// Memory of a message: a header of one cache line and the payload behind it, so that one message carries both
// and the payload is aligned. Lengths are multiples of a line, and messages are counted in lines: their
// number fits an int up to 128 GiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

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

/// Owns the memory of one message; movable, freed with the object. A default block has no memory.
class Block {
  public:
    static constexpr std::size_t alignment = 64;

    Block() = default;
    /// A block with `bytes` of payload, not initialised. Error{out_of_memory} states their number.
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

    /// Bytes of the whole message with a payload of `bytes`, which is the memory of a block.
    static std::size_t message_bytes(std::size_t bytes);

  private:
    friend class SendingSide;
    friend class ReceivingSide;

    /// Memory to receive a message of `bytes`, a multiple of the alignment; its header has the payload size.
    static Block for_message(std::size_t bytes);
    [[nodiscard]] MessageHeader& header() const { return *reinterpret_cast<MessageHeader*>(memory_); }
    [[nodiscard]] std::span<std::byte> message() const { return {memory_, message_bytes(size_)}; }

    std::byte* memory_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace espalier
