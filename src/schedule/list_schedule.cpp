#include "schedule/list_schedule.hpp"

#include <algorithm>
#include <queue>
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

struct Finish {
    double time;
    TaskId task;
    WorkerId worker;
    bool operator>(Finish const& other) const { return std::tuple(time, task) > std::tuple(other.time, other.task); }
};

} // namespace

StaticSchedule list_schedule(TaskGraph const& graph, int workers, bool respect_homes) {
    StaticSchedule schedule;
    schedule.lists.resize(static_cast<std::size_t>(workers));
    schedule.worker_of_task.assign(static_cast<std::size_t>(graph.num_tasks()), 0);

    // Queue 0 serves everyone; queue 1 + w only worker w.
    std::vector<std::priority_queue<ReadyTask>> ready(static_cast<std::size_t>(workers) + 1);
    std::vector<std::int32_t> waiting(graph.num_predecessors);
    auto make_ready = [&](TaskId task) {
        auto const t = static_cast<std::size_t>(task);
        std::size_t const queue = respect_homes ? 1 + static_cast<std::size_t>(graph.home[t]) : 0;
        ready[queue].push({graph.priority[t], task});
    };
    for (TaskId t = 0; t < graph.num_tasks(); ++t)
        if (waiting[static_cast<std::size_t>(t)] == 0) make_ready(t);

    std::priority_queue<Finish, std::vector<Finish>, std::greater<>> running;
    std::vector<WorkerId> idle;
    for (WorkerId w = workers; w-- > 0;) idle.push_back(w);
    double now = 0;
    while (true) {
        std::sort(idle.begin(), idle.end(), std::greater<>());
        std::vector<WorkerId> still_idle;
        for (; !idle.empty(); idle.pop_back()) {
            WorkerId const worker = idle.back();
            auto& queue = ready[respect_homes ? 1 + static_cast<std::size_t>(worker) : 0];
            if (queue.empty()) {
                still_idle.push_back(worker);
                continue;
            }
            TaskId const task = queue.top().task;
            queue.pop();
            schedule.lists[static_cast<std::size_t>(worker)].push_back(task);
            schedule.worker_of_task[static_cast<std::size_t>(task)] = worker;
            running.push({now + graph.cost[static_cast<std::size_t>(task)], task, worker});
        }
        idle = std::move(still_idle);
        if (running.empty()) break;
        auto const [time, task, worker] = running.top();
        running.pop();
        now = time;
        idle.push_back(worker);
        auto const t = static_cast<std::size_t>(task);
        for (Offset s = graph.successor_ptr[t]; s < graph.successor_ptr[t + 1]; ++s) {
            TaskId const next = graph.successors[static_cast<std::size_t>(s)];
            if (--waiting[static_cast<std::size_t>(next)] == 0) make_ready(next);
        }
    }
    schedule.makespan = now;
    return schedule;
}

} // namespace espalier
