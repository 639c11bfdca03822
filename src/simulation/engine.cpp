#include "simulation/engine.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_set>

#include "policies/policy_wake.hpp"

namespace espalier {

PolicyDispatcher::PolicyDispatcher(Policy& policy, TaskGraph const& graph, WorkerId first_worker, int workers)
    : policy_(policy), graph_(graph), first_worker_(first_worker), workers_(workers),
      pushed_(static_cast<std::size_t>(graph.num_tasks())) {}

void PolicyDispatcher::push(TaskId task, WorkerId by) {
    // First tasks, and what a message makes ready, are pushed by their homes: policies know nothing else.
    bool const by_own = first_worker_ <= by && by < first_worker_ + workers_;
    WorkerId const maker = by_own ? by - first_worker_ : home_of(task);
    Pushed& pushed = pushed_[task];
    pushed.target = policy_.push(task, maker);
    pushed.owner = by_own && policy_.owns(maker, task) ? maker : any_worker;
}

WorkerId PolicyDispatcher::choose_idle(TaskId task, std::set<WorkerId> const& idle) {
    Pushed const& pushed = pushed_[task];
    if (pushed.owner != any_worker && idle.contains(first_worker_ + pushed.owner))
        return first_worker_ + pushed.owner;
    auto const first_idle = [&](WorkerId from, WorkerId end) {
        auto const at = idle.lower_bound(first_worker_ + from);
        return at == idle.end() ? end : std::min(*at - first_worker_, end);
    };
    WorkerId const worker = whom_to_wake(policy_, task, pushed.target, home_of(task), workers_, first_idle);
    return worker == any_worker ? any_worker : first_worker_ + worker;
}

std::optional<Steal> PolicyDispatcher::last_steal(WorkerId worker) const {
    auto steal = policy_.last_steal(worker - first_worker_);
    if (steal && steal->victim != any_worker) steal->victim += first_worker_;
    return steal;
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
    Engine(TaskGraph const& graph, Dispatcher& dispatcher, int workers, Transit* transit, TaskClock* clock)
        : graph_(graph), dispatcher_(dispatcher), transit_(transit), clock_(clock),
          waiting_(graph.num_predecessors) {
        auto const tasks = static_cast<std::size_t>(graph.num_tasks());
        if (graph.cost.size() != tasks || graph.priority.size() != tasks)
            throw Error(Status::internal, "simulation: " + std::to_string(tasks) + " tasks with " +
                                              std::to_string(graph.cost.size()) + " costs and " +
                                              std::to_string(graph.priority.size()) + " priorities");
        result_.start.assign(tasks, -1.0);
        result_.end.assign(tasks, 0.0);
        result_.worker_of_task.assign(tasks, any_worker);
        result_.lists.resize(workers);
        result_.busy.assign(workers, 0.0);
        for (WorkerId w = 0; w < workers; ++w) idle_.insert(idle_.end(), w);
        if (!graph.resource.empty()) {
            holder_.assign(graph.num_resources, no_task);
            left_.resize(graph.num_resources);
            next_left_.resize(tasks);
        }
    }

    TimedRun run() {
        for (TaskId t = 0; t < graph_.num_tasks(); ++t)
            if (waiting_[t] == 0) make_ready(t, home_of(t));
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
        return graph_.home.empty() ? any_worker : graph_.home[task];
    }

    [[nodiscard]] bool is_message(TaskId task) const { return transit_ && transit_->carries(task); }

    // Of a message that has reached the other end: it ends later.
    bool comes_in(TaskId task) {
        if (!reached_.insert(task).second) return false;
        double& end = result_.end[task];
        end = transit_->arrive(task, now_);
        running_.push({end, task});
        return true;
    }

    void make_ready(TaskId task, WorkerId by) {
        if (is_message(task)) {
            run_until(transit_->reach(task, now_), task, any_worker);
            return;
        }
        dispatcher_.push(task, by);
        ready_.push_back(task);
    }

    void run_until(double end, TaskId task, WorkerId worker) {
        auto const t = static_cast<std::size_t>(task);
        result_.start[t] = now_;
        result_.end[t] = end;
        result_.worker_of_task[t] = worker;
        running_.push({end, task});
    }

    void start(TaskId task, WorkerId worker) {
        auto const t = static_cast<std::size_t>(task);
        double const seconds = clock_ ? clock_->begin(task, worker) : graph_.cost[t];
        run_until(now_ + seconds, task, worker);
        idle_.erase(worker);
        result_.lists[worker].push_back(task);
        result_.busy[worker] += seconds;
        dispatcher_.took(worker);
        if (auto const steal = dispatcher_.last_steal(worker))
            result_.steals.push_back({now_, task, worker, steal->victim, steal->distance});
    }

    // As policies/exclusion.hpp: a task whose resource is held is left with it, and comes back in its turn.
    TaskId take(WorkerId worker) {
        for (;;) {
            TaskId const task = dispatcher_.pop(worker);
            if (task == no_task || graph_.resource.empty()) return task;
            std::int32_t const resource = graph_.resource[task];
            if (resource == no_resource) return task;
            auto const r = static_cast<std::size_t>(resource);
            if (holder_[r] == no_task) {
                holder_[r] = task;
                return task;
            }
            Left& left = left_[r];
            (left.first == no_task ? left.first : next_left_[left.last]) = task;
            left.last = task;
        }
    }

    void release(TaskId task, WorkerId worker) {
        if (graph_.resource.empty()) return;
        std::int32_t const resource = graph_.resource[task];
        if (resource == no_resource) return;
        auto const r = static_cast<std::size_t>(resource);
        holder_[r] = no_task;
        TaskId const next = left_[r].first;
        if (next == no_task) return;
        left_[r].first = next == left_[r].last ? no_task : next_left_[next];
        make_ready(next, worker);
    }

    void finish_next() {
        TaskId const task = running_.top().task;
        running_.pop();
        if (is_message(task) && comes_in(task)) return;
        auto const t = static_cast<std::size_t>(task);
        WorkerId const worker = result_.worker_of_task[t];
        if (worker != any_worker) {
            idle_.insert(worker);
            freed_.push_back(worker);
            if (clock_) clock_->end(task, worker);
        }
        release(task, worker);
        for (Offset s = graph_.successor_ptr[t]; s < graph_.successor_ptr[t + 1]; ++s) {
            TaskId const next = graph_.successors[s];
            if (--waiting_[next] == 0) make_ready(next, worker);
        }
    }

    // Afterwards no task that waits may be run by a worker that is idle.
    void assign() {
        std::sort(ready_.begin(), ready_.end(), [&](TaskId a, TaskId b) {
            double const pa = graph_.priority[a];
            double const pb = graph_.priority[b];
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
        while (result_.start[task] < 0) {
            WorkerId const worker = dispatcher_.choose_idle(task, idle_);
            if (worker == any_worker) return;
            TaskId const taken = take(worker);
            if (taken == no_task) return;
            start(taken, worker);
        }
    }

    TaskGraph const& graph_;
    Dispatcher& dispatcher_;
    Transit* transit_;
    std::unordered_set<TaskId> reached_; // messages
    TaskClock* clock_;
    std::vector<std::int32_t> waiting_;
    std::set<WorkerId> idle_;
    std::priority_queue<Finish, std::vector<Finish>, std::greater<>> running_;
    std::vector<TaskId> ready_;   // since the last assignment
    std::vector<WorkerId> freed_; // since the last assignment
    std::vector<TaskId> holder_;  // of each resource
    struct Left {
        TaskId first = no_task, last = no_task;
    };
    std::vector<Left> left_;        // with each resource, while it was held: a queue, linked
    std::vector<TaskId> next_left_; // by this
    double now_ = 0;
    TimedRun result_;
};

} // namespace

TimedRun simulate(TaskGraph const& graph, Dispatcher& dispatcher, int workers, Transit* transit,
                  TaskClock* clock) {
    return Engine(graph, dispatcher, workers, transit, clock).run();
}

} // namespace espalier
