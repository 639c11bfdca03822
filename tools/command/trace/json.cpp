#include "json.hpp"

#include <nlohmann/json.hpp>

namespace espalier::command {

namespace {

using Json = nlohmann::ordered_json;

double seconds(trace::Nanoseconds time) {
    return static_cast<double>(time) / 1e9;
}

Json times_json(trace::ThreadTimes const& times) {
    return {{"busy_s", seconds(times.busy)},
            {"communication_s", seconds(times.communication)},
            {"overhead_s", seconds(times.overhead)},
            {"idle_s", seconds(times.idle)},
            {"unrecorded_s", seconds(times.unrecorded)},
            {"states", times.tasks}};
}

Json threads_json(TraceNumbers const& numbers) {
    auto const& containers = numbers.trace.containers();
    Json threads = Json::array();
    for (auto const& thread : numbers.statistics.threads) {
        auto const name = [&](trace::Place place) {
            auto const at = numbers.trace.ancestor(thread.container, place);
            return at < 0 ? std::string() : containers[at].name;
        };
        Json one{{"name", containers[thread.container].name},
                 {"process", name(trace::Place::process)},
                 {"node", name(trace::Place::node)}};
        one.update(times_json(thread));
        threads.push_back(one);
    }
    return threads;
}

Json kinds_json(TraceNumbers const& numbers) {
    Json kinds = Json::object();
    for (std::size_t k = 0; k < numbers.statistics.kinds.size(); ++k) {
        auto const& times = numbers.statistics.kinds[k];
        auto const& kind = numbers.trace.kinds()[k];
        if (times.count == 0 && times.total == 0) continue;
        kinds[kind.name] = {{"category", to_string(kind.category)},
                            {"states", times.count},
                            {"total_s", seconds(times.total)},
                            {"mean_s", times.mean() / 1e9}};
    }
    return kinds;
}

Json phases_json(trace::Trace const& trace) {
    Json phases = Json::object();
    for (std::string const& name : trace::phases(trace)) {
        auto const window = *trace::phase(trace, name);
        phases[name] = {{"begin_s", seconds(window.begin)}, {"end_s", seconds(window.end)}};
    }
    return phases;
}

Json path_json(TraceNumbers const& numbers) {
    if (!numbers.path) return nullptr;
    Json kinds = Json::object();
    for (std::size_t k = 0; k < numbers.path->kinds.size(); ++k)
        if (numbers.path->kinds[k] > 0)
            kinds[numbers.trace.kinds()[k].name] = seconds(numbers.path->kinds[k]);
    return {{"length_s", seconds(numbers.path->length)},
            {"makespan_s", seconds(numbers.path->window.end - numbers.path->window.begin)},
            {"kinds_s", kinds},
            {"messages_s", seconds(numbers.path->messages)},
            {"unknown_tasks", numbers.path->unknown_tasks},
            {"tasks", numbers.path->tasks}};
}

Json kind_comparison_json(trace::KindComparison const& kind) {
    return {{"predicted_states", kind.predicted.count},
            {"measured_states", kind.measured.count},
            {"predicted_s", seconds(kind.predicted.total)},
            {"measured_s", seconds(kind.measured.total)},
            {"error", kind.error()},
            {"matched", kind.matched},
            {"matched_predicted_s", seconds(kind.matched_predicted)},
            {"matched_measured_s", seconds(kind.matched_measured)},
            {"median_ratio", kind.median_ratio},
            {"mean_relative_error", kind.mean_relative_error}};
}

Json comparison_json(TraceNumbers const& numbers) {
    trace::Comparison const& comparison = *numbers.comparison;
    Json kinds = Json::object();
    for (auto const& kind : comparison.kinds) kinds[kind.name] = kind_comparison_json(kind);
    return {{"phase", numbers.compared},
            {"notes", numbers.notes},
            {"matched_by", comparison.match == trace::MatchBy::task ? "task" : "cblk"},
            {"predicted_makespan_s", seconds(comparison.predicted_makespan)},
            {"measured_makespan_s", seconds(comparison.measured_makespan)},
            {"makespan_error", comparison.makespan_error()},
            {"kinds", kinds},
            {"total", kind_comparison_json(comparison.total)}};
}

} // namespace

std::string trace_json(TraceNumbers const& numbers) {
    auto const& statistics = numbers.statistics;
    Json peaks = Json::object();
    for (std::size_t v = 0; v < statistics.peaks.size(); ++v)
        peaks[numbers.trace.variables()[v].name] = statistics.peaks[v];
    Json const json{{"espalier", ESPALIER_VERSION},
                    {"about", numbers.trace.metadata()},
                    {"phases", phases_json(numbers.trace)},
                    {"window",
                     {{"phase", numbers.phase},
                      {"begin_s", seconds(statistics.window.begin)},
                      {"end_s", seconds(statistics.window.end)}}},
                    {"threads", threads_json(numbers)},
                    {"total", times_json(statistics.total())},
                    {"workers", times_json(statistics.total_of(false))},
                    {"progress_threads", times_json(statistics.total_of(true))},
                    {"kinds", kinds_json(numbers)},
                    {"messages", statistics.messages},
                    {"message_bytes", statistics.message_bytes},
                    {"steals", statistics.steals},
                    {"peaks", peaks},
                    {"dropped_events", numbers.trace.dropped_events()},
                    {"unmatched_messages", numbers.trace.unmatched_messages()},
                    {"early_messages", numbers.trace.early_messages()},
                    {"earliest_by_s", seconds(numbers.trace.earliest_by())},
                    {"critical_path", path_json(numbers)},
                    {"comparison", numbers.comparison ? comparison_json(numbers) : Json(nullptr)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace espalier::command
