#include "simulation/list_schedule.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <string>
#include <tuple>

namespace espalier {

namespace {

struct ReadyTask {
    double priority;
    TaskId task;
    // Highest priority first, then the lower number: the order is total, so the schedule is reproducible.
    bool operator<(ReadyTask const& other) const {
        return std::tuple(priority, -task) < std::tuple(other.priority, -other.task);
    }
};

struct TaskEnd {
    double time;
    TaskId task;
    WorkerId worker;
    bool operator>(TaskEnd const& other) const {
        return std::tuple(time, task) > std::tuple(other.time, other.task);
    }
};

void require_homes(TaskGraph const& graph, int workers) {
    if (graph.home.size() != graph.num_predecessors.size())
        throw Error(Status::internal, "list schedule: " + std::to_string(graph.home.size()) + " homes for " +
                                          std::to_string(graph.num_tasks()) + " tasks");
    auto const wrong = std::find_if(graph.home.begin(), graph.home.end(),
                                    [&](WorkerId home) { return home < 0 || home >= workers; });
    if (wrong != graph.home.end())
        throw Error(Status::internal, "list schedule: the home of task " +
                                          std::to_string(wrong - graph.home.begin()) + " is worker " +
                                          std::to_string(*wrong) + " of " + std::to_string(workers));
}

} // namespace

StaticSchedule list_schedule(TaskGraph const& graph, int workers, bool respect_homes) {
    if (respect_homes) require_homes(graph, workers);
    StaticSchedule schedule;
    schedule.lists.resize(workers);
    schedule.worker_of_task.assign(graph.num_tasks(), 0);

    // Without homes there is one queue; with homes one a worker, and only its worker looks at it.
    std::vector<std::priority_queue<ReadyTask>> ready(respect_homes ? static_cast<std::size_t>(workers) : 1);
    std::vector<std::int32_t> waiting(graph.num_predecessors);
    std::set<WorkerId> idle;
    for (WorkerId w = 0; w < workers; ++w) idle.insert(idle.end(), w);
    std::priority_queue<TaskEnd, std::vector<TaskEnd>, std::greater<>> running;
    double now = 0;

    auto start = [&](std::priority_queue<ReadyTask>& queue, WorkerId worker) {
        TaskId const task = queue.top().task;
        queue.pop();
        idle.erase(worker);
        schedule.lists[worker].push_back(task);
        schedule.worker_of_task[task] = worker;
        running.push({now + graph.cost[task], task, worker});
    };
    auto serve = [&](WorkerId worker) { // with homes
        auto& queue = ready[worker];
        if (!queue.empty() && idle.contains(worker)) start(queue, worker);
    };
    std::vector<WorkerId> touched; // homes that got a task or became idle since the last assignment
    auto make_ready = [&](TaskId task) {
        auto const t = static_cast<std::size_t>(task);
        ready[respect_homes ? static_cast<std::size_t>(graph.home[t]) : 0].push({graph.priority[t], task});
        if (respect_homes) touched.push_back(graph.home[t]);
    };
    auto assign = [&] {
        while (!respect_homes && !ready[0].empty() && !idle.empty()) start(ready[0], *idle.begin());
        for (WorkerId const worker : touched) serve(worker);
        touched.clear();
    };

    for (TaskId t = 0; t < graph.num_tasks(); ++t)
        if (waiting[t] == 0) make_ready(t);
    for (assign(); !running.empty(); assign()) {
        auto const [time, task, worker] = running.top();
        running.pop();
        now = time;
        idle.insert(worker);
        if (respect_homes) touched.push_back(worker);
        auto const t = static_cast<std::size_t>(task);
        for (Offset s = graph.successor_ptr[t]; s < graph.successor_ptr[t + 1]; ++s) {
            TaskId const next = graph.successors[s];
            if (--waiting[next] == 0) make_ready(next);
        }
    }
    schedule.makespan = now;
    return schedule;
}

} // namespace espalier
