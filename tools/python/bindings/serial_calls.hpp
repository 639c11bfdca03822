// Runs the calls of one solver one at a time, without the interpreter lock, so that Ctrl-C stops them.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "callbacks.hpp"
#include "core/function_ref.hpp"

namespace espalier::python {

/// The caller's progress and log functions, either of which may be None. They are passed with each call in a
/// Python tuple and not kept, so that Python's garbage collector sees all references to them.
struct Listeners {
    Listeners() = default;
    Listeners(py::tuple const& functions)
        : progress(py::object(functions[0])), log(py::object(functions[1])) {}
    py::handle progress = Py_None;
    py::handle log = Py_None;
};

class SerialCalls {
  public:
    /// Whether this is the process that created the object, and not a fork of it.
    [[nodiscard]] bool is_own_process() const { return number_of_forks() == forks_; }

    /// Options with the callbacks of the calls. They refer to this object.
    [[nodiscard]] Options with_callbacks(Options options);

    /// Returns body(), which runs without the interpreter lock and after the calls of other threads. Rethrows
    /// its exception, or that of a Python function that it called.
    template <class Body> auto run(Listeners const& listeners, Body const& body) {
        using Result = std::invoke_result_t<Body>;
        if constexpr (std::is_void_v<Result>) {
            call(listeners, body);
        } else {
            std::optional<Result> result;
            call(listeners, [&] { result = body(); });
            return std::move(*result);
        }
    }

  private:
    void call(Listeners const& listeners, FunctionRef<void()> body);
    [[nodiscard]] std::unique_lock<std::timed_mutex> lock(bool on_main_thread);

    int const forks_ = number_of_forks();
    std::timed_mutex mutex_; // Serializes the calls.
    std::atomic<std::thread::id> running_{};
    PythonCallbacks callbacks_;
};

} // namespace espalier::python
