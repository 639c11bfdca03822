#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>

#include "core/counted.hpp"
#include "tools/traces/statistics.hpp"
#include "trace/clock_offset.hpp"

namespace espalier::trace {
namespace {

double percent(Nanoseconds part, Nanoseconds all) {
    return all > 0 ? 100.0 * double(part) / double(all) : 0.0;
}

std::string thread_row(std::string const& name, ThreadTimes const& times) {
    Nanoseconds const all = times.busy + times.communication + times.overhead + times.idle + times.unrecorded;
    return fmt::format("{:<10.10} {:>10} {:6.1f}% {:6.1f}% {:8.1f}% {:6.1f}% {:10.1f}% {:10}\n", name,
                       readable_time(times.busy), percent(times.busy, all), percent(times.communication, all),
                       percent(times.overhead, all), percent(times.idle, all), percent(times.unrecorded, all),
                       times.tasks);
}

// The accuracy of the clocks and the early messages. Two processes may differ by twice the error of each from
// process 0.
std::string clocks_text(Trace const& trace) {
    std::string text;
    std::string const recorded(trace.about(clock_error_key));
    Nanoseconds const error = std::strtoll(recorded.c_str(), nullptr, 10);
    if (!recorded.empty())
        text += error == 0 ? "the processes have the same clock\n"
                           : fmt::format("the clocks of the processes are within {} of that of P0\n",
                                         readable_time(error));
    if (trace.early_messages() > 0)
        text += fmt::format("{} arrived up to {} before being sent; shown as arriving immediately{}\n",
                            counted(trace.early_messages(), "message"), readable_time(trace.earliest_by()),
                            trace.earliest_by() > 2 * error ? "; the errors of the clocks are smaller" : "");
    return text;
}

} // namespace

std::string readable_time(Nanoseconds time) {
    auto const value = static_cast<double>(time);
    if (time >= 10'000'000'000) return fmt::format("{:.2f} s", value / 1e9);
    if (time >= 1'000'000'000) return fmt::format("{:.3f} s", value / 1e9);
    if (time >= 1'000'000) return fmt::format("{:.{}f} ms", value / 1e6, time >= 100'000'000 ? 1 : 2);
    if (time >= 1'000) return fmt::format("{:.{}f} us", value / 1e3, time >= 100'000 ? 1 : 2);
    return fmt::format("{} ns", time);
}

std::string readable_value(double value, std::string const& unit) {
    constexpr std::array<char const*, 6> prefixes{"", "k", "M", "G", "T", "P"};
    if (unit == "bytes") {
        std::size_t power = 0;
        for (; value >= 1000 && power + 1 < prefixes.size(); value /= 1000) ++power;
        return fmt::format("{:.3g} {}B", value, prefixes[power]);
    }
    return fmt::format("{:.6g}{}{:.20}", value, unit.empty() ? "" : " ", unit);
}

std::string to_text(Trace const& trace, Statistics const& statistics, std::size_t max_threads) {
    auto const& window = statistics.window;
    std::string text = "thread           busy    busy   comm.  overhead    idle  unrecorded     states\n";
    for (std::size_t i = 0; i < std::min(max_threads, statistics.threads.size()); ++i)
        text += thread_row(trace.containers()[statistics.threads[i].container].name, statistics.threads[i]);
    if (statistics.threads.size() > max_threads)
        text += fmt::format("... and {} more\n", statistics.threads.size() - max_threads);
    std::int64_t const progress = statistics.progress_threads();
    text += thread_row(progress > 0 ? "workers" : "all", statistics.total_of(false));
    if (progress > 0) text += thread_row("progress", statistics.total_of(true));

    Nanoseconds const all = (window.end - window.begin) * std::ssize(statistics.threads);
    text += "\nkind                count        total         mean     share\n";
    for (std::size_t k = 0; k < statistics.kinds.size(); ++k) {
        auto const& kind = statistics.kinds[k];
        if (kind.count == 0 && kind.total == 0) continue;
        text += fmt::format("{:<14.14} {:10} {:>12} {:>12} {:8.1f}%\n", trace.kinds()[k].name, kind.count,
                            readable_time(kind.total), readable_time(static_cast<Nanoseconds>(kind.mean())),
                            percent(kind.total, all));
    }
    text += "\nwindow " + readable_time(window.end - window.begin) + ", " +
            counted(std::ssize(statistics.threads) - progress, "thread") +
            (progress > 0 ? " and " + counted(progress, "progress thread") : "");
    if (statistics.messages > 0)
        text += ", " + counted(statistics.messages, "message") +
                fmt::format(" ({:.3g} MB)", double(statistics.message_bytes) / 1e6);
    if (statistics.steals > 0) text += ", " + counted(statistics.steals, "steal");
    for (std::size_t v = 0; v < statistics.peaks.size(); ++v)
        if (auto const& variable = trace.variables()[v]; statistics.peaks[v] > 0)
            text += ", at most " + readable_value(statistics.peaks[v], variable.unit) +
                    (variable.unit.empty() ? " " : " of ") + variable.name;
    text += '\n';
    if (trace.dropped_events() > 0)
        text += counted(trace.dropped_events(), "event") +
                " dropped for lack of memory; the lost time counts as unrecorded\n";
    if (trace.unmatched_messages() > 0)
        text += counted(trace.unmatched_messages(), "message") + " with only one end in the trace\n";
    return text + clocks_text(trace);
}

std::string to_text(Trace const& trace, std::optional<CriticalPath> const& path) {
    if (!path) return "critical path: no dependencies between tasks are recorded\n";
    Nanoseconds const makespan = path->window.end - path->window.begin;
    std::string text = fmt::format("critical path: {}, {:.1f}% of the makespan {}, in {}\n",
                                   readable_time(path->length), percent(path->length, makespan),
                                   readable_time(makespan), counted(std::ssize(path->tasks), "task"));
    auto const add = [&](std::string_view name, Nanoseconds part) {
        if (part > 0)
            text += fmt::format("  {:<14.14} {:>12} {:8.1f}%\n", name, readable_time(part),
                                percent(part, path->length));
    };
    for (std::size_t k = 0; k < path->kinds.size(); ++k) add(trace.kinds()[k].name, path->kinds[k]);
    add("messages", path->messages);
    if (path->unknown_tasks > 0)
        text += "  not in the trace: " + counted(path->unknown_tasks, "task") + " of the dependencies\n";
    return text;
}

std::string to_text(Comparison const& comparison) {
    constexpr char const* columns = "{:<12} {:>21} {:>11} {:>11} {:>8} {:>10} {:>8}\n";
    std::string text = fmt::format(fmt::runtime(columns), "", "states", "predicted", "measured", "error",
                                   "matched", "median");
    auto const add = [&](KindComparison const& kind) {
        text +=
            fmt::format(fmt::runtime(columns), kind.name.substr(0, 12),
                        fmt::format("{} / {}", kind.predicted.count, kind.measured.count),
                        readable_time(kind.predicted.total), readable_time(kind.measured.total),
                        kind.measured.total > 0 ? fmt::format("{:+.1f}%", 100 * kind.error()) : "-",
                        kind.matched, kind.median_ratio > 0 ? fmt::format("{:.2f}", kind.median_ratio) : "-");
    };
    for (auto const& kind : comparison.kinds) add(kind);
    add(comparison.total);
    text += fmt::format("{:<12} {:>21} {:>11} {:>11} {:+7.1f}%\n", "makespan", "",
                        readable_time(comparison.predicted_makespan),
                        readable_time(comparison.measured_makespan), 100 * comparison.makespan_error());
    return text +
           fmt::format(
               "states: predicted / measured; error: (predicted - measured) / measured; median: measured /\n"
               "predicted of the pieces of work that were matched by {}\n",
               comparison.match == MatchBy::task ? "task" : "column block");
}

} // namespace espalier::trace
