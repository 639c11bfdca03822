// The course of a run. graph_run_sleep.cpp has sleeping and waking.
#include "runtime/graph_run.hpp"

#include <utility>

#include <fmt/format.h>

namespace espalier {

namespace {

template <class T> T sum(std::vector<WorkerStats> const& workers, T WorkerStats::* member) {
    T total{};
    for (WorkerStats const& worker : workers) total += worker.*member;
    return total;
}

} // namespace

std::int64_t RunStats::tasks() const {
    return sum(workers, &WorkerStats::tasks);
}

std::int64_t RunStats::steals() const {
    return sum(workers, &WorkerStats::steals);
}

double RunStats::busy_s() const {
    return sum(workers, &WorkerStats::busy_s);
}

GraphRun::GraphRun(int num_workers, Spin spin)
    : num_workers_(num_workers), spin_(spin), shared_(num_workers),
      workers_(std::make_unique<Worker[]>(num_workers)), steals_before_(num_workers) {}

void GraphRun::begin(TaskGraph const& graph, Policy& policy, TaskBody const& body,
                     RunOptions const& options) {
    TaskId const tasks = graph.num_tasks();
    if (graph.successor_ptr.size() != graph.num_predecessors.size() + 1)
        throw Error(Status::internal, "task graph: successor_ptr and num_predecessors are inconsistent");
    if (tasks > unmet_capacity_) {
        unmet_ = std::make_unique<std::atomic<std::int32_t>[]>(tasks);
        unmet_capacity_ = tasks;
    }
    exclusion_.begin(graph);
    for (TaskId task = 0; task < tasks; ++task)
        unmet_[task].store(graph.num_predecessors[task], std::memory_order_relaxed);

    graph_ = &graph;
    policy_ = &policy;
    body_ = &body;
    options_ = &options;
    started_ = Clock::now();
    for (WorkerId w = 0; w < num_workers_; ++w) {
        Worker& worker = workers_[w];
        worker.tasks = worker.uncounted = 0;
        worker.busy_s = 0;
        worker.idle.store(true, std::memory_order_relaxed); // until its thread begins
        worker.asleep.store(false, std::memory_order_relaxed);
        worker.waiting = false;
        worker.pending_wake = no_task;
        steals_before_[w] = policy.steals(w);
    }
    num_asleep_.store(0, std::memory_order_relaxed);
    remaining_.store(tasks, std::memory_order_relaxed);
    std::int64_t ready = 0;
    for (TaskId task = 0; task < tasks; ++task)
        if (graph.num_predecessors[task] == 0) policy.push(task, home_of(task)), ++ready;
    num_ready_.store(ready, std::memory_order_relaxed);

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
    self.idle.store(false, std::memory_order_relaxed);
    try {
        check(options_->interrupt); // the other workers may end a short run before worker 0 looks for a task
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
    while (running()) {
        check(options_->interrupt);
        poll_between_tasks(worker);
        // Pieces go first: workers were idle when their task began, so it is probably critical.
        bool const helps = shared_.offers_any(worker);
        TaskId task = helps ? no_task : policy_->pop(worker);
        TaskId const pending_wake = std::exchange(workers_[worker].pending_wake, no_task);
        if (pending_wake != no_task && task != pending_wake) announce(pending_wake, any_worker);
        if (helps && help(worker)) continue;
        if (task == no_task) task = wait_for_task(worker);
        if (task == no_task) continue; // there are pieces, or the run has ended
        count_ready(-1, worker);
        if (take(task)) {
            record_start(worker, task);
            return task;
        }
    }
    return no_task;
}

// The trace shows the whole poll as communication; messages record themselves.
void GraphRun::poll_between_tasks(WorkerId worker) {
    if (!options_->poll) return;
    trace::Scope const polling(track(worker), trace::Kind::receive);
    poll(worker);
}

// Whether the worker found pieces. It has no task meanwhile, so it counts as idle.
bool GraphRun::help(WorkerId worker) {
    std::atomic<bool>& idle = workers_[worker].idle;
    idle.store(true, std::memory_order_relaxed);
    bool const helped = shared_.help(worker);
    idle.store(false, std::memory_order_relaxed);
    return helped;
}

TaskId GraphRun::wait_for_task(WorkerId worker) {
    Worker& self = workers_[worker];
    trace::Scope const idle(track(worker), trace::Kind::idle);
    auto const idle_since = Clock::now();
    self.busy_s += std::chrono::duration<double>(idle_since - self.busy_since).count();
    count_finished(self);
    self.idle.store(true, std::memory_order_relaxed);
    TaskId task = spin(worker);
    if (task == no_task && running() && !shared_.offers_any(worker)) task = sleep(worker);
    self.idle.store(false, std::memory_order_relaxed);
    self.busy_since = Clock::now();
    return task;
}

/// Records the number of ready tasks.
void GraphRun::count_ready(int change, WorkerId by) {
    trace::Track* const mine = track(by);
    if (!mine) return;
    mine->between_tasks();
    auto const before = num_ready_.fetch_add(change, std::memory_order_relaxed);
    mine->sample(trace::Counter::ready_tasks, before + change);
}

/// Whether a task that the policy returned may run. Error{internal} unless it exists, is ready, and comes
/// once.
bool GraphRun::take(TaskId task) {
    if (task < 0 || task >= graph_->num_tasks())
        throw Error(Status::internal,
                    fmt::format("the scheduling policy handed out task {}, which does not exist", task));
    if (!exclusion_.acquire(task)) return false;
    std::int32_t unmet = 0;
    if (unmet_[task].compare_exchange_strong(unmet, taken, std::memory_order_acq_rel)) return true;
    if (unmet < 0 && unmet > taken / 2) throw too_many_releases(task); // before it was taken
    throw Error(Status::internal, fmt::format("the scheduling policy handed out task {} {}", task,
                                              unmet > 0 ? "before it was ready" : "twice"));
}

Error GraphRun::too_many_releases(TaskId task) const {
    return Error(Status::internal,
                 fmt::format("task graph: task {} is released by more than its {} predecessors", task,
                             graph_->num_predecessors[task]));
}

void GraphRun::record_start(WorkerId worker, TaskId task) {
    auto const steal = policy_->on_start(worker);
    if (trace::Track* const mine = track(worker); mine && steal)
        mine->steal(steal->victim,
                    options_->first_number + (options_->numbers.empty() ? task : options_->numbers[task]),
                    steal->distance);
}

void GraphRun::execute(TaskId task, WorkerId worker) {
    (*body_)(task, worker);
    Worker& self = workers_[worker];
    ++self.tasks;
    ++self.uncounted;
    if (TaskId const left = exclusion_.release(task); left != no_task) make_ready(left, worker);
    for (TaskId const next : graph_->successors_of(task))
        if (count_down(next)) make_ready(next, worker);
}

/// Pushes a task on behalf of a worker and wakes a worker for it. No other worker is woken for the first task
/// in the worker's own queue, as the worker is about to pop it; next_task() wakes one if the worker pops a
/// better task.
void GraphRun::make_ready(TaskId task, WorkerId by) {
    count_ready(+1, by); // before it can be taken
    WorkerId const target = policy_->push(task, by);
    if (num_workers_ == 1 || target == by) return;
    Worker& self = workers_[by];
    if (target == any_worker && self.pending_wake == no_task && policy_->in_own_queue(by, task))
        self.pending_wake = task;
    else
        announce(task, target);
}

/// The number of workers in the range that have nothing to do.
int GraphRun::count_idle(WorkerRange range) const {
    int idle = 0;
    for (WorkerId w = range.first; w < range.end; ++w)
        idle += workers_[w].idle.load(std::memory_order_relaxed);
    return idle;
}

void GraphRun::share(WorkerId worker, WorkerRange helpers, int pieces, PieceBody const& body) {
    shared_.run(worker, helpers, pieces, body, [&] { wake_helpers(helpers, pieces - 1); });
}

/// One predecessor of `task` is done. Returns whether it was the last one.
bool GraphRun::count_down(TaskId task) {
    if (task < 0 || task >= graph_->num_tasks())
        throw Error(Status::internal, fmt::format("task graph: task {} does not exist", task));
    std::int32_t const before = unmet_[task].fetch_sub(1, std::memory_order_acq_rel);
    if (before < 1) throw too_many_releases(task);
    return before == 1;
}

/// Subtracts the tasks that this worker has run from the common count. Called when the worker finds no more
/// tasks: the count is written rarely and is exact when all workers are idle.
void GraphRun::count_finished(Worker& worker) {
    std::int64_t const done = std::exchange(worker.uncounted, 0);
    if (done > 0 && remaining_.fetch_sub(done, std::memory_order_acq_rel) == done) end();
}

bool GraphRun::release(TaskId task) {
    std::unique_lock const lock(mutex_);
    if (!running()) return false;
    if (awaited_events_ == 0)
        throw Error(Status::internal,
                    fmt::format("task graph: task {} is released by an event that was not announced", task));
    --awaited_events_;
    if (count_down(task)) {
        num_ready_.fetch_add(1, std::memory_order_relaxed);
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

bool GraphRun::idle() {
    std::lock_guard const lock(mutex_);
    return running() && num_waiting_ == num_workers_;
}

void GraphRun::end() {
    std::lock_guard const lock(mutex_);
    end_locked();
}

WorkerId GraphRun::home_of(TaskId task) const {
    WorkerId const home = graph_->home_of(task);
    return home >= 0 && home < num_workers_ ? home : 0;
}

} // namespace espalier
