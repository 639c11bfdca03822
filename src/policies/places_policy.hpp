// Places: lists of ready tasks at two levels, one for each core and one for each NUMA node, with strategies
// for where tasks are pushed and whom an idle worker selects as its victim (Virouleau, Broquedis, Gautier,
// Rastello 2016). The data that a task writes are those of its home.
//
// Differences from the paper: lists are ordered by priority, and a selection ends with a look at all other
// lists in order, as the runtime forbids to overlook a task (Policy::pop). `strict` keeps tasks on the NUMA
// node to whose lists they were pushed.
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
    /// The worker's own list, then its node's, then by selection. The distance of a steal is 1 from a core of
    /// the same node, else 1 plus the rank of the victim's node.
    TaskId pop(WorkerId worker) override;
    [[nodiscard]] bool serves(WorkerId worker, TaskId task) const override;
    [[nodiscard]] bool owns(WorkerId worker, TaskId task) const override {
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

    struct alignas(64) Generator { // used by its worker
        std::uint64_t state = 0;
    };

    ScheduleSettings settings_;
    std::vector<int> initial_node_;                    ///< Of tasks that are ready at the beginning; else -1.
    std::unique_ptr<std::atomic<int>[]> list_of_task_; ///< Since its push.
    std::vector<Generator> generators_;
};

} // namespace espalier
