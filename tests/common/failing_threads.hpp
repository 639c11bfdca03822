// Replaces pthread_create of a program by one that fails at a chosen call, as if the system had no more
// threads. Include it in one source of the program. Sanitizers have a pthread_create of their own, which
// stays.
#pragma once

#include <atomic>
#include <cerrno>

#include <dlfcn.h>
#include <pthread.h>

#include "common/failure_countdown.hpp"

namespace failing_threads {

#if defined(ESPALIER_SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool possible = false;
#else
inline constexpr bool possible = true;
#endif

inline std::atomic<long> countdown{-1}; // threads until failure; negative: never
inline std::atomic<bool> keeps_failing{false};

inline bool fails() noexcept {
    return reaches_failure(countdown, keeps_failing);
}

} // namespace failing_threads

#if !defined(ESPALIER_SANITIZED) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*start)(void*),
                              void* argument) noexcept {
    using Create = int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
    static auto const create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    return failing_threads::fails() ? EAGAIN : create(thread, attributes, start, argument);
}
#endif
