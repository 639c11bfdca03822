// The course of a run; sleeping and waking are in graph_run_sleep.cpp.
#include "runtime/graph_run.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace espalier {

namespace {

std::string name(TaskId task) {
    return "task " + std::to_string(task);
}

} // namespace

std::int64_t RunStats::tasks() const {
    return std::accumulate(workers.begin(), workers.end(), std::int64_t{0},
                           [](std::int64_t sum, WorkerStats const& worker) { return sum + worker.tasks; });
}

std::int64_t RunStats::steals() const {
    return std::accumulate(workers.begin(), workers.end(), std::int64_t{0},
                           [](std::int64_t sum, WorkerStats const& worker) { return sum + worker.steals; });
}

double RunStats::busy_s() const {
    return std::accumulate(workers.begin(), workers.end(), 0.0,
                           [](double sum, WorkerStats const& worker) { return sum + worker.busy_s; });
}

GraphRun::GraphRun(int num_workers, Spin spin)
    : num_workers_(num_workers), spin_(spin), workers_(std::make_unique<Worker[]>(num_workers)),
      steals_before_(num_workers) {}

void GraphRun::begin(TaskGraph const& graph, Policy& policy, TaskBody const& body,
                     RunOptions const& options) {
    TaskId const tasks = graph.num_tasks();
    if (graph.successor_ptr.size() != graph.num_predecessors.size() + 1)
        throw Error(Status::internal, "task graph: successor_ptr and num_predecessors do not fit together");
    if (tasks > unmet_capacity_) {
        unmet_ = std::make_unique<std::atomic<std::int32_t>[]>(tasks);
        unmet_capacity_ = tasks;
    }
    for (TaskId task = 0; task < tasks; ++task)
        unmet_[task].store(graph.num_predecessors[task], std::memory_order_relaxed);

    graph_ = &graph;
    policy_ = &policy;
    body_ = &body;
    options_ = &options;
    started_ = Clock::now();
    last_question_ = {};
    for (WorkerId w = 0; w < num_workers_; ++w) {
        Worker& worker = workers_[w];
        worker.tasks = worker.unsettled = 0;
        worker.busy_s = 0;
        worker.asleep.store(false, std::memory_order_relaxed);
        worker.waiting = false;
        steals_before_[w] = policy.steals(w);
    }
    num_asleep_.store(0, std::memory_order_relaxed);
    remaining_.store(tasks, std::memory_order_relaxed);
    for (TaskId task = 0; task < tasks; ++task)
        if (graph.num_predecessors[task] == 0) policy.push(task, home_of(task));

    std::lock_guard const lock(mutex_);
    num_waiting_ = 0;
    awaited_events_ = options.external_events;
    state_.store(tasks > 0 ? State::running : State::ended, std::memory_order_release);
}

void GraphRun::guard(std::function<void()> const& function) noexcept {
    try {
        function();
    } catch (...) {
        error_.capture();
        end();
    }
}

void GraphRun::work(WorkerId worker) noexcept {
    Worker& self = workers_[worker];
    self.busy_since = Clock::now();
    try {
        for (TaskId task = next_task(worker); task != no_task; task = next_task(worker))
            execute(task, worker);
    } catch (...) {
        error_.capture();
        end();
    }
    self.busy_s += std::chrono::duration<double>(Clock::now() - self.busy_since).count();
}

RunStats GraphRun::finish() {
    error_.rethrow();
    RunStats stats;
    stats.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    for (WorkerId w = 0; w < num_workers_; ++w)
        stats.workers.push_back(
            {workers_[w].tasks, policy_->steals(w) - steals_before_[w], workers_[w].busy_s});
    return stats;
}

TaskId GraphRun::next_task(WorkerId worker) {
    if (!running()) return no_task;
    check_cancelled(worker);
    TaskId task = policy_->pop(worker);
    if (task != no_task) return claim(task);

    Worker& self = workers_[worker];
    auto const idle_since = Clock::now();
    self.busy_s += std::chrono::duration<double>(idle_since - self.busy_since).count();
    settle(self);
    while (task == no_task && running()) {
        task = spin(worker);
        if (task == no_task && running()) task = sleep(worker);
    }
    self.busy_since = Clock::now();
    return task == no_task ? no_task : claim(task);
}

/// The policy's word is checked: a task must exist, be ready, and be handed out once.
TaskId GraphRun::claim(TaskId task) {
    if (task < 0 || task >= graph_->num_tasks())
        throw Error(Status::internal,
                    "the scheduling policy handed out " + name(task) + ", which does not exist");
    std::int32_t unmet = 0;
    if (!unmet_[task].compare_exchange_strong(unmet, -1, std::memory_order_acq_rel))
        throw Error(Status::internal, "the scheduling policy handed out " + name(task) +
                                          (unmet > 0 ? " before it was ready" : " twice"));
    return task;
}

void GraphRun::execute(TaskId task, WorkerId worker) {
    (*body_)(task, worker);
    Worker& self = workers_[worker];
    ++self.tasks;
    ++self.unsettled;

    bool took_one = false; // of the tasks for any worker, this one will take the first
    for (Offset e = graph_->successor_ptr[task]; e < graph_->successor_ptr[task + 1]; ++e) {
        TaskId const next = graph_->successors[e];
        if (!count_down(next)) continue;
        WorkerId const target = policy_->push(next, worker);
        if (num_workers_ == 1 || target == worker) continue;
        if (target == any_worker && !took_one && policy_->serves(worker, next))
            took_one = true;
        else
            announce(next, target);
    }
}

/// One predecessor of `task` is done; true when it was the last.
bool GraphRun::count_down(TaskId task) {
    if (task < 0 || task >= graph_->num_tasks())
        throw Error(Status::internal, "task graph: " + name(task) + " does not exist");
    std::int32_t const before = unmet_[task].fetch_sub(1, std::memory_order_acq_rel);
    if (before < 1)
        throw Error(Status::internal, "task graph: " + name(task) + " is released by more than its " +
                                          std::to_string(graph_->num_predecessors[task]) + " predecessors");
    return before == 1;
}

/// Take what this worker has executed off the common count; called when it finds nothing more, so that the
/// count is touched rarely, and is right when everybody is idle.
void GraphRun::settle(Worker& worker) {
    std::int64_t const done = std::exchange(worker.unsettled, 0);
    if (done > 0 && remaining_.fetch_sub(done, std::memory_order_acq_rel) == done) end();
}

void GraphRun::check_cancelled(WorkerId worker) {
    bool cancelled = options_->cancel && options_->cancel->load(std::memory_order_relaxed);
    if (worker == 0 && options_->should_cancel && !cancelled) {
        auto const now = Clock::now();
        if (now - last_question_ < std::chrono::milliseconds(10)) return;
        last_question_ = now;
        cancelled = options_->should_cancel();
    }
    if (cancelled) throw Error(Status::cancelled, "cancelled by the caller");
}

bool GraphRun::release(TaskId task) {
    std::unique_lock const lock(mutex_);
    if (!running()) return false;
    if (awaited_events_ == 0)
        throw Error(Status::internal,
                    "task graph: " + name(task) + " is released by an event that was not announced");
    --awaited_events_;
    if (count_down(task)) {
        WorkerId const target = policy_->push(task, home_of(task));
        if (auto* const wake = choose_sleeper(task, target)) wake->notify_one();
    }
    check_standstill();
    return true;
}

bool GraphRun::stop(Error const& reason) {
    std::lock_guard const lock(mutex_);
    if (!running()) return false;
    try {
        throw Error(reason.status(), reason.what());
    } catch (...) {
        error_.capture();
    }
    end_locked();
    return true;
}

void GraphRun::end() {
    std::lock_guard const lock(mutex_);
    end_locked();
}

WorkerId GraphRun::home_of(TaskId task) const {
    if (graph_->home.size() != graph_->num_predecessors.size()) return 0;
    WorkerId const home = graph_->home[task];
    return home >= 0 && home < num_workers_ ? home : 0;
}

} // namespace espalier
