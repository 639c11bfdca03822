// The longest path in the graph of tasks, by one topological sweep (Kahn 1962).
#include <algorithm>

#include "espalier/types.hpp"
#include "trace/statistics.hpp"
#include "trace/tasks.hpp"

namespace espalier::trace {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

// Tasks as 0 .. n-1 in the order of their numbers, those that only dependencies know included.
struct TaskPath {
    std::vector<TaskTime> tasks;
    std::vector<std::size_t> first_successor; ///< n + 1 entries, into `successors`.
    std::vector<std::size_t> successors;
    std::vector<std::int64_t> unmet;
    std::int64_t unknown = 0;
};

std::size_t index_of(std::vector<TaskTime> const& tasks, std::int64_t number) {
    auto const at = std::lower_bound(tasks.begin(), tasks.end(), number,
                                     [](TaskTime const& t, std::int64_t n) { return t.task < n; });
    return at != tasks.end() && at->task == number ? static_cast<std::size_t>(at - tasks.begin()) : none;
}

void add_unknown_tasks(TaskPath& graph, std::vector<Dependency> const& dependencies) {
    std::vector<std::int64_t> unknown;
    for (auto const& [before, after] : dependencies)
        for (std::int64_t const number : {before, after})
            if (index_of(graph.tasks, number) == none) unknown.push_back(number);
    std::sort(unknown.begin(), unknown.end());
    unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
    graph.unknown = static_cast<std::int64_t>(unknown.size());
    if (unknown.empty()) return;
    for (std::int64_t const number : unknown) graph.tasks.push_back({number, 0, 0, 0, -1});
    std::sort(graph.tasks.begin(), graph.tasks.end(),
              [](TaskTime const& a, TaskTime const& b) { return a.task < b.task; });
}

TaskPath build(Trace const& trace) {
    TaskPath graph;
    graph.tasks = task_times(trace);
    auto const& dependencies = trace.dependencies();
    add_unknown_tasks(graph, dependencies);
    std::size_t const n = graph.tasks.size();
    graph.first_successor.assign(n + 1, 0);
    graph.unmet.assign(n, 0);
    for (auto const& [before, after] : dependencies) {
        ++graph.first_successor[index_of(graph.tasks, before) + 1];
        ++graph.unmet[index_of(graph.tasks, after)];
    }
    for (std::size_t t = 0; t < n; ++t) graph.first_successor[t + 1] += graph.first_successor[t];
    graph.successors.resize(dependencies.size());
    auto next = graph.first_successor;
    for (auto const& [before, after] : dependencies)
        graph.successors[next[index_of(graph.tasks, before)]++] = index_of(graph.tasks, after);
    return graph;
}

} // namespace

std::optional<CriticalPath> critical_path(Trace const& trace) {
    if (trace.dependencies().empty()) return std::nullopt;
    TaskPath graph = build(trace);
    std::size_t const n = graph.tasks.size();

    // finish[t] = duration[t] + max over predecessors p of finish[p].
    std::vector<Nanoseconds> finish(n, 0);
    std::vector<std::size_t> longest(n, none);
    std::vector<std::size_t> ready;
    for (std::size_t t = 0; t < n; ++t)
        if (graph.unmet[t] == 0) ready.push_back(t);
    for (std::size_t i = 0; i < ready.size(); ++i) {
        std::size_t const task = ready[i];
        finish[task] += graph.tasks[task].duration;
        for (std::size_t s = graph.first_successor[task]; s < graph.first_successor[task + 1]; ++s) {
            std::size_t const successor = graph.successors[s];
            if (longest[successor] == none || finish[task] > finish[successor]) {
                finish[successor] = finish[task];
                longest[successor] = task;
            }
            if (--graph.unmet[successor] == 0) ready.push_back(successor);
        }
    }
    if (ready.size() < n) {
        auto const stuck = std::find_if(graph.unmet.begin(), graph.unmet.end(), [](auto c) { return c > 0; });
        auto const& task = graph.tasks[static_cast<std::size_t>(stuck - graph.unmet.begin())];
        throw Error(Status::bad_input,
                    "trace: the dependencies have a cycle, on or before task " + std::to_string(task.task));
    }

    CriticalPath path;
    path.unknown_tasks = graph.unknown;
    path.kinds.assign(trace.kinds().size(), 0);
    auto last = static_cast<std::size_t>(std::max_element(finish.begin(), finish.end()) - finish.begin());
    path.length = finish[last];
    for (; last != none; last = longest[last]) {
        TaskTime const& task = graph.tasks[last];
        path.tasks.push_back(task.task);
        if (task.kind >= 0) path.kinds[static_cast<std::size_t>(task.kind)] += task.duration;
    }
    std::reverse(path.tasks.begin(), path.tasks.end());
    bool first = true;
    for (TaskTime const& task : graph.tasks) {
        if (task.kind < 0) continue;
        path.window.begin = first ? task.start : std::min(path.window.begin, task.start);
        path.window.end = first ? task.end : std::max(path.window.end, task.end);
        first = false;
    }
    return path;
}

} // namespace espalier::trace
