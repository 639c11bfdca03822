#include "core/error.hpp"

#include <utility>

namespace espalier {

void FirstError::capture() noexcept {
    std::lock_guard const lock(mutex_);
    if (first_) return;
    first_ = std::current_exception();
    raised_.store(true, std::memory_order_release);
}

void FirstError::rethrow() {
    if (!raised()) return;
    std::exception_ptr const error = [this] {
        std::lock_guard const lock(mutex_);
        raised_.store(false, std::memory_order_release);
        return std::exchange(first_, nullptr);
    }();
    std::rethrow_exception(error);
}

} // namespace espalier
