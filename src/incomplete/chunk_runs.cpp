#include "incomplete/chunk_runs.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "policies/make_policy.hpp"

namespace espalier {

std::vector<double> path_priorities(TaskGraph const& graph) {
    std::vector<double> path(graph.num_tasks(), 0.0);
    auto const order = topological_order(graph);
    for (auto task = order.rbegin(); task != order.rend(); ++task) {
        for (TaskId const next : graph.successors_of(*task)) path[*task] = std::max(path[*task], path[next]);
        path[*task] += graph.cost.empty() ? 1 : graph.cost[*task];
    }
    return path;
}

TeamNodes nodes_of(WorkerTeam const& team) {
    std::map<int, int> os_index_of; // keys are the numbers of the nodes in the topology
    for (auto const& place : team.places()) os_index_of[place.node] = place.node_os_index;
    TeamNodes nodes;
    std::map<int, int> number_of;
    for (auto const& [node, os_index] : os_index_of) {
        number_of[node] = static_cast<int>(nodes.os_index.size());
        nodes.os_index.push_back(os_index);
    }
    for (auto const& place : team.places()) nodes.of_worker.push_back(number_of[place.node]);
    return nodes;
}

ChunkRuns::ChunkRuns(ExecutionOrder& order, WorkerTeam& team, ChunkRuntime const& runtime)
    : order_(order), team_(team), runtime_(runtime), progress_(team.size()) {
    TaskGraph tasks = std::exchange(order.tasks, {});
    if (runtime.uses_lists()) return;
    if (runtime.runtime != TaskRuntime::espalier) other_ = make_other_runtime(runtime.runtime, team.size());
    forward_ = std::make_unique<Tasks>(Tasks{std::move(tasks), nullptr});
    backward_ = std::make_unique<Tasks>(Tasks{reversed_tasks(forward_->graph), nullptr});
    for (Tasks* const direction : {forward_.get(), backward_.get()}) {
        direction->graph.priority = path_priorities(direction->graph);
        if (!other_) direction->policy = make_policy_for(direction->graph);
    }
}

Offset ChunkRuns::synchronizations() const {
    return forward_ ? 2 * std::ssize(forward_->graph.successors)
                    : std::ssize(order_.forward.waits) + std::ssize(order_.backward.waits);
}

void ChunkRuns::run(TriangularPart part, TaskBody const& forward, TaskBody const& backward,
                    RunOptions const& options) {
    if (forward_) {
        if (part != TriangularPart::upper) run_tasks(*forward_, forward, options);
        if (part != TriangularPart::lower) run_tasks(*backward_, backward, options);
        return;
    }
    bool const yields = !team_.bound();
    progress_.reset();
    team_.for_each_worker([&](WorkerId w) {
        trace::Track* const track = team_.track(w);
        if (part != TriangularPart::upper)
            progress_.run(
                order_, SweepDirection::forward, w, yields, [&](std::int32_t chunk) { forward(chunk, w); },
                track);
        // Workers need no barrier here: the rows that read a row of this chunk in the forward sweep precede
        // it in the backward sweep, and are waited for.
        if (part != TriangularPart::lower)
            progress_.run(
                order_, SweepDirection::backward, w, yields, [&](std::int32_t chunk) { backward(chunk, w); },
                track);
    });
}

void ChunkRuns::run_tasks(Tasks& tasks, TaskBody const& body, RunOptions const& options) {
    if (other_) {
        other_->run(tasks.graph, body, options);
        return;
    }
    try {
        team_.run(tasks.graph, *tasks.policy, body, options);
    } catch (...) {
        tasks.policy = make_policy_for(tasks.graph);
        throw;
    }
}

// In the tree of queues, the candidate of a chunk is the worker for which its rows are stored.
std::unique_ptr<Policy> ChunkRuns::make_policy_for(TaskGraph const& graph) const {
    std::vector<WorkerRange> candidates;
    for (WorkerId const home : graph.home) candidates.push_back({home, home + 1});
    PolicyMachine const machine(team_.node_of_worker(), runtime_.node_distances);
    return make_policy(runtime_.schedule, graph, machine, {.candidates = &candidates});
}

} // namespace espalier
