// Memory for numbers and vectors of numbers that are written before they are read. Large ones are on pages
// that this process has used before (kept_pages.hpp), or can be touched before they are used.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "runtime/memory.hpp"

namespace espalier {

class Workspace {
  public:
    /// Provides memory for `bytes` bytes. If there was less, the contents are lost. Throws std::bad_alloc or
    /// Error{out_of_memory}.
    void grow(std::size_t bytes) {
        constexpr std::size_t large = 2 * Arena::alignment;
        if (bytes <= size_) return;
        size_ = 0;
        small_.reset();
        arena_ = Arena();
        if (bytes < large)
            small_.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
        else
            arena_ = Arena::of_kept_pages(bytes, Allocation::local);
        size_ = bytes;
    }
    template <class E> [[nodiscard]] E* as() const {
        return reinterpret_cast<E*>(small_ ? small_.get() : arena_.data());
    }
    /// The whole memory if it is large, its pages are new, and this function has not returned it before;
    /// otherwise nothing.
    [[nodiscard]] std::span<std::byte> take_untouched() {
        if (!arena_.fresh()) return {};
        arena_.mark_used();
        return arena_.bytes();
    }

  private:
    static constexpr std::align_val_t alignment{64}; // a line of the cache
    struct Delete {
        void operator()(std::byte* memory) const { ::operator delete(memory, alignment); }
    };

    std::unique_ptr<std::byte, Delete> small_;
    Arena arena_;
    std::size_t size_ = 0;
};

} // namespace espalier
