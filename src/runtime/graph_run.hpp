// One execution of a task graph by several workers: counts predecessors down, pops tasks from the policy,
// puts idle workers to sleep and wakes them, and ends on completion, failure, cancellation or a standstill.
// It has no threads: WorkerTeam calls work() on each of its threads.
//
// Memory order. After the body of a task a worker counts the successors down by acquire-release operations.
// The worker that takes a task reads the count (take()), which ends the release sequences of all
// predecessors. So their writes are visible to the task, whatever the policy does.
//
// Sleep. A worker that has found nothing for a while (1) sets its flag `asleep` under the mutex, (2) issues a
// full fence, (3) pops once more, (4) waits on its condition variable. A thread that makes a task ready (1)
// pushes it, (2) issues a full fence, (3) wakes a worker whose flag is set. One of the two sees the other's
// write, so no wake-up is lost. A worker that was woken for one task but found another one in step 3 wakes
// another worker in its place.
//
// Exclusion. A task whose resource is held is queued at the resource (exclusion.hpp), and pushed again when
// the holder is done. For the sleep protocol it becomes ready at that moment.
//
// Standstill. If every worker waits in step 4, all have searched the policy after the last push. If tasks
// remain and no external event is expected, none can become ready any more.
//
// Shared pieces. A task may be divided while it runs (shared_pieces.hpp). Idle workers help with the pieces
// when they find no task. The task wakes sleepers for them. A worker that helps counts as idle for the next
// task: it is free in a moment. Otherwise a task that starts just then would not be divided at all.
//
// Polling. An idle worker that polls for messages still counts as waiting: a message is an external event,
// and release() wakes a worker for it, possibly this one.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "policies/exclusion.hpp"
#include "policies/policy.hpp"
#include "policies/spin.hpp"
#include "runtime/shared_pieces.hpp"
#include "trace/record.hpp"

namespace espalier {

using TaskBody = std::function<void(TaskId, WorkerId)>;

struct RunOptions {
    /// Checked between tasks by every worker; a request to stop ends the run with Error{cancelled}. Null: no
    /// cancellation.
    Interrupt* interrupt = nullptr;
    /// The number of calls of WorkerTeam::release() to expect: predecessors that are events and not tasks.
    Offset external_events = 0;
    /// The number of task 0 in the trace that is recorded.
    std::int64_t first_number = 0;
    /// The number of each task relative to first_number; empty: its own number.
    std::span<TaskId const> numbers;
    /// Called on the calling thread before the first task, when release() is accepted.
    std::function<void()> on_start;
    /// Makes progress on messages and returns whether it made any. Called by every worker between its tasks
    /// and, while the worker is idle, every 50 us; so it has to be cheap, and to choose one worker
    /// for the work itself. May call release(), stop() and idle(). An exception ends the run.
    std::function<bool(WorkerId)> poll;
    /// Called by a worker that has found no task, before each sleep; waits() is true by then.
    std::function<void()> on_sleep;
};

struct WorkerStats {
    std::int64_t tasks = 0;
    std::int64_t steals = 0; ///< As counted by the policy.
    double busy_s = 0;       ///< In tasks, and between two tasks without a pause.
};

struct RunStats {
    double seconds = 0;
    std::vector<WorkerStats> workers;
    [[nodiscard]] std::int64_t tasks() const;
    [[nodiscard]] std::int64_t steals() const;
    [[nodiscard]] double busy_s() const;
};

class GraphRun : IdleWorkers {
  public:
    using Clock = std::chrono::steady_clock;

    /// `spin`: how long an idle worker searches before it sleeps.
    GraphRun(int num_workers, Spin spin);

    /// Sets the tracks that record idle times of each worker and the number of ready tasks; empty: no
    /// recording. Not during a run. Tasks record themselves.
    void record(std::vector<trace::Track*> tracks) { tracks_ = std::move(tracks); }

    /// Prepare a run and push the tasks that are ready. The arguments are kept by reference until finish().
    void begin(TaskGraph const& graph, Policy& policy, TaskBody const& body, RunOptions const& options);
    /// Calls a function whose exception ends the run.
    void guard(std::function<void()> const& function) noexcept;
    /// Execute tasks as worker `worker` until the run has ended. Called once for each worker.
    void work(WorkerId worker) noexcept;
    /// After all workers have returned: throws what ended the run, or returns its statistics.
    RunStats finish();

    /// See WorkerTeam.
    bool release(TaskId task);
    bool stop(Error const& reason);
    [[nodiscard]] bool idle();
    [[nodiscard]] bool waits() const { return num_asleep_.load(std::memory_order_relaxed) > 0; }
    [[nodiscard]] int count_idle(WorkerRange range) const;
    void share(WorkerId worker, WorkerRange helpers, int pieces, PieceBody const& body);

  private:
    enum class State : int { ended, running };
    static constexpr std::int32_t taken = -(1 << 30);

    struct alignas(64) Worker {
        // Written by the worker itself.
        std::int64_t tasks = 0;
        std::int64_t uncounted = 0; ///< Tasks not yet subtracted from remaining_.
        double busy_s = 0;
        Clock::time_point busy_since;
        TaskId pending_wake = no_task; ///< In its own queue; no worker has been woken for it.
        // Written under mutex_: true by the worker, false by the thread that wakes it.
        alignas(64) std::atomic<bool> idle{false}; ///< Written by the worker itself: it has no task.
        alignas(64) std::atomic<bool> asleep{false};
        bool waiting = false; ///< Asleep, and its last search found nothing.
        TaskId woken_for = no_task;
        std::condition_variable wake;
    };

    [[nodiscard]] bool running() const { return state_.load(std::memory_order_acquire) == State::running; }
    TaskId next_task(WorkerId worker);
    bool help(WorkerId worker);
    TaskId wait_for_task(WorkerId worker);
    bool take(TaskId task);
    void make_ready(TaskId task, WorkerId by);
    void execute(TaskId task, WorkerId worker);
    bool count_down(TaskId task);
    [[nodiscard]] Error too_many_releases(TaskId task) const;
    void announce(TaskId task, WorkerId target);
    void wake_helpers(WorkerRange helpers, int most);
    std::condition_variable* choose_sleeper(TaskId task, WorkerId target);
    std::condition_variable* mark_awake(Worker& sleeper, TaskId task);
    void count_finished(Worker& worker);
    TaskId spin(WorkerId worker);
    TaskId sleep(WorkerId worker);
    void wait(Worker& self, WorkerId worker, std::unique_lock<std::mutex>& lock);
    void poll_between_tasks(WorkerId worker);
    bool poll(WorkerId worker) { return options_->poll && options_->poll(worker); }
    void check_standstill();
    void end();
    void end_locked();
    [[nodiscard]] WorkerId home_of(TaskId task) const;
    [[nodiscard]] WorkerId first_in(WorkerRange range) const override;
    [[nodiscard]] WorkerId last_in(WorkerRange range) const override;
    [[nodiscard]] bool is_asleep(WorkerId worker) const {
        return workers_[worker].asleep.load(std::memory_order_relaxed);
    }
    [[nodiscard]] trace::Track* track(WorkerId worker) const {
        return tracks_.empty() ? nullptr : tracks_[worker];
    }
    void count_ready(int change, WorkerId by);
    void record_start(WorkerId worker, TaskId task);

    // Set by begin(), read by all; state_ changes once a run.
    TaskGraph const* graph_ = nullptr;
    Policy* policy_ = nullptr;
    TaskBody const* body_ = nullptr;
    RunOptions const* options_ = nullptr;
    int num_workers_;
    Spin spin_;
    /// For each task the predecessors that have not ended; about `taken` once a worker has taken it.
    std::unique_ptr<std::atomic<std::int32_t>[]> unmet_;
    TaskId unmet_capacity_ = 0;
    Exclusion exclusion_;
    SharedPieces shared_;
    std::atomic<State> state_{State::ended};

    // Written by each worker when it runs out of tasks.
    alignas(64) std::atomic<std::int64_t> remaining_{0};
    // Written when a worker falls asleep or is woken, read at every push.
    alignas(64) std::atomic<int> num_asleep_{0};
    // Under mutex_.
    alignas(64) std::mutex mutex_;
    int num_waiting_ = 0;
    Offset awaited_events_ = 0;

    std::unique_ptr<Worker[]> workers_;
    std::vector<trace::Track*> tracks_;
    alignas(64) std::atomic<std::int64_t> num_ready_{0}; ///< Counted only while a trace is recorded.
    FirstError error_;
    Clock::time_point started_;
    std::vector<std::int64_t> steals_before_;
};

} // namespace espalier
