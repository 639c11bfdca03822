#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "tools/traces/statistics.hpp"
#include "trace/clock_offset.hpp"

namespace espalier::trace {
namespace {

[[gnu::format(printf, 1, 2)]] std::string print(char const* format, ...) {
    char text[256];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

// "1 message", "2 messages".
std::string counted(std::int64_t count, char const* noun) {
    return print("%lld %s%s", static_cast<long long>(count), noun, count == 1 ? "" : "s");
}

double percent(Nanoseconds part, Nanoseconds all) {
    return all > 0 ? 100.0 * double(part) / double(all) : 0.0;
}

std::string thread_row(std::string const& name, ThreadTimes const& times) {
    Nanoseconds const all = times.busy + times.communication + times.overhead + times.idle + times.unrecorded;
    return print("%-10.10s %10s %6.1f%% %6.1f%% %8.1f%% %6.1f%% %10.1f%% %10lld\n", name.c_str(),
                 readable_time(times.busy).c_str(), percent(times.busy, all),
                 percent(times.communication, all), percent(times.overhead, all), percent(times.idle, all),
                 percent(times.unrecorded, all), static_cast<long long>(times.tasks));
}

// How far the clocks of the processes agree, and what that does to messages. Two processes may be apart by
// twice what each may be apart from process 0.
std::string clocks_text(Trace const& trace) {
    std::string text;
    std::string const told(trace.about(clock_error_key));
    Nanoseconds const error = std::strtoll(told.c_str(), nullptr, 10);
    if (!told.empty())
        text += error == 0 ? "the processes have the same clock\n"
                           : "clocks of the processes: within " + readable_time(error) + " of that of P0\n";
    if (trace.early_messages() > 0)
        text += counted(trace.early_messages(), "message") +
                " seemed to come before being sent, by at most " + readable_time(trace.earliest_by()) +
                ": shown as coming at once" +
                (trace.earliest_by() > 2 * error ? "; this is more than the clocks explain\n" : "\n");
    return text;
}

} // namespace

std::string readable_time(Nanoseconds time) {
    auto const value = static_cast<double>(time);
    if (time >= 10'000'000'000) return print("%.2f s", value / 1e9);
    if (time >= 1'000'000'000) return print("%.3f s", value / 1e9);
    if (time >= 1'000'000) return print("%.*f ms", time >= 100'000'000 ? 1 : 2, value / 1e6);
    if (time >= 1'000) return print("%.*f us", time >= 100'000 ? 1 : 2, value / 1e3);
    return print("%lld ns", static_cast<long long>(time));
}

std::string readable_value(double value, std::string const& unit) {
    constexpr std::array<char const*, 6> prefixes{"", "k", "M", "G", "T", "P"};
    if (unit == "bytes") {
        std::size_t power = 0;
        for (; value >= 1000 && power + 1 < prefixes.size(); value /= 1000) ++power;
        return print("%.3g %sB", value, prefixes[power]);
    }
    return print("%.6g%s%.20s", value, unit.empty() ? "" : " ", unit.c_str());
}

std::string to_text(Trace const& trace, Statistics const& statistics, std::size_t max_threads) {
    auto const& window = statistics.window;
    std::string text = print("%-10s %10s %7s %7s %9s %7s %11s %10s\n", "thread", "busy", "busy", "comm.",
                             "overhead", "idle", "unrecorded", "states");
    for (std::size_t i = 0; i < std::min(max_threads, statistics.threads.size()); ++i)
        text += thread_row(trace.containers()[statistics.threads[i].container].name, statistics.threads[i]);
    if (statistics.threads.size() > max_threads)
        text += print("... and %zu more\n", statistics.threads.size() - max_threads);
    std::int64_t const progress = statistics.progress_threads();
    text += thread_row(progress > 0 ? "workers" : "all", statistics.total_of(false));
    if (progress > 0) text += thread_row("progress", statistics.total_of(true));

    Nanoseconds const all = (window.end - window.begin) * static_cast<Nanoseconds>(statistics.threads.size());
    text += print("\n%-14s %10s %12s %12s %9s\n", "kind", "count", "total", "mean", "share");
    for (std::size_t k = 0; k < statistics.kinds.size(); ++k) {
        auto const& kind = statistics.kinds[k];
        if (kind.count == 0 && kind.total == 0) continue;
        text += print("%-14.14s %10lld %12s %12s %8.1f%%\n", trace.kinds()[k].name.c_str(),
                      static_cast<long long>(kind.count), readable_time(kind.total).c_str(),
                      readable_time(static_cast<Nanoseconds>(kind.mean())).c_str(), percent(kind.total, all));
    }
    text += "\nwindow " + readable_time(window.end - window.begin) + ", " +
            counted(std::ssize(statistics.threads) - progress, "thread") +
            (progress > 0 ? " and " + counted(progress, "progress thread") : "");
    if (statistics.messages > 0)
        text += ", " + counted(statistics.messages, "message") +
                print(" (%.3g MB)", double(statistics.message_bytes) / 1e6);
    if (statistics.steals > 0) text += ", " + counted(statistics.steals, "steal");
    for (std::size_t v = 0; v < statistics.peaks.size(); ++v)
        if (auto const& variable = trace.variables()[v]; statistics.peaks[v] > 0)
            text += ", at most " + readable_value(statistics.peaks[v], variable.unit) +
                    (variable.unit.empty() ? " " : " of ") + variable.name;
    text += '\n';
    if (trace.dropped_events() > 0)
        text += counted(trace.dropped_events(), "event") +
                " dropped for lack of memory: what is missing counts as unrecorded\n";
    if (trace.unmatched_messages() > 0)
        text += counted(trace.unmatched_messages(), "message") + " with one end only\n";
    return text + clocks_text(trace);
}

std::string to_text(Trace const& trace, std::optional<CriticalPath> const& path) {
    if (!path) return "critical path: no dependencies between tasks are recorded\n";
    Nanoseconds const makespan = path->window.end - path->window.begin;
    std::string text =
        print("critical path: %s, %.1f%% of the makespan %s, in %s\n", readable_time(path->length).c_str(),
              percent(path->length, makespan), readable_time(makespan).c_str(),
              counted(std::ssize(path->tasks), "task").c_str());
    auto const add = [&](char const* name, Nanoseconds part) {
        if (part > 0)
            text += print("  %-14.14s %12s %8.1f%%\n", name, readable_time(part).c_str(),
                          percent(part, path->length));
    };
    for (std::size_t k = 0; k < path->kinds.size(); ++k) add(trace.kinds()[k].name.c_str(), path->kinds[k]);
    add("messages", path->messages);
    if (path->unknown_tasks > 0)
        text += "  not in the trace: " + counted(path->unknown_tasks, "task") + " of the dependencies\n";
    return text;
}

std::string to_text(Comparison const& comparison) {
    std::string text = print("%-12s %21s %11s %11s %8s %10s %8s\n", "", "states", "predicted", "measured",
                             "error", "matched", "median");
    auto const add = [&](KindComparison const& kind) {
        std::string const counts = print("%lld / %lld", static_cast<long long>(kind.predicted.count),
                                         static_cast<long long>(kind.measured.count));
        text +=
            print("%-12.12s %21s %11s %11s", kind.name.c_str(), counts.c_str(),
                  readable_time(kind.predicted.total).c_str(), readable_time(kind.measured.total).c_str());
        text += kind.measured.total > 0 ? print(" %+7.1f%%", 100 * kind.error()) : print(" %8s", "-");
        text += print(" %10lld", static_cast<long long>(kind.matched));
        text += kind.median_ratio > 0 ? print(" %8.2f\n", kind.median_ratio) : print(" %8s\n", "-");
    };
    for (auto const& kind : comparison.kinds) add(kind);
    add(comparison.total);
    text += print("%-12s %21s %11s %11s %+7.1f%%\n", "makespan", "",
                  readable_time(comparison.predicted_makespan).c_str(),
                  readable_time(comparison.measured_makespan).c_str(), 100 * comparison.makespan_error());
    return text + print("states: predicted / measured; error: (predicted - measured) / measured; median: of "
                        "measured /\npredicted over what was matched by %s\n",
                        comparison.match == MatchBy::task ? "task" : "column block");
}

} // namespace espalier::trace
