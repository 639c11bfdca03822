#include "comm/block.hpp"

#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "espalier/types.hpp"

namespace espalier {

std::size_t Block::message_bytes(std::size_t bytes) {
    return sizeof(MessageHeader) + (bytes + alignment - 1) / alignment * alignment;
}

Block Block::allocate(std::size_t bytes) {
    if (bytes > std::numeric_limits<std::size_t>::max() / 2)
        throw Error(Status::out_of_memory, fmt::format("no memory for a message of {} bytes", bytes));
    std::size_t const all = message_bytes(bytes);
    Block block = for_message(all);
    block.size_ = bytes;
    std::memset(block.memory_ + all - alignment, 0, alignment); // so that no uninitialised bytes are sent
    block.header() = MessageHeader{};
    block.header().bytes = bytes;
    return block;
}

Block Block::for_message(std::size_t bytes) {
    Block block;
    block.memory_ =
        static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment}, std::nothrow));
    if (!block.memory_)
        throw Error(Status::out_of_memory, fmt::format("no memory for a message of {} bytes", bytes));
    block.size_ = bytes - sizeof(MessageHeader);
    return block;
}

Block::~Block() {
    if (memory_) ::operator delete (memory_, std::align_val_t{alignment});
}

Block::Block(Block&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Block& Block::operator=(Block&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    return *this;
}

} // namespace espalier
