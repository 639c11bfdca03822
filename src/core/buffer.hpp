// Memory for numbers, which are written before they are read.
#pragma once

#include <cstddef>
#include <memory>

namespace espalier {

class Buffer {
  public:
    /// Provides memory for `bytes` bytes. If there was less, the contents are lost. Throws std::bad_alloc.
    void grow(std::size_t bytes) {
        if (bytes <= size_) return;
        bytes_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
        size_ = bytes;
    }
    template <class E> [[nodiscard]] E* as() const { return reinterpret_cast<E*>(bytes_.get()); }

  private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_ = 0;
};

} // namespace espalier
