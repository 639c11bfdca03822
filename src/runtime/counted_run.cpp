#include "runtime/counted_run.hpp"

#include <fmt/format.h>

namespace espalier {

CountedRun::CountedRun(int threads)
    : num_workers_(threads), most_spawned_(threads > 1 ? most_spawned_per_thread * threads : 0),
      workers_(std::make_unique<Worker[]>(threads)) {}

void CountedRun::begin(TaskGraph const& graph, TaskBody const& body, RunOptions const& options) {
    TaskId const tasks = graph.num_tasks();
    if (tasks > unmet_capacity_) {
        unmet_ = std::make_unique<std::atomic<std::int32_t>[]>(tasks);
        unmet_capacity_ = tasks;
    }
    for (TaskId task = 0; task < tasks; ++task)
        unmet_[task].store(graph.num_predecessors[task], std::memory_order_relaxed);
    for (WorkerId w = 0; w < num_workers_; ++w) {
        workers_[w].tasks = 0;
        workers_[w].busy_s = 0;
    }
    graph_ = &graph;
    body_ = &body;
    options_ = &options;
    started_ = Clock::now();
    spawned_.store(0, std::memory_order_relaxed);
}

// The ready successor of highest priority runs next.
void CountedRun::execute(TaskId task, WorkerId worker) {
    Worker& self = workers_[worker];
    (*body_)(task, worker);
    ++self.tasks;
    std::size_t const before = self.ready.size();
    for (TaskId const next : graph_->successors_of(task))
        if (unmet_[next].fetch_sub(1, std::memory_order_acq_rel) == 1) self.ready.push_back(next);
    if (self.ready.size() > before + 1) {
        auto best = self.ready.begin() + static_cast<std::ptrdiff_t>(before);
        for (auto at = best + 1; at != self.ready.end(); ++at)
            if (graph_->priority_of(*best) < graph_->priority_of(*at)) best = at;
        std::swap(*best, self.ready.back());
    }
}

bool CountedRun::stops() {
    if (error_.raised()) return true;
    check(options_->interrupt);
    return false;
}

RunStats CountedRun::finish() {
    error_.rethrow();
    RunStats stats;
    stats.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    for (WorkerId w = 0; w < num_workers_; ++w)
        stats.workers.push_back({workers_[w].tasks, 0, workers_[w].busy_s});
    if (stats.tasks() != graph_->num_tasks())
        throw Error(Status::internal, fmt::format("{} of {} tasks wait for predecessors that never end",
                                                  graph_->num_tasks() - stats.tasks(), graph_->num_tasks()));
    return stats;
}

} // namespace espalier
