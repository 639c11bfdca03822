// Vectors for large arrays that are written right after they are made: they are on huge pages, because faults
// of small pages cost more than the work on them, and on pages that this process has used before if possible
// (kept_pages.hpp). resize() leaves new entries uninitialized.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/kept_pages.hpp"
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
        return reinterpret_cast<T*>(Arena::of_kept_pages(bytes, Allocation::global).release());
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        if (is_large(count)) {
            std::size_t const pages = (count * sizeof(T) + Arena::alignment - 1) / Arena::alignment;
            keep_pages({reinterpret_cast<std::byte*>(memory), pages * Arena::alignment});
        } else {
            ::operator delete(memory);
        }
    }
    template <class U> void construct(U* entry) noexcept { ::new (static_cast<void*>(entry)) U; }
    template <class U, class... Args> void construct(U* entry, Args&&... args) {
        ::new (static_cast<void*>(entry)) U(std::forward<Args>(args)...);
    }
    bool operator==(LargeAllocator const&) const = default;

  private:
    static bool is_large(std::size_t count) { return count * sizeof(T) >= Arena::large_bytes; }
};

template <class T> using LargeVector = std::vector<T, LargeAllocator<T>>;

} // namespace espalier
