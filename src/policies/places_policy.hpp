// Places: lists of ready tasks at two levels, one for each core and one for each NUMA node, with a push
// strategy and a strategy for the selection of victims (Virouleau, Broquedis, Gautier, Rastello 2016). A task
// writes data of its home.
//
// Differences from the paper: lists are ordered by priority, and a selection ends with a search of all other
// lists in order, because a policy must not overlook a task (Policy::pop). `strict` keeps a task on the NUMA
// node of the list that it was pushed to.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "espalier/schedule_settings.hpp"
#include "policies/stealing_policy.hpp"

namespace espalier {

class PlacesPolicy : public StealingPolicy {
  public:
    /// `graph` must outlive this. Deterministic for a given seed and order of calls.
    PlacesPolicy(TaskGraph const& graph, PolicyMachine machine, ScheduleSettings const& settings);

    WorkerId push(TaskId task, WorkerId by) override;
    /// Searches the worker's own list, then that of its node, then the victims. The distance of a steal is 1
    /// from a core of the same node, else 1 plus the rank of the victim's node.
    TaskId pop(WorkerId worker) override;
    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override;
    [[nodiscard]] bool in_own_queue(WorkerId worker, TaskId task) const override {
        return list_of_task_[task].load(std::memory_order_relaxed) == worker;
    }

  private:
    enum class Level { core, node };

    // Lists are numbered: those of the workers, then those of the nodes.
    [[nodiscard]] int list_of_node(int node) const { return machine_.num_workers() + node; }
    [[nodiscard]] int node_of_list(int list) const {
        return machine_.has(list) ? machine_.node_of(list) : list - machine_.num_workers();
    }
    [[nodiscard]] int choose_list(TaskId task, WorkerId by) const;

    TaskId select(WorkerId worker);
    TaskId sweep(WorkerId worker, std::initializer_list<Level> levels);
    TaskId steal_at(Level level, WorkerId worker, PolicyMachine::Neighbour from);
    TaskId steal_from_core(WorkerId worker, WorkerId victim, int rank);
    TaskId steal_from_node(WorkerId worker, PolicyMachine::Neighbour from);
    TaskId try_random_cores(WorkerId worker);
    TaskId try_random_nodes(WorkerId worker);
    std::size_t draw(WorkerId worker, std::size_t below);

    struct alignas(64) Generator { // accessed by its worker only
        std::uint64_t state = 0;
    };

    ScheduleSettings settings_;
    std::vector<int> initial_node_;                    ///< For tasks that are ready at the start; else -1.
    std::unique_ptr<std::atomic<int>[]> list_of_task_; ///< The list of each pushed task.
    std::vector<Generator> generators_;
};

} // namespace espalier
