// Places: lists of ready tasks at two levels, one for each core and one for each NUMA node, with a push
// strategy and a strategy for the selection of victims (Virouleau, Broquedis, Gautier, Rastello 2016, section
// 3.5). A task writes data of its home. The lists that a worker looks into, in this order:
//
//     sRand       own core | cores, from a random one on | own node
//     sRandNuma   own core | nodes, from a random one on
//     sProc       own core | cores of the own node | own node | remote cores
//     sNuma       own core | own node | remote nodes
//     sProcNuma   own core | cores of the own node | own node | remote nodes: the cores, then the node
//     sNumaProc   own core | own node | cores of the own node | remote nodes: the node, then the cores
//
// Remote nodes are visited from a random one on. Lists are ordered by priority. `strict` keeps a task on the
// NUMA node of the list that it was pushed to.
#pragma once

#include <atomic>
#include <cstdint>
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
    /// The distance of a steal is 1 from a core of the same node, else 1 plus the rank of the victim's node.
    TaskId pop(WorkerId worker) override;
    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override;
    /// The owner of the list that the task is in, else the task's home if it is on the node of the list, else
    /// the nearest worker that looks into this list.
    [[nodiscard]] WorkerId worker_to_wake(TaskId task, WorkerId target, WorkerId home, int workers,
                                          IdleWorkers const& idle) const override;
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

    [[nodiscard]] bool steals_from_cores() const {
        return settings_.select != SelectStrategy::numa && settings_.select != SelectStrategy::rand_numa;
    }
    [[nodiscard]] bool steals_from_nodes() const {
        return settings_.select != SelectStrategy::proc && settings_.select != SelectStrategy::rand;
    }
    TaskId look(WorkerId worker, int node, Level level);
    TaskId look_anywhere(WorkerId worker, Level level);
    TaskId look_at_remote_nodes(WorkerId worker);
    TaskId steal_from_core(WorkerId worker, WorkerId victim);
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
