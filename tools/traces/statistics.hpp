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
/// The same of the last run of that phase in each process: a factorization that was tried again, say.
std::optional<Window> last_phase(Trace const& trace, std::string_view name);
/// The names of all phases, by their first starts.
std::vector<std::string> phases(Trace const& trace);

/// Time of one thread within the window. All the members add up to the window's length.
struct ThreadTimes {
    std::size_t container = 0;
    Nanoseconds busy = 0; ///< In states of category work.
    Nanoseconds communication = 0;
    Nanoseconds overhead = 0;
    Nanoseconds idle = 0;
    Nanoseconds unrecorded = 0; ///< In no state.
    std::int64_t tasks = 0;     ///< States of category work that start in the window.
    bool is_progress = false;   ///< A progress thread: in the whole trace it communicates and does no work.
    ThreadTimes& operator+=(ThreadTimes const& other);
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
    /// Of each variable: its largest value in the window, in any container; also that which it had before.
    std::vector<double> peaks;

    [[nodiscard]] ThreadTimes total() const;
    /// Of the progress threads, or of the others.
    [[nodiscard]] ThreadTimes total_of(bool progress) const;
    [[nodiscard]] std::int64_t progress_threads() const;
};

/// Linear.
Statistics statistics(Trace const& trace, Window window);

/// The longest chain of tasks that had to wait for each other; no schedule is shorter.
struct CriticalPath {
    std::vector<std::int64_t> tasks; ///< From first to last.
    Nanoseconds length = 0;          ///< Sum of the tasks' durations.
    Window window;                   ///< From the first start to the last end of any task: the makespan.
    std::vector<Nanoseconds> kinds;  ///< The part of `length` in each kind.
    Nanoseconds messages = 0;        ///< The part of `length` that was under way between threads.
    std::int64_t unknown_tasks = 0;  ///< Named by dependencies but not in the trace; taken as 0 ns.
};

/// Of the tasks that lie in the window. A task that is no state but the tag of a message is that message.
/// Nothing when no dependencies of these tasks are known. Error{bad_input} when they have a cycle, naming a
/// task on it. O(n log n) in the states and dependencies.
std::optional<CriticalPath> critical_path(Trace const& trace, Window window);
std::optional<CriticalPath> critical_path(Trace const& trace);

/// How tasks of a prediction and of a measurement find each other.
enum class MatchBy : std::uint8_t {
    task, ///< By kind, number and cblk, the numbers counted from the lowest one in each window.
    cblk, ///< By kind and cblk, whatever tasks they are in; by number where a state has no cblk.
};

/// The prediction of one kind of work against its measurement.
struct KindComparison {
    std::string name;
    KindTimes predicted; ///< All that lies in the window.
    KindTimes measured;
    std::int64_t matched = 0; ///< Pieces of work that both traces have.
    Nanoseconds matched_predicted = 0;
    Nanoseconds matched_measured = 0;
    double median_ratio = 0;        ///< Measured / predicted of the matched pieces; 0 when there is none.
    double mean_relative_error = 0; ///< Of |predicted - measured| / measured of the matched pieces.
    /// (predicted - measured) / measured, of the whole kind; 0 when nothing was measured.
    [[nodiscard]] double error() const;
};

struct Comparison {
    std::vector<KindComparison> kinds; ///< Of category work, those that either trace has.
    KindComparison total;              ///< All of them.
    MatchBy match = MatchBy::cblk;
    Window predicted; ///< Where the tasks that were compared lie: the phase.
    Window measured;
    Nanoseconds predicted_makespan = 0; ///< From the first start to the last end of these tasks.
    Nanoseconds measured_makespan = 0;
    /// (predicted - measured) / measured.
    [[nodiscard]] double makespan_error() const;
};

/// Compares the last run of the phase in each trace, as a prediction covers perhaps this phase only; the
/// whole of both where neither has it, or the name is empty. Error{usage} that names the phases where only
/// one of them has it. Kinds are matched by name. Inside them, all states of equal task and cblk are one
/// piece of work, and pieces match by task where both traces have the same tasks (that is, as many, and each
/// of the same cblk: the plan that was predicted is the one that ran), else by cblk. O(n log n) in the
/// states.
Comparison compare(Trace const& predicted, Trace const& measured,
                   std::string_view phase_name = "factorization");

/// As tables of plain text, 100 columns wide. At most `max_threads` threads are listed.
std::string to_text(Trace const& trace, Statistics const& statistics, std::size_t max_threads = 64);
std::string to_text(Trace const& trace, std::optional<CriticalPath> const& path);
std::string to_text(Comparison const& comparison);
/// "1.234 s", "56.7 ms", ...
std::string readable_time(Nanoseconds time);
/// "1.5 GB", "1200".
std::string readable_value(double value, std::string const& unit);

} // namespace espalier::trace
