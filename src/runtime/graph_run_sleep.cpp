// Idle workers: spinning, sleeping without lost wake-ups, and the detection of a standstill. graph_run.hpp
// describes the protocol.
#include <fmt/format.h>

#include "runtime/graph_run.hpp"

namespace espalier {

namespace {

/// How often a sleeper checks for cancellation: a request to stop does not wake it.
constexpr std::chrono::nanoseconds cancel_interval = std::chrono::milliseconds(20);
/// How often an idle worker polls.
constexpr std::chrono::nanoseconds poll_interval = std::chrono::microseconds(50);

/// Orders the earlier writes of this thread before its later reads. The thread sanitizer does not model the
/// fence; it need not, as the fence transfers no data.
void full_fence() {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
    std::atomic_thread_fence(std::memory_order_seq_cst);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

} // namespace

/// A worker has pushed `task`: wakes the worker that the policy named, or a sleeper that may run the task.
void GraphRun::announce(TaskId task, WorkerId target) {
    full_fence();
    if (num_asleep_.load(std::memory_order_relaxed) == 0) return;
    if (target >= 0 && target < num_workers_ && !is_asleep(target)) return;
    std::condition_variable* wake = nullptr;
    {
        std::lock_guard const lock(mutex_);
        wake = choose_sleeper(task, target);
    }
    if (wake) wake->notify_one();
}

/// Under mutex_. The condition variable to notify, or null.
std::condition_variable* GraphRun::choose_sleeper(TaskId task, WorkerId target) {
    WorkerId const w = policy_->worker_to_wake(task, target, home_of(task), num_workers_, *this);
    return w == any_worker ? nullptr : mark_awake(workers_[w], task);
}

/// Pieces can be taken: wakes at most `most` sleepers.
void GraphRun::wake_helpers(WorkerRange helpers, int most) {
    full_fence();
    if (num_asleep_.load(std::memory_order_relaxed) == 0) return;
    std::lock_guard const lock(mutex_);
    for (; most > 0; --most) {
        WorkerId const w = first_in(helpers);
        if (w == any_worker) return;
        mark_awake(workers_[w], no_task)->notify_one();
    }
}

WorkerId GraphRun::first_in(WorkerRange range) const {
    for (WorkerId w = range.first; w < range.end; ++w)
        if (is_asleep(w)) return w;
    return any_worker;
}

WorkerId GraphRun::last_in(WorkerRange range) const {
    for (WorkerId w = range.end; w-- > range.first;)
        if (is_asleep(w)) return w;
    return any_worker;
}

/// Under mutex_. The condition variable to notify, or null if the worker does not sleep.
std::condition_variable* GraphRun::mark_awake(Worker& sleeper, TaskId task) {
    if (!sleeper.asleep.load(std::memory_order_relaxed)) return nullptr;
    sleeper.asleep.store(false, std::memory_order_relaxed);
    num_asleep_.fetch_sub(1, std::memory_order_relaxed);
    if (sleeper.waiting) --num_waiting_;
    sleeper.waiting = false;
    sleeper.woken_for = task;
    return &sleeper.wake;
}

TaskId GraphRun::spin(WorkerId worker) {
    TaskId task = no_task;
    spin_until(spin_, [&] {
        return (task = policy_->pop(worker)) != no_task || !running() || shared_.offers_any(worker);
    });
    return task;
}

/// One sleep. Returns the task that the last pop() found, or no_task once the worker has been woken.
TaskId GraphRun::sleep(WorkerId worker) {
    Worker& self = workers_[worker];
    {
        std::lock_guard const lock(mutex_);
        self.woken_for = no_task;
        self.asleep.store(true, std::memory_order_relaxed);
        num_asleep_.fetch_add(1, std::memory_order_relaxed);
    }
    full_fence();
    TaskId const task = policy_->pop(worker);
    bool const can_help = task == no_task && shared_.offers_any(worker);
    if (task == no_task && options_->on_sleep) options_->on_sleep();

    std::unique_lock lock(mutex_);
    if (task == no_task && !can_help) {
        wait(self, worker, lock);
        return no_task;
    }
    TaskId const other = self.woken_for;
    mark_awake(self, no_task);
    lock.unlock();
    if (other != no_task && other != task) announce(other, any_worker);
    return task;
}

/// Waits until the worker is woken or the run has ended.
void GraphRun::wait(Worker& self, WorkerId worker, std::unique_lock<std::mutex>& lock) {
    if (!self.asleep.load(std::memory_order_relaxed)) return;
    self.waiting = true;
    ++num_waiting_;
    check_standstill();
    auto const over = [&] { return !self.asleep.load(std::memory_order_relaxed) || !running(); };
    bool const polls = static_cast<bool>(options_->poll);
    if (!polls && !options_->interrupt) return self.wake.wait(lock, over);
    auto const interval = polls ? poll_interval : cancel_interval;
    while (!self.wake.wait_for(lock, interval, over)) {
        lock.unlock(); // the caller's functions may take long
        check(options_->interrupt);
        bool const progress = poll(worker);
        lock.lock();
        if (progress) mark_awake(self, no_task);
    }
}

/// Under mutex_.
void GraphRun::check_standstill() {
    if (num_waiting_ < num_workers_ || awaited_events_ > 0 || !running()) return;
    std::int64_t done = 0, ready = 0;
    for (TaskId task = 0; task < graph_->num_tasks(); ++task) {
        std::int32_t const unmet = unmet_[task].load(std::memory_order_relaxed);
        done += unmet < 0;
        ready += unmet == 0;
    }
    std::int64_t const tasks = graph_->num_tasks(), blocked = tasks - done - ready;
    try {
        throw Error(Status::internal,
                    fmt::format("the task graph came to a standstill with {} of {} tasks done: {} are ready "
                                "but the scheduling policy returns none of them, {} wait for predecessors{}",
                                done, tasks, ready, blocked, ready == 0 ? " (a cycle?)" : ""));
    } catch (...) {
        error_.capture();
    }
    end_locked();
}

/// Under mutex_: no worker starts another task, and sleepers return.
void GraphRun::end_locked() {
    state_.store(State::ended, std::memory_order_release);
    for (WorkerId w = 0; w < num_workers_; ++w)
        if (is_asleep(w)) workers_[w].wake.notify_one();
}

} // namespace espalier
