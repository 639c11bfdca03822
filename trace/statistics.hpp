// What a trace says in numbers: how each thread spent its time, what the tasks of each kind cost, the
// critical path through the tasks' dependencies, and how far a prediction was from the run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace espalier::trace {

/// From `begin` to `end`.
struct Window {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
};

/// The whole trace.
Window whole(Trace const& trace);
/// From the first start to the last end of the phases of this name ("factorization") in all processes;
/// nothing when there is no such phase.
std::optional<Window> phase(Trace const& trace, std::string_view name);

/// Time of one thread within the window. All the members add up to the window's length.
struct ThreadTimes {
    std::size_t container = 0;
    Nanoseconds busy = 0; ///< In states of category work.
    Nanoseconds communication = 0;
    Nanoseconds overhead = 0;
    Nanoseconds idle = 0;
    Nanoseconds unrecorded = 0; ///< In no state.
    std::int64_t tasks = 0;     ///< States of category work that start in the window.
};

/// All the states of one kind, on threads, within the window.
struct KindTimes {
    std::int64_t count = 0; ///< That start in the window; a state that others interrupted is one.
    Nanoseconds total = 0;
    [[nodiscard]] double mean() const { return count > 0 ? double(total) / double(count) : 0.0; }
};

struct Statistics {
    Window window;
    std::vector<ThreadTimes> threads; ///< In the order of the machine.
    std::vector<KindTimes> kinds;     ///< By kind.
    std::int64_t messages = 0;        ///< That left in the window.
    std::int64_t message_bytes = 0;
    std::int64_t steals = 0;
    std::vector<double> peaks; ///< Of each variable: its largest value in the window, in any container.

    [[nodiscard]] ThreadTimes total() const;
};

/// Linear.
Statistics statistics(Trace const& trace, Window window);

/// The longest chain of tasks that had to wait for each other; no schedule is shorter.
struct CriticalPath {
    std::vector<std::int64_t> tasks; ///< From first to last.
    Nanoseconds length = 0;          ///< Sum of the tasks' durations.
    Window window;                   ///< Of all tasks that have a number: makespan = end - begin.
    std::vector<Nanoseconds> kinds;  ///< The part of `length` in each kind.
    std::int64_t unknown_tasks = 0;  ///< Named by dependencies but not in the trace; taken as 0 ns.
};

/// Nothing when the trace has no dependencies. Error{bad_input} when they have a cycle, naming a task on it.
std::optional<CriticalPath> critical_path(Trace const& trace);

/// The prediction of one kind of tasks against its measurement.
struct KindComparison {
    std::string name;
    KindTimes predicted; ///< All of the trace.
    KindTimes measured;
    std::int64_t matched = 0; ///< Tasks that both traces have, by number.
    Nanoseconds matched_predicted = 0;
    Nanoseconds matched_measured = 0;
    double median_ratio = 0;        ///< Measured / predicted over the matched tasks; 0 when there is none.
    double mean_relative_error = 0; ///< Of |predicted - measured| / measured over the matched tasks.
};

struct Comparison {
    std::vector<KindComparison> kinds;  ///< Of category work, those that either trace has.
    Nanoseconds predicted_makespan = 0; ///< From the first start to the last end of tasks.
    Nanoseconds measured_makespan = 0;
    /// (measured - predicted) / measured.
    [[nodiscard]] double makespan_error() const {
        return measured_makespan > 0
                   ? double(measured_makespan - predicted_makespan) / double(measured_makespan)
                   : 0.0;
    }
};

/// Kinds are matched by name. A prediction covers perhaps one phase only, so makespans are those of the
/// tasks that both traces have when there are such, else of all tasks.
Comparison compare(Trace const& predicted, Trace const& measured);

/// As tables of plain text, 100 columns wide. At most `max_threads` threads are listed.
std::string to_text(Trace const& trace, Statistics const& statistics, std::size_t max_threads = 64);
std::string to_text(Trace const& trace, std::optional<CriticalPath> const& path);
std::string to_text(Comparison const& comparison);
/// "1.234 s", "56.7 ms", ...
std::string readable_time(Nanoseconds time);

} // namespace espalier::trace
