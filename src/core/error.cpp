#include "core/error.hpp"

#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace espalier {

void reject_integer(char const* what, std::string const& value) {
    throw Error(
        Status::unsupported,
        fmt::format("{} = {} does not fit the integer type of the library that needs it", what, value));
}

namespace {

// Made before memory can be scarce. Copies share its text and allocate nothing.
Error const lack_of_memory(Status::out_of_memory, "out of memory");

Error converted_error() {
    try {
        throw;
    } catch (Error const& error) {
        return error;
    } catch (std::bad_alloc const&) {
        return lack_of_memory;
    } catch (std::length_error const&) {
        return {Status::out_of_memory, "an array would be larger than the address space"};
    } catch (std::system_error const& error) { // a thread could not be started
        bool const scarce = error.code() == std::errc::resource_unavailable_try_again ||
                            error.code() == std::errc::not_enough_memory;
        return {scarce ? Status::out_of_memory : Status::internal, error.what()};
    } catch (std::exception const& error) {
        return {Status::internal, error.what()};
    } catch (...) {
        return {Status::internal, "a callback threw an object that is not a std::exception"};
    }
}

} // namespace

Error current_error() noexcept {
    try {
        return converted_error();
    } catch (...) { // no memory for the text
        return lack_of_memory;
    }
}

Error thread_error(std::string_view what) noexcept {
    Error const error = current_error();
    try {
        return {error.status(), fmt::format("cannot start {}: {}", what, error.what())};
    } catch (...) {
        return error;
    }
}

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
