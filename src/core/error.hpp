// Helpers around espalier::Error: checked integer conversion and the capture of the first failure among
// several threads.
#pragma once

#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <type_traits>

#include "espalier/types.hpp"

namespace espalier {

/// `value` as a To, or Error{Status::unsupported} naming `what` when it does not fit. Used wherever a
/// library wants its own integer type.
template <class To, class From> To checked_cast(From value, char const* what) {
    static_assert(std::is_integral_v<To> && std::is_integral_v<From>);
    if (value < From(0)
            ? static_cast<std::int64_t>(value) < static_cast<std::int64_t>(std::numeric_limits<To>::min())
            : static_cast<std::uint64_t>(value) > static_cast<std::uint64_t>(std::numeric_limits<To>::max()))
        throw Error(Status::unsupported, std::string(what) + " = " + std::to_string(value) +
                                             " does not fit the integer type of the library that needs it");
    return static_cast<To>(value);
}

/// What is being handled, as an Error: to be called inside a catch block.
Error current_error();

/// Keeps the first exception that any thread reports; the others are dropped.
class FirstError {
  public:
    /// To be called inside a catch block.
    void capture() noexcept;
    [[nodiscard]] bool raised() const noexcept { return raised_.load(std::memory_order_acquire); }
    /// Rethrow the captured exception, if there is one. Called by one thread, after the others are done.
    void rethrow();

  private:
    std::atomic<bool> raised_{false};
    std::mutex mutex_;
    std::exception_ptr first_;
};

} // namespace espalier
