#include "serial_calls.hpp"

#include <chrono>
#include <exception>
#include <string_view>

#include "espalier/types.hpp"
#include "interpreter_lock.hpp"

namespace espalier::python {

Options SerialCalls::with_callbacks(Options options) {
    options.progress = &callbacks_;
    options.log = [this](std::string_view line) { callbacks_.log_line(line); };
    options.cancel = [this] { return callbacks_.must_cancel(); };
    return options;
}

void SerialCalls::call(Listeners const& listeners, FunctionRef<void()> body) {
    if (!is_own_process())
        throw Error(Status::usage,
                    "this solver was created before the process forked, and its threads do not "
                    "exist in the child; create a new solver there");
    bool const on_main_thread = is_main_thread();
    std::exception_ptr failure;
    ReleasedLock const no_python;
    auto const locked = lock(on_main_thread);
    running_ = std::this_thread::get_id();
    callbacks_.begin_call(listeners.progress, listeners.log, on_main_thread);
    try {
        body();
    } catch (...) {
        failure = std::current_exception();
    }
    AcquiredLock const python;
    try {
        callbacks_.end_call();
    } catch (...) {
        failure = std::current_exception(); // It caused the Error{cancelled} of body().
    }
    running_ = std::thread::id();
    if (failure) std::rethrow_exception(failure);
}

/// Locks the mutex. The caller does not hold the interpreter lock, which the owner of the mutex may need.
std::unique_lock<std::timed_mutex> SerialCalls::lock(bool on_main_thread) {
    if (running_.load() == std::this_thread::get_id())
        throw Error(Status::usage, "a solver cannot be used from its own progress or log function");
    std::unique_lock lock(mutex_, std::defer_lock);
    while (!lock.try_lock_for(std::chrono::milliseconds(50))) {
        if (!on_main_thread) continue;
        AcquiredLock const python;
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    return lock;
}

} // namespace espalier::python
