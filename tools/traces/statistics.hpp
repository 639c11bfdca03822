// Statistics of a trace: the time of each thread by category, the cost of each kind of tasks, the critical
// path through the dependencies, and the error of a prediction.
#pragma once

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

/// Extends `window`, if it has a value, to include `part`; otherwise sets it to `part`.
void extend(std::optional<Window>& window, Window const& part);
/// The whole trace.
Window whole(Trace const& trace);
/// From the first start to the last end of all phases of this name, such as "factorization", in all
/// processes, or of the last one in each process; nothing if there is no such phase.
std::optional<Window> phase(Trace const& trace, std::string_view name, bool only_last = false);
/// The names of all phases, in the order of their first starts.
std::vector<std::string> phases(Trace const& trace);

/// The time of one thread in the window. The times add up to the length of the window.
struct ThreadTimes {
    std::int32_t container = 0;
    Nanoseconds busy = 0; ///< In states of category work.
    Nanoseconds communication = 0;
    Nanoseconds overhead = 0;
    Nanoseconds idle = 0;
    Nanoseconds unrecorded = 0; ///< In no state.
    std::int64_t tasks = 0;     ///< The number of states of category work that start in the window.
    bool is_progress = false;   ///< A communication thread: communication and no work in the whole trace.
    ThreadTimes& operator+=(ThreadTimes const& other);
};

/// The states of one kind on all threads in the window.
struct KindTimes {
    std::int64_t count = 0; ///< States that start in the window; the pieces of a state count once.
    Nanoseconds total = 0;
    [[nodiscard]] double mean() const { return count > 0 ? double(total) / double(count) : 0.0; }
};

struct Statistics {
    Window window;
    std::vector<ThreadTimes> threads; ///< In the order of the machine.
    std::vector<KindTimes> kinds;     ///< Indexed by kind.
    std::int64_t messages = 0;        ///< Messages sent in the window.
    std::int64_t message_bytes = 0;
    std::int64_t steals = 0;
    /// The largest value of each variable in the window, over all containers, including the initial value.
    std::vector<double> peaks;

    [[nodiscard]] ThreadTimes total() const;
    /// The sum over the communication threads, or over the other threads.
    [[nodiscard]] ThreadTimes total_of(bool progress) const;
    [[nodiscard]] std::int64_t progress_threads() const;
};

/// Events at the end of the window count only if the trace ends there, or if a phase ends there and no other
/// phase goes on. The sums over all phases are therefore those of the whole trace. Takes linear time.
Statistics statistics(Trace const& trace, Window window);

/// A task. Its states, which may be several pieces, are added up.
struct TaskTime {
    std::int64_t task = 0;
    Nanoseconds duration = 0;
    Nanoseconds start = 0;
    Nanoseconds end = 0;
};

/// Sorted by task number. Only states for which is_work() holds are counted.
std::vector<TaskTime> task_times(Trace const& trace, Window window);

/// Whether a state belongs to a thread, has category work, and is in the window.
bool is_work(Trace const& trace, State const& state, Window window);

/// The longest chain of dependent tasks, a lower bound of every schedule.
struct CriticalPath {
    std::vector<std::int64_t> tasks; ///< From first to last.
    Nanoseconds length = 0;          ///< The sum of the durations of the tasks.
    Window window;                   ///< From the first start to the last end of any task: the makespan.
    std::vector<Nanoseconds> kinds;  ///< The part of `length` in each kind.
    Nanoseconds messages = 0;        ///< The part of `length` in messages.
    std::int64_t unknown_tasks = 0;  ///< Tasks of dependencies that are not in the trace; they take 0 ns.
};

/// The critical path of the tasks in the window. A task without states that is the tag of a message stands
/// for that message. Nothing if no dependencies between these tasks are known. Error{bad_input} for a cycle
/// names a task. Takes O(n log n) time in the states and dependencies.
std::optional<CriticalPath> critical_path(Trace const& trace, Window window);

/// How tasks of a prediction and of a measurement are matched.
enum class MatchBy : std::uint8_t {
    task, ///< By kind, number and cblk. Numbers are relative to the lowest in each window.
    cblk, ///< By kind and cblk; by kind and number for states without cblk.
};

/// The prediction and the measurement of one kind of work.
struct KindComparison {
    std::string name;
    KindTimes predicted; ///< All states in the window.
    KindTimes measured;
    std::int64_t matched = 0; ///< The number of pieces of work in both traces.
    Nanoseconds matched_predicted = 0;
    Nanoseconds matched_measured = 0;
    double median_ratio = 0; ///< Median of measured / predicted of the matched pieces; 0 without pieces.
    double mean_relative_error = 0; ///< Mean of |predicted - measured| / measured of the matched pieces.
    /// (predicted - measured) / measured of all states; 0 if nothing was measured.
    [[nodiscard]] double error() const;
};

struct Comparison {
    std::vector<KindComparison> kinds; ///< Kinds of category work in either trace.
    KindComparison total;              ///< The sum of all kinds.
    MatchBy match = MatchBy::cblk;
    Window predicted; ///< The compared phase.
    Window measured;
    Nanoseconds predicted_makespan = 0; ///< From the first start to the last end of these tasks.
    Nanoseconds measured_makespan = 0;
    /// (predicted - measured) / measured.
    [[nodiscard]] double makespan_error() const;
};

/// Compares the last phase of this name in each trace, or the whole traces if neither has it or the name is
/// empty. Error{usage} if only one trace has it. Kinds are matched by name. All states of one kind, task and
/// cblk are a piece of work. Pieces are matched by task if both traces have the same tasks (as many, and each
/// with the same cblk), so that the predicted plan is the one that ran; else by cblk. Takes O(n log n) time
/// in the states.
Comparison compare(Trace const& predicted, Trace const& measured,
                   std::string_view phase_name = "factorization");

/// Tables of plain text, 100 columns wide. At most `max_threads` threads are listed.
std::string to_text(Trace const& trace, Statistics const& statistics, std::size_t max_threads = 64);
std::string to_text(Trace const& trace, std::optional<CriticalPath> const& path);
std::string to_text(Comparison const& comparison);
/// "1.234 s", "56.7 ms", ...
std::string readable_time(Nanoseconds time);
/// "1.5 GB", "1200".
std::string readable_value(double value, std::string const& unit);

} // namespace espalier::trace
