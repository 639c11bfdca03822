#include "espalier/coarsening.hpp"

#include <algorithm>

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
};

namespace {

TaskGraph task_graph(TaskDependences const& tasks) {
    auto const& ptr = tasks.successor_ptr;
    bool const fits = !ptr.empty() && ptr.front() == 0 && ptr.back() == std::ssize(tasks.successors) &&
                      std::is_sorted(ptr.begin(), ptr.end()) &&
                      (tasks.cost.empty() || tasks.cost.size() + 1 == ptr.size());
    if (!fits)
        throw Error(Status::usage, fmt::format("the dependences of tasks have {} positions, {} successors and {} costs, "
                                               "which do not fit each other",
                                               ptr.size(), tasks.successors.size(), tasks.cost.size()));
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
    : graph_(std::make_unique<Graph>(Graph{coarsen(task_graph(tasks), coarse_string)})) {
    graph_->coarse.graph.priority = longest_paths(graph_->coarse.graph);
}
CoarseTasks::~CoarseTasks() = default;
CoarseTasks::CoarseTasks(CoarseTasks&&) noexcept = default;
CoarseTasks& CoarseTasks::operator=(CoarseTasks&&) noexcept = default;

std::int32_t CoarseTasks::num_aggregates() const { return graph_->coarse.graph.num_tasks(); }
std::span<std::int32_t const> CoarseTasks::parts_of(std::int32_t aggregate) const {
    return graph_->coarse.parts_of(aggregate);
}
std::span<std::int32_t const> CoarseTasks::successors_of(std::int32_t aggregate) const {
    return graph_->coarse.graph.successors_of(aggregate);
}

void CoarseTasks::run(AggregateFunction const& function, CoarseRun const& how) const {
    if (how.schedule == SchedulePolicy::static_order || how.schedule == SchedulePolicy::automatic)
        throw Error(Status::usage, "coarse tasks run with the schedule dynamic, places or nas");
    TaskGraph const& graph = graph_->coarse.graph;
    auto const body = coarse_body(graph_->coarse, function);
    Topology const topology = Topology::detect();
    if (how.runtime != TaskRuntime::espalier) {
        make_other_runtime(how.runtime, how.threads > 0 ? how.threads : topology.default_threads())->run(graph, body);
        return;
    }
    WorkerTeam team(topology, how.threads);
    std::vector<int> nodes;
    for (auto const& place : team.places()) nodes.push_back(place.node);
    std::vector<WorkerRange> const candidates(graph.num_tasks(), WorkerRange{0, team.size()});
    ScheduleSettings settings;
    settings.schedule = how.schedule;
    auto const policy = make_policy(settings, graph, PolicyMachine(nodes, topology.distances()), {.candidates = &candidates});
    team.run(graph, *policy, body);
}

} // namespace espalier
