// What goes on beside a call into the library while it runs without Python's lock: Python's signal handlers
// (Ctrl-C), and the caller's progress and log functions. All of them run on the thread that called; what
// other threads have to tell waits until that thread is next asked whether to go on.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/options.hpp"

namespace espalier::python {

namespace py = pybind11;

/// Whether this is the thread that Python runs signal handlers on. With Python's lock.
bool is_main_thread();

class Attendant final : public ProgressSink {
  public:
    /// A call starts on this thread. `progress` (called with a phase and a fraction, or None where that is
    /// not known) and `log` (called with a line) may be None; the caller keeps them alive until leave().
    void attend(py::handle progress, py::handle log, bool on_main_thread);
    /// The call is over: deliver what is left, and rethrow what a Python function raised. With Python's lock.
    void leave();

    /// Options::cancel: true after a Python function or signal handler has raised. On the calling thread,
    /// without Python's lock.
    bool asked();
    /// Options::log. Any thread.
    void say(std::string_view line);

    void begin(std::string_view phase, double total) override;
    void advance(double amount) override;
    void end() override;

  private:
    using Clock = std::chrono::steady_clock;
    struct Phase {
        std::string name;
        double total;
        double done = 0;
        double told = 0; // fraction that Python was last told of
    };
    struct Event {
        bool is_line; // of the log, else progress
        std::string text;
        double fraction; // negative when not known
    };

    void look_after_python(bool signals);
    void tell(Event const& event) const;
    [[nodiscard]] std::vector<Event> news();

    // The calling thread's.
    py::handle progress_;
    py::handle log_;
    bool on_main_thread_ = false;
    Clock::time_point last_look_;
    std::exception_ptr raised_;

    std::mutex mutex_;          // of the following; never held while Python runs
    std::vector<Phase> phases_; // running, outermost first
    std::vector<Event> events_; // not told yet
};

} // namespace espalier::python
