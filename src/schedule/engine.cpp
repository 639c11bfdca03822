#include "schedule/engine.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <tuple>

namespace espalier {

PolicyDispatcher::PolicyDispatcher(Policy& policy, TaskGraph const& graph)
    : policy_(policy), graph_(graph), target_(static_cast<std::size_t>(graph.num_tasks()), any_worker) {}

void PolicyDispatcher::push(TaskId task, WorkerId by) {
    // The runtime pushes first tasks as their owners: policies know no other way to begin.
    target_[static_cast<std::size_t>(task)] = policy_.push(task, std::max(by, WorkerId{0}));
}

WorkerId PolicyDispatcher::choose_idle(TaskId task, std::set<WorkerId> const& idle) {
    WorkerId const target = target_[static_cast<std::size_t>(task)];
    if (target != any_worker && idle.contains(target)) return target;
    auto const serves = [&](WorkerId worker) { return policy_.serves(worker, task); };
    WorkerId const home = graph_.home.empty() ? 0 : graph_.home[static_cast<std::size_t>(task)];
    auto const from_home = idle.lower_bound(home);
    auto at = std::find_if(from_home, idle.end(), serves);
    if (at != idle.end()) return *at;
    at = std::find_if(idle.begin(), from_home, serves);
    return at != from_home ? *at : any_worker;
}

namespace {

struct Finish {
    double time;
    TaskId task;
    bool operator>(Finish const& other) const {
        return std::tuple(time, task) > std::tuple(other.time, other.task);
    }
};

class Engine {
  public:
    Engine(TaskGraph const& graph, Dispatcher& dispatcher, int workers, std::vector<bool> const& in_transit,
           TaskClock* clock)
        : graph_(graph), dispatcher_(dispatcher), in_transit_(in_transit), clock_(clock),
          waiting_(graph.num_predecessors) {
        auto const tasks = static_cast<std::size_t>(graph.num_tasks());
        result_.start.assign(tasks, -1.0);
        result_.end.assign(tasks, 0.0);
        result_.worker_of_task.assign(tasks, any_worker);
        result_.lists.resize(static_cast<std::size_t>(workers));
        result_.busy.assign(static_cast<std::size_t>(workers), 0.0);
        for (WorkerId w = 0; w < workers; ++w) idle_.insert(idle_.end(), w);
        if (!graph.resource.empty()) {
            holder_.assign(static_cast<std::size_t>(graph.num_resources), no_task);
            left_.resize(static_cast<std::size_t>(graph.num_resources));
        }
    }

    TimedRun run() {
        for (TaskId t = 0; t < graph_.num_tasks(); ++t)
            if (waiting_[static_cast<std::size_t>(t)] == 0) make_ready(t, home_of(t));
        for (assign(); !running_.empty(); assign()) {
            now_ = running_.top().time;
            while (!running_.empty() && running_.top().time == now_) finish_next();
        }
        for (std::size_t t = 0; t < result_.start.size(); ++t)
            if (result_.start[t] < 0)
                throw Error(Status::internal, "simulation: task " + std::to_string(t) + " never ran");
        result_.makespan = now_;
        return std::move(result_);
    }

  private:
    [[nodiscard]] WorkerId home_of(TaskId task) const {
        return graph_.home.empty() ? any_worker : graph_.home[static_cast<std::size_t>(task)];
    }

    void make_ready(TaskId task, WorkerId by) {
        if (!in_transit_.empty() && in_transit_[static_cast<std::size_t>(task)]) {
            start(task, any_worker);
            return;
        }
        dispatcher_.push(task, by);
        ready_.push_back(task);
    }

    void start(TaskId task, WorkerId worker) {
        auto const t = static_cast<std::size_t>(task);
        double const seconds = clock_ && worker != any_worker ? clock_->begin(task, worker) : graph_.cost[t];
        result_.start[t] = now_;
        result_.end[t] = now_ + seconds;
        result_.worker_of_task[t] = worker;
        running_.push({result_.end[t], task});
        if (worker == any_worker) return;
        idle_.erase(worker);
        result_.lists[static_cast<std::size_t>(worker)].push_back(task);
        result_.busy[static_cast<std::size_t>(worker)] += seconds;
        if (auto const steal = dispatcher_.last_steal(worker))
            result_.steals.push_back({now_, task, worker, steal->victim, steal->distance});
    }

    // As runtime/exclusion.hpp: a task whose resource is held is left with it.
    TaskId take(WorkerId worker) {
        for (;;) {
            TaskId const task = dispatcher_.pop(worker);
            if (task == no_task || graph_.resource.empty()) return task;
            std::int32_t const resource = graph_.resource[static_cast<std::size_t>(task)];
            if (resource == no_resource) return task;
            auto const r = static_cast<std::size_t>(resource);
            if (holder_[r] == no_task) {
                holder_[r] = task;
                return task;
            }
            left_[r].push_back(task);
        }
    }

    void release(TaskId task, WorkerId worker) {
        if (graph_.resource.empty()) return;
        std::int32_t const resource = graph_.resource[static_cast<std::size_t>(task)];
        if (resource == no_resource) return;
        auto const r = static_cast<std::size_t>(resource);
        holder_[r] = no_task;
        if (left_[r].empty()) return;
        TaskId const next = left_[r].back();
        left_[r].pop_back();
        make_ready(next, worker);
    }

    void finish_next() {
        TaskId const task = running_.top().task;
        running_.pop();
        auto const t = static_cast<std::size_t>(task);
        WorkerId const worker = result_.worker_of_task[t];
        if (worker != any_worker) {
            idle_.insert(worker);
            freed_.push_back(worker);
            if (clock_) clock_->end(task, worker);
        }
        release(task, worker);
        for (Offset s = graph_.successor_ptr[t]; s < graph_.successor_ptr[t + 1]; ++s) {
            TaskId const next = graph_.successors[static_cast<std::size_t>(s)];
            if (--waiting_[static_cast<std::size_t>(next)] == 0) make_ready(next, worker);
        }
    }

    // Afterwards no task that waits may be run by a worker that is idle.
    void assign() {
        std::sort(ready_.begin(), ready_.end(), [&](TaskId a, TaskId b) {
            double const pa = graph_.priority[static_cast<std::size_t>(a)];
            double const pb = graph_.priority[static_cast<std::size_t>(b)];
            return pa != pb ? pa > pb : a < b;
        });
        for (TaskId const task : ready_) offer(task);
        ready_.clear();
        for (WorkerId const worker : freed_) {
            if (!idle_.contains(worker)) continue;
            if (TaskId const task = take(worker); task != no_task) start(task, worker);
        }
        freed_.clear();
    }

    // A worker asked may have something better to do; then the next one is asked.
    void offer(TaskId task) {
        while (result_.start[static_cast<std::size_t>(task)] < 0) {
            WorkerId const worker = dispatcher_.choose_idle(task, idle_);
            if (worker == any_worker) return;
            TaskId const taken = take(worker);
            if (taken == no_task) return;
            start(taken, worker);
        }
    }

    TaskGraph const& graph_;
    Dispatcher& dispatcher_;
    std::vector<bool> const& in_transit_;
    TaskClock* clock_;
    std::vector<std::int32_t> waiting_;
    std::set<WorkerId> idle_;
    std::priority_queue<Finish, std::vector<Finish>, std::greater<>> running_;
    std::vector<TaskId> ready_;             // since the last assignment
    std::vector<WorkerId> freed_;           // since the last assignment
    std::vector<TaskId> holder_;            // of each resource
    std::vector<std::vector<TaskId>> left_; // with each resource, while it was held
    double now_ = 0;
    TimedRun result_;
};

} // namespace

TimedRun simulate(TaskGraph const& graph, Dispatcher& dispatcher, int workers,
                  std::vector<bool> const& in_transit, TaskClock* clock) {
    return Engine(graph, dispatcher, workers, in_transit, clock).run();
}

} // namespace espalier
