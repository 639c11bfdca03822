#include "espalier/coarsening.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "coarsen/coarse_string.hpp"
#include "core/error.hpp"
#include "policies/make_policy.hpp"
#include "runtime/other_runtime.hpp"
#include "runtime/topology.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

struct CoarseTasks::Graph {
    CoarseGraph coarse;
    std::atomic_flag runs{};

    // The threads of the last run, for the next one with the same settings.
    CoarseRun last;
    std::optional<Topology> topology;
    std::unique_ptr<WorkerTeam> team;
    std::unique_ptr<OtherRuntime> other;

    void make_threads(CoarseRun const& how) {
        bool const has_threads = team || other; // false after a failure
        if (has_threads && how.threads == last.threads && how.runtime == last.runtime) return;
        team.reset();
        other.reset();
        topology = Topology::detect();
        if (how.runtime == TaskRuntime::espalier)
            team = std::make_unique<WorkerTeam>(*topology, how.threads);
        else
            other =
                make_other_runtime(how.runtime, how.threads > 0 ? how.threads : topology->default_threads());
        last = how;
    }

    void run(AggregateFunction const& function, CoarseRun const& how) {
        make_threads(how);
        auto const body = coarse_body(coarse, function);
        if (other) {
            other->run(coarse.graph, body);
            return;
        }
        PolicyMachine const machine(team->node_of_worker(), topology->distances());
        std::vector<WorkerRange> const candidates(coarse.graph.num_tasks(), WorkerRange{0, team->size()});
        ScheduleSettings settings;
        settings.schedule = how.schedule;
        auto const policy = make_policy(settings, coarse.graph, machine, {.candidates = &candidates});
        team->run(coarse.graph, *policy, body);
    }
};

namespace {

TaskGraph task_graph(TaskDependences const& tasks) {
    auto const& ptr = tasks.successor_ptr;
    bool const fits = !ptr.empty() && ptr.front() == 0 && ptr.back() == std::ssize(tasks.successors) &&
                      std::is_sorted(ptr.begin(), ptr.end()) &&
                      (tasks.cost.empty() || tasks.cost.size() + 1 == ptr.size());
    if (!fits)
        throw Error(Status::usage,
                    fmt::format("the arrays of the task graph are inconsistent: {} positions, {} successors "
                                "and {} costs",
                                ptr.size(), tasks.successors.size(), tasks.cost.size()));
    if (std::ssize(ptr) - 1 > std::numeric_limits<TaskId>::max())
        throw Error(Status::unsupported,
                    fmt::format("{} tasks; at most 2^31 - 1 are possible", ptr.size() - 1));
    for (std::size_t task = 0; task < tasks.cost.size(); ++task)
        if (!std::isfinite(tasks.cost[task]) || tasks.cost[task] < 0)
            throw Error(Status::usage,
                        fmt::format("task {} has the cost {}; expected a finite number, at least 0", task,
                                    tasks.cost[task]));
    if (!std::isfinite(std::accumulate(tasks.cost.begin(), tasks.cost.end(), 0.0)))
        throw Error(Status::usage, "the sum of the costs of the tasks is not finite");
    TaskGraph graph;
    graph.successor_ptr.assign(ptr.begin(), ptr.end());
    graph.successors.assign(tasks.successors.begin(), tasks.successors.end());
    graph.cost.assign(tasks.cost.begin(), tasks.cost.end());
    graph.num_predecessors.assign(ptr.size() - 1, 0);
    check_fine_graph(graph);
    for (TaskId const task : graph.successors) ++graph.num_predecessors[task];
    return graph;
}

} // namespace

CoarseTasks::CoarseTasks(TaskDependences const& tasks, std::string_view coarse_string)
    : graph_(std::make_unique<Graph>()) {
    graph_->coarse = coarsen(task_graph(tasks), coarse_string);
    graph_->coarse.graph.priority = longest_paths(graph_->coarse.graph);
}
CoarseTasks::~CoarseTasks() = default;
CoarseTasks::CoarseTasks(CoarseTasks&&) noexcept = default;
CoarseTasks& CoarseTasks::operator=(CoarseTasks&&) noexcept = default;

std::int32_t CoarseTasks::num_aggregates() const {
    return graph_->coarse.graph.num_tasks();
}
std::span<std::int32_t const> CoarseTasks::parts_of(std::int32_t aggregate) const {
    return graph_->coarse.parts_of(aggregate);
}
std::span<std::int32_t const> CoarseTasks::successors_of(std::int32_t aggregate) const {
    return graph_->coarse.graph.successors_of(aggregate);
}

void CoarseTasks::run(AggregateFunction const& function, CoarseRun const& how) const {
    if (how.schedule == SchedulePolicy::static_order || how.schedule == SchedulePolicy::automatic)
        throw Error(Status::usage, "coarse tasks need the schedule dynamic, places or nas");
    if (how.threads < 0 || how.threads > WorkerTeam::max_workers)
        throw Error(Status::usage, fmt::format("threads = {}; expected 1 to {}, or 0 for all cores",
                                               how.threads, WorkerTeam::max_workers));
    if (graph_->runs.test_and_set())
        throw Error(Status::usage, "another run of these coarse tasks has not ended");
    struct Ended {
        ~Ended() { runs.clear(); }
        std::atomic_flag& runs;
    } const ended{graph_->runs};
    graph_->run(function, how);
}

} // namespace espalier
