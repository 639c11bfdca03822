// Vectors for large arrays that are written right after they are made: they are on huge pages, because faults
// of small pages cost more than the work on them, and resize() leaves new entries uninitialized.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/memory.hpp"

namespace espalier {

template <class T> struct LargeAllocator {
    static_assert(std::is_trivially_copyable_v<T>);
    using value_type = T;

    LargeAllocator() = default;
    template <class U> LargeAllocator(LargeAllocator<U> const&) noexcept {}

    T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T)) throw std::bad_alloc();
        std::size_t const bytes = count * sizeof(T);
        if (!is_large(count)) return static_cast<T*>(::operator new(bytes));
        std::size_t const pages = (bytes + Arena::alignment - 1) / Arena::alignment;
        auto* const memory = static_cast<std::byte*>(::operator new(pages * Arena::alignment, alignment));
        prefer_huge_pages({memory, pages * Arena::alignment});
        return reinterpret_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        if (is_large(count))
            ::operator delete(memory, alignment);
        else
            ::operator delete(memory);
    }
    template <class U> void construct(U* entry) noexcept { ::new (static_cast<void*>(entry)) U; }
    template <class U, class... Args> void construct(U* entry, Args&&... args) {
        ::new (static_cast<void*>(entry)) U(std::forward<Args>(args)...);
    }
    bool operator==(LargeAllocator const&) const = default;

  private:
    static constexpr std::align_val_t alignment{Arena::alignment};
    static bool is_large(std::size_t count) { return count * sizeof(T) >= Arena::alignment / 2; }
};

template <class T> using LargeVector = std::vector<T, LargeAllocator<T>>;

} // namespace espalier
