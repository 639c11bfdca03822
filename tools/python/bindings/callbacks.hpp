// Runs Python's signal handlers (Ctrl-C) and the caller's progress and log functions during a call into the
// library, which does not hold the interpreter lock. All of them run on the calling thread. Events of other
// threads are queued until the library next asks that thread whether to cancel.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/options.hpp"

namespace espalier::python {

namespace py = pybind11;

/// Whether this is the thread on which Python runs signal handlers. Needs the interpreter lock.
bool is_main_thread();

/// The number of forks between the first process with a solver and this one. A counter takes less time than a
/// call of the system.
int number_of_forks();

class PythonCallbacks final : public ProgressSink {
  public:
    /// Starts a call on this thread. `progress` receives a phase and a fraction (None if unknown), and `log`
    /// receives a line. Both may be None, and must live until end_call().
    void begin_call(py::handle progress, py::handle log, bool on_main_thread);
    /// Ends the call: delivers the remaining events, and rethrows an exception that a Python function raised.
    /// Needs the interpreter lock.
    void end_call();

    /// Options::cancel: returns true after a Python function or signal handler has raised. Called on the
    /// calling thread without the interpreter lock.
    bool must_cancel();
    /// Options::log. Called on any thread.
    void log_line(std::string_view line);

    void begin(std::string_view phase, double total) override;
    void advance(double amount) override;
    void end() override;

  private:
    using Clock = std::chrono::steady_clock;
    struct Phase {
        std::string name;
        double total;
        double done = 0;
        double reported = 0; // Last fraction passed to Python.
    };
    struct Event {
        bool is_line; // A line of the log; otherwise progress.
        std::string text;
        double fraction; // Negative if unknown.
    };

    void run_callbacks(bool signals);
    void deliver(Event const& event) const;
    [[nodiscard]] std::vector<Event> take_events();

    // Used only by the calling thread.
    py::handle progress_;
    py::handle log_;
    bool on_main_thread_ = false;
    Clock::time_point last_run_;
    std::exception_ptr raised_;

    std::mutex mutex_;          // Protects the following members; never held while Python runs.
    std::vector<Phase> phases_; // Running phases, outermost first.
    std::vector<Event> events_; // Events to be delivered.
};

} // namespace espalier::python
