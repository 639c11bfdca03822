// Helpers around espalier::Error: checked integer conversion and the capture of the first failure among
// several threads.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "espalier/types.hpp"

namespace espalier {

/// Throws Error{unsupported}: the integer `what` = `value` does not fit the type that a library requires.
[[noreturn]] void reject_integer(char const* what, std::string const& value);

/// Converts `value` to the integer type of an external library. Throws Error{unsupported} with the name
/// `what` if it does not fit.
template <class To, class From> To checked_cast(From value, char const* what) {
    if (!std::in_range<To>(value)) reject_integer(what, std::to_string(value));
    return static_cast<To>(value);
}

/// Converts the exception that is being handled to an Error. Call it inside a catch block. Needs no memory if
/// there is none: then the result is Error{out_of_memory}.
Error current_error() noexcept;

/// Converts the exception that starting a thread threw. The message is "cannot start <what>: ...", or that of
/// current_error() if there is no memory for it. Call it inside a catch block.
Error thread_error(std::string_view what) noexcept;

/// Keeps the first exception that any thread reports and drops the others.
class FirstError {
  public:
    /// Records the exception that is being handled. Call it inside a catch block.
    void capture() noexcept;
    [[nodiscard]] bool raised() const noexcept { return raised_.load(std::memory_order_acquire); }
    /// Rethrows the recorded exception, if any. Call it on one thread after the others have finished.
    void rethrow();

  private:
    std::atomic<bool> raised_{false};
    std::mutex mutex_;
    std::exception_ptr first_;
};

} // namespace espalier
