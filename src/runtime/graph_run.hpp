// One execution of a task graph by several workers: counts predecessors down, asks the policy for tasks,
// puts idle workers to sleep and wakes them, and ends on completion, failure, cancellation or a standstill.
// Knows nothing of threads: worker_team.hpp calls work() on each.
//
// Memory order. A worker counts its successors down by acquire-release operations after the body has
// returned; the one that takes a task reads the count (claim()), which is the end of the release sequences
// of all the predecessors. So their writes are visible to the task, whatever the policy does.
//
// Sleep. A worker that found nothing for a while (1) says under the mutex that it sleeps, (2) passes a full
// fence, (3) looks into the policy a last time, (4) waits on its condition variable. Who makes a task ready
// (1) pushes it, (2) passes a full fence, (3) wakes a worker that says it sleeps. One of the two sees the
// other, so no wake-up is lost. A sleeper that was chosen for one task but found another in its last look
// passes the call on.
//
// Exclusion. A task whose resource is held goes to the resource instead of to the worker (exclusion.hpp), and
// comes back by a push when the holder is done: the sleep protocol treats it as made ready then.
//
// Standstill. When every worker waits at (4), all have looked and found nothing after the last push; if
// tasks remain and no event from outside is awaited, none will ever become ready.
//
// Polling. An idle worker that moves messages along goes on waiting in this sense: what comes of it is an
// event from outside, and release() wakes whom it concerns, perhaps this very worker.
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
#include "policies/exclusion.hpp"
#include "policies/spin.hpp"
#include "policies/task_graph.hpp"
#include "trace/record.hpp"

namespace espalier {

using TaskBody = std::function<void(TaskId, WorkerId)>;

struct RunOptions {
    /// Looked at between tasks by every worker; true ends the run with Error{cancelled}. May be set from a
    /// signal handler. Null for none.
    std::atomic<bool> const* cancel = nullptr;
    /// The same as a question, asked on the calling thread between its tasks, at most every 10 ms.
    std::function<bool()> should_cancel;
    /// Calls of WorkerTeam::release() to come: predecessors that are events and not tasks.
    Offset external_events = 0;
    /// The number of task 0 in the trace that is recorded.
    std::int64_t first_number = 0;
    /// Of each task after that; empty: as it is.
    std::span<TaskId const> numbers;
    /// Called on the calling thread when release() begins to be accepted, before the first task.
    std::function<void()> on_start;
    /// Moves messages along; true when it did something. Called by every worker between its tasks and, while
    /// it is idle, every poll_interval: it has to be cheap, and decides itself who of them does the work. May
    /// call release(), stop() and idle(). An exception ends the run like one of a body.
    std::function<bool(WorkerId)> poll;
    std::chrono::nanoseconds poll_interval = std::chrono::microseconds(50);
    /// Called by a worker that found nothing to do, each time before it sleeps; waits() is true by then.
    std::function<void()> on_sleep;
};

struct WorkerStats {
    std::int64_t tasks = 0;
    std::int64_t steals = 0; ///< As the policy counts them.
    double busy_s = 0;       ///< In tasks and between two tasks without a pause.
};

struct RunStats {
    double seconds = 0;
    std::vector<WorkerStats> workers;
    [[nodiscard]] std::int64_t tasks() const;
    [[nodiscard]] std::int64_t steals() const;
    [[nodiscard]] double busy_s() const;
};

class GraphRun {
  public:
    using Clock = std::chrono::steady_clock;

    /// `spin` is how an idle worker looks for work before it sleeps.
    GraphRun(int num_workers, Spin spin);

    /// Where each worker's idle times are recorded, and how many tasks are ready; empty: nowhere. Not during
    /// a run. Tasks record themselves.
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

  private:
    enum class State : int { ended, running };

    struct alignas(64) Worker {
        // Written by the worker itself.
        std::int64_t tasks = 0;
        std::int64_t unsettled = 0; ///< Tasks not yet taken off remaining_.
        double busy_s = 0;
        Clock::time_point busy_since;
        TaskId unannounced = no_task; ///< In a queue of its own, and nobody was woken.
        // Written under mutex_ by the worker (true) and by who wakes it (false).
        alignas(64) std::atomic<bool> asleep{false};
        bool waiting = false; ///< Asleep, and its last look found nothing.
        TaskId woken_for = no_task;
        std::condition_variable wake;
    };

    [[nodiscard]] bool running() const { return state_.load(std::memory_order_acquire) == State::running; }
    TaskId next_task(WorkerId worker);
    TaskId wait_for_task(WorkerId worker);
    bool take(TaskId task);
    void make_ready(TaskId task, WorkerId by);
    void execute(TaskId task, WorkerId worker);
    bool count_down(TaskId task);
    void announce(TaskId task, WorkerId target);
    std::condition_variable* choose_sleeper(TaskId task, WorkerId target);
    std::condition_variable* rouse(Worker& sleeper, TaskId task);
    void settle(Worker& worker);
    TaskId spin(WorkerId worker);
    TaskId sleep(WorkerId worker);
    void wait(Worker& self, WorkerId worker, std::unique_lock<std::mutex>& lock);
    void poll_between_tasks(WorkerId worker);
    bool poll(WorkerId worker) { return options_->poll && options_->poll(worker); }
    void check_cancelled(WorkerId worker);
    void check_standstill();
    void end();
    void end_locked();
    [[nodiscard]] WorkerId home_of(TaskId task) const;
    [[nodiscard]] trace::Track* track(WorkerId worker) const {
        return tracks_.empty() ? nullptr : tracks_[worker];
    }
    void count_ready(int change, WorkerId by);
    void record_steal(WorkerId worker, TaskId task);

    // Set by begin(), read by all; state_ changes once a run.
    TaskGraph const* graph_ = nullptr;
    Policy* policy_ = nullptr;
    TaskBody const* body_ = nullptr;
    RunOptions const* options_ = nullptr;
    int num_workers_;
    Spin spin_;
    std::unique_ptr<std::atomic<std::int32_t>[]> unmet_; ///< Predecessors to come; -1 once claimed.
    TaskId unmet_capacity_ = 0;
    Exclusion exclusion_;
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
    Clock::time_point last_question_; ///< Of options_->should_cancel; worker 0.
    std::vector<std::int64_t> steals_before_;
};

} // namespace espalier
