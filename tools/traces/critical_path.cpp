// The longest path in the task graph, by one topological sweep (Kahn 1962).
#include <algorithm>

#include <fmt/format.h>

#include "espalier/types.hpp"
#include "tools/traces/statistics.hpp"

namespace espalier::trace {
namespace {

constexpr std::int64_t none = -1;

// Tasks 0 .. n-1 in the order of their numbers. They include tasks of dependencies without states, which are
// messages or were not recorded.
struct TaskPath {
    std::vector<TaskTime> tasks;
    std::vector<bool> is_work;
    std::vector<std::int64_t> first_successor; ///< n + 1 indices into `successors`.
    std::vector<std::int64_t> successors;
    std::vector<std::int64_t> unmet;
    std::int64_t unknown = 0;
};

std::int64_t index_of(std::vector<TaskTime> const& tasks, std::int64_t number) {
    auto const at = std::ranges::lower_bound(tasks, number, {}, &TaskTime::task);
    return at != tasks.end() && at->task == number ? at - tasks.begin() : none;
}

// Adds the tasks between tasks of the window that have no states.
void add_unknown_tasks(TaskPath& graph, Trace const& trace) {
    std::vector<TaskTime> const recorded = task_times(trace, whole(trace));
    std::vector<TaskTime> unknown;
    for (auto const& [before, after] : trace.dependencies()) {
        bool const knows[] = {index_of(graph.tasks, before) != none, index_of(graph.tasks, after) != none};
        if (knows[0] == knows[1]) continue;
        std::int64_t const number = knows[0] ? after : before;
        if (index_of(recorded, number) == none) unknown.push_back({number, 0, 0, 0});
    }
    std::ranges::sort(unknown, {}, &TaskTime::task);
    auto const same_task = [](TaskTime const& a, TaskTime const& b) { return a.task == b.task; };
    unknown.erase(std::unique(unknown.begin(), unknown.end(), same_task), unknown.end());
    graph.unknown = std::ssize(unknown);
    std::vector<bool> is_message(unknown.size(), false);
    for (Link const& link : trace.links()) {
        if (link.kind != LinkKind::message) continue;
        std::int64_t const task = index_of(unknown, link.tag);
        if (task == none || is_message[task]) continue;
        is_message[task] = true;
        unknown[task].duration = link.end - link.start;
        --graph.unknown;
    }
    std::vector<TaskTime> all(graph.tasks.size() + unknown.size());
    std::ranges::merge(graph.tasks, unknown, all.begin(), {}, &TaskTime::task, &TaskTime::task);
    graph.is_work.reserve(all.size());
    for (TaskTime const& task : all) graph.is_work.push_back(index_of(unknown, task.task) == none);
    graph.tasks = std::move(all);
}

TaskPath build(Trace const& trace, Window window) {
    TaskPath graph;
    graph.tasks = task_times(trace, window);
    add_unknown_tasks(graph, trace);
    std::int64_t const n = std::ssize(graph.tasks);
    std::vector<std::pair<std::int64_t, std::int64_t>> edges;
    for (auto const& [before, after] : trace.dependencies()) {
        std::int64_t const from = index_of(graph.tasks, before), to = index_of(graph.tasks, after);
        if (from != none && to != none) edges.emplace_back(from, to);
    }
    graph.first_successor.assign(n + 1, 0);
    graph.unmet.assign(n, 0);
    for (auto const& [from, to] : edges) {
        ++graph.first_successor[from + 1];
        ++graph.unmet[to];
    }
    for (std::int64_t t = 0; t < n; ++t) graph.first_successor[t + 1] += graph.first_successor[t];
    graph.successors.resize(edges.size());
    auto next = graph.first_successor;
    for (auto const& [from, to] : edges) graph.successors[next[from]++] = to;
    return graph;
}

// The part of each kind. A task may have states of several kinds.
void add_kinds(Trace const& trace, Window window, CriticalPath& path) {
    path.kinds.assign(trace.kinds().size(), 0);
    auto numbers = path.tasks;
    std::sort(numbers.begin(), numbers.end());
    for (State const& state : trace.states())
        if (state.task >= 0 && is_work(trace, state, window) &&
            std::binary_search(numbers.begin(), numbers.end(), state.task))
            path.kinds[state.kind] += state.end - state.start;
}

} // namespace

std::optional<CriticalPath> critical_path(Trace const& trace, Window window) {
    TaskPath graph = build(trace, window);
    if (graph.successors.empty()) return std::nullopt;
    std::int64_t const n = std::ssize(graph.tasks);

    // finish[t] = duration[t] + max over predecessors p of finish[p].
    std::vector<Nanoseconds> finish(n, 0);
    std::vector<std::int64_t> longest(n, none);
    std::vector<std::int64_t> ready;
    for (std::int64_t t = 0; t < n; ++t)
        if (graph.unmet[t] == 0) ready.push_back(t);
    for (std::int64_t i = 0; i < std::ssize(ready); ++i) {
        std::int64_t const task = ready[i];
        finish[task] += graph.tasks[task].duration;
        for (std::int64_t s = graph.first_successor[task]; s < graph.first_successor[task + 1]; ++s) {
            std::int64_t const successor = graph.successors[s];
            if (longest[successor] == none || finish[task] > finish[successor]) {
                finish[successor] = finish[task];
                longest[successor] = task;
            }
            if (--graph.unmet[successor] == 0) ready.push_back(successor);
        }
    }
    if (std::ssize(ready) < n) {
        auto const stuck = std::find_if(graph.unmet.begin(), graph.unmet.end(), [](auto c) { return c > 0; });
        auto const& task = graph.tasks[stuck - graph.unmet.begin()];
        throw Error(Status::bad_input,
                    fmt::format("trace: the dependencies have a cycle on or before task {}", task.task));
    }

    CriticalPath path;
    path.unknown_tasks = graph.unknown;
    auto last = std::max_element(finish.begin(), finish.end()) - finish.begin();
    path.length = finish[last];
    for (; last != none; last = longest[last]) {
        path.tasks.push_back(graph.tasks[last].task);
        if (!graph.is_work[last]) path.messages += graph.tasks[last].duration;
    }
    std::reverse(path.tasks.begin(), path.tasks.end());
    add_kinds(trace, window, path);
    std::optional<Window> makespan;
    for (std::int64_t t = 0; t < n; ++t)
        if (graph.is_work[t]) extend(makespan, {graph.tasks[t].start, graph.tasks[t].end});
    path.window = makespan.value_or(Window{});
    return path;
}

} // namespace espalier::trace
