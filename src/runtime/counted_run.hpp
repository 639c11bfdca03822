// One execution of a task graph by threads of another runtime. Counts predecessors down and gives tasks that
// are ready to the other runtime, which decides which thread runs them.
//
// Ready tasks of a thread are on a stack of its own: it runs the newest one, whose data is in its cache, and
// hands out the oldest ones as long as few are waiting in the other runtime. This bounds the tasks there,
// because OpenMP runs a task at once, inside of the one that creates it, when it has many already: chains of
// such calls would exhaust the stack.
//
// Memory order. A task is handed out after the acquire-release operation that counted its last predecessor
// down, so the writes of all predecessors are visible to it.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "core/error.hpp"
#include "runtime/graph_run.hpp"

namespace espalier {

class CountedRun {
  public:
    explicit CountedRun(int threads);

    /// Prepares a run. The arguments are kept by reference until finish().
    void begin(TaskGraph const& graph, TaskBody const& body, RunOptions const& options);

    /// On the thread that called begin(), as worker `worker`: runs tasks, and calls spawn(task) for those
    /// that others may run. When a spawned task runs, as worker w, it has to call run_spawned(task, w,
    /// spawn).
    template <class Spawn> void start(WorkerId worker, Spawn const& spawn) noexcept {
        for (TaskId task = graph_->num_tasks(); task-- > 0;)
            if (graph_->num_predecessors[task] == 0) workers_[worker].ready.push_back(task);
        drain(worker, spawn);
    }
    template <class Spawn> void run_spawned(TaskId task, WorkerId worker, Spawn const& spawn) noexcept {
        spawned_.fetch_sub(1, std::memory_order_relaxed);
        workers_[worker].ready.push_back(task);
        drain(worker, spawn);
    }

    /// After all spawned tasks have run: throws what ended the run, or returns its statistics.
    /// Error{internal} if tasks remain, which wait for each other.
    RunStats finish();

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr int most_spawned_per_thread = 32;

    struct alignas(64) Worker {    // used by one thread at a time
        std::vector<TaskId> ready; ///< From `oldest` on.
        std::size_t oldest = 0;
        std::int64_t tasks = 0;
        double busy_s = 0;
    };

    template <class Spawn> void drain(WorkerId worker, Spawn const& spawn) noexcept {
        Worker& self = workers_[worker];
        auto const begin = Clock::now();
        try {
            while (self.ready.size() > self.oldest && !stops()) {
                hand_out(self, spawn);
                if (self.ready.size() == self.oldest) break; // a spawned task has run at once, and all others
                TaskId const task = self.ready.back();
                self.ready.pop_back();
                execute(task, worker);
            }
        } catch (...) {
            error_.capture();
        }
        self.ready.clear();
        self.oldest = 0;
        self.busy_s += std::chrono::duration<double>(Clock::now() - begin).count();
    }

    template <class Spawn> void hand_out(Worker& self, Spawn const& spawn) {
        while (self.ready.size() > self.oldest + 1 &&
               spawned_.load(std::memory_order_relaxed) < most_spawned_) {
            spawned_.fetch_add(1, std::memory_order_relaxed);
            spawn(self.ready[self.oldest++]);
        }
    }

    void execute(TaskId task, WorkerId worker);
    [[nodiscard]] bool stops();

    // Set by begin(), read by all.
    TaskGraph const* graph_ = nullptr;
    TaskBody const* body_ = nullptr;
    RunOptions const* options_ = nullptr;
    int num_workers_;
    int most_spawned_;
    /// For each task the predecessors that have not ended.
    std::unique_ptr<std::atomic<std::int32_t>[]> unmet_;
    TaskId unmet_capacity_ = 0;
    std::unique_ptr<Worker[]> workers_;
    Clock::time_point started_;

    alignas(64) std::atomic<int> spawned_{0}; ///< Spawned tasks that have not begun.
    FirstError error_;
};

} // namespace espalier
