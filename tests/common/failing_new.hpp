// Replaces operator new of a program by one that fails at a chosen allocation: the k-th from now on, or
// that one and all later ones (allocation_failure.hpp). Include it in one source of the program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "common/allocation_failure.hpp"

namespace failing_new {

#if defined(ESPALIER_SANITIZED) || defined(__SANITIZE_ADDRESS__) ||                                          \
    defined(__SANITIZE_THREAD__) // has a malloc of its own
inline void* plain(std::size_t alignment, std::size_t size) {
    return alignment <= alignof(std::max_align_t) ? std::malloc(size) : std::aligned_alloc(alignment, size);
}
#else
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t size);
inline void* plain(std::size_t alignment, std::size_t size) {
    return __libc_memalign(alignment, size);
}
#endif

inline void* allocated(std::size_t size, std::size_t alignment, bool may_throw) {
    alignment = std::max(alignment, alignof(std::max_align_t));
    void* const memory = fails() ? nullptr : plain(alignment, (size + alignment) / alignment * alignment);
    if (!memory && may_throw) throw std::bad_alloc();
    return memory;
}

} // namespace failing_new

#define REPLACE_NEW(alignment, may_throw, ...)                                                               \
    void* operator new(std::size_t size __VA_ARGS__) noexcept(!may_throw) {                                  \
        return failing_new::allocated(size, alignment, may_throw);                                           \
    }                                                                                                        \
    void* operator new[](std::size_t size __VA_ARGS__) noexcept(!may_throw) {                                \
        return failing_new::allocated(size, alignment, may_throw);                                           \
    }
#define REPLACE_DELETE(...)                                                                                  \
    void operator delete(void* memory __VA_ARGS__) noexcept {                                                \
        std::free(memory);                                                                                   \
    }                                                                                                        \
    void operator delete[](void* memory __VA_ARGS__) noexcept {                                              \
        std::free(memory);                                                                                   \
    }
#define COMMA ,
REPLACE_NEW(1, true)
REPLACE_NEW(1, false, COMMA std::nothrow_t const&)
REPLACE_NEW(static_cast<std::size_t>(a), true, COMMA std::align_val_t a)
REPLACE_NEW(static_cast<std::size_t>(a), false, COMMA std::align_val_t a COMMA std::nothrow_t const&)
REPLACE_DELETE()
REPLACE_DELETE(COMMA std::size_t)
REPLACE_DELETE(COMMA std::align_val_t)
REPLACE_DELETE(COMMA std::size_t COMMA std::align_val_t)
#undef REPLACE_NEW
#undef REPLACE_DELETE
#undef COMMA
