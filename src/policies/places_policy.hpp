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

#include "core/mix_bits.hpp"
#include "espalier/schedule_settings.hpp"
#include "policies/stealing_policy.hpp"

namespace espalier {

class PlacesPolicy : public StealingPolicy {
  public:
    /// `graph` must outlive this. Deterministic for a given seed and order of calls.
    PlacesPolicy(TaskGraph const& graph, PolicyMachine machine, ScheduleSettings const& settings)
        : StealingPolicy(graph, machine, machine.num_workers() + machine.num_nodes()), settings_(settings),
          initial_node_(graph.num_tasks(), -1),
          list_of_task_(std::make_unique<std::atomic<int>[]>(graph.num_tasks())),
          generators_(machine.num_workers()) {
        auto const nodes = static_cast<std::uint64_t>(machine.num_nodes());
        std::uint64_t const seed = hash_bits(settings.seed);
        std::uint64_t turn = 0;
        for (TaskId task = 0; task < graph.num_tasks(); ++task) {
            if (graph.num_predecessors[task] != 0) continue;
            std::uint64_t const number = settings.push_init == PushInit::cyclicnuma
                                             ? turn++
                                             : hash_bits(seed ^ static_cast<std::uint64_t>(task));
            initial_node_[task] = static_cast<int>(number % nodes);
        }
        for (std::size_t w = 0; w < generators_.size(); ++w) generators_[w].state = hash_bits(seed + 1 + w);
    }

    WorkerId push(TaskId task, WorkerId by) override {
        int const list = choose_list(task, origin(task, by));
        list_of_task_[task].store(list, std::memory_order_relaxed);
        put(list, task);
        return any_worker;
    }

    /// Searches the worker's own list, then that of its node, then the victims. The distance of a steal is 1
    /// from a core of the same node, else 1 plus the rank of the victim's node.
    TaskId pop(WorkerId worker) override {
        if (!machine_.has(worker)) return no_task;
        TaskId task = take(worker, worker);
        if (task == no_task) task = take(worker, list_of_node(machine_.node_of(worker)));
        return task != no_task ? task : select(worker);
    }

    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override {
        return machine_.has(worker) &&
               (!settings_.strict || node_of_list(list_of_task_[task].load(std::memory_order_relaxed)) ==
                                         machine_.node_of(worker));
    }

    [[nodiscard]] bool in_own_queue(WorkerId worker, TaskId task) const override {
        return list_of_task_[task].load(std::memory_order_relaxed) == worker;
    }

  private:
    enum class Level { core, node };
    static constexpr int draws = 8; // random victims before the search in order

    // Lists are numbered: those of the workers, then those of the nodes.
    [[nodiscard]] int list_of_node(int node) const { return machine_.num_workers() + node; }
    [[nodiscard]] int node_of_list(int list) const {
        return machine_.has(list) ? machine_.node_of(list) : list - machine_.num_workers();
    }

    [[nodiscard]] int choose_list(TaskId task, WorkerId by) const {
        if (initial_node_[task] >= 0) return list_of_node(initial_node_[task]);
        WorkerId const home = graph_.home_of(task);
        int const here = machine_.node_of(by);
        int const there = home == any_worker ? here : machine_.node_of(home);
        switch (settings_.push) {
        case PushStrategy::loc:
            return by;
        case PushStrategy::loc_num:
            return list_of_node(here);
        case PushStrategy::numa_w:
            return list_of_node(there);
        case PushStrategy::numa_wloc:
            return there == here ? by : list_of_node(there);
        }
        return by;
    }

    TaskId select(WorkerId worker) {
        TaskId task = no_task;
        switch (settings_.select) {
        case SelectStrategy::proc_numa:
            return sweep(worker, {Level::core, Level::node});
        case SelectStrategy::numa_proc:
            return sweep(worker, {Level::node, Level::core});
        case SelectStrategy::rand:
            task = try_random_cores(worker);
            [[fallthrough]];
        case SelectStrategy::proc:
            if (task == no_task) task = sweep(worker, {Level::core});
            return task != no_task ? task : sweep(worker, {Level::node});
        case SelectStrategy::rand_numa:
            task = try_random_nodes(worker);
            [[fallthrough]];
        case SelectStrategy::numa:
            if (task == no_task) task = sweep(worker, {Level::node});
            return task != no_task ? task : sweep(worker, {Level::core});
        }
        return no_task;
    }

    /// From the worker's own NUMA node outwards, at each node the lists of these levels.
    TaskId sweep(WorkerId worker, std::initializer_list<Level> levels) {
        auto const nodes = machine_.from(machine_.node_of(worker));
        for (auto const& from : settings_.strict ? nodes.first(1) : nodes)
            for (Level const level : levels)
                if (TaskId const task = steal_at(level, worker, from); task != no_task) return task;
        return no_task;
    }

    TaskId steal_at(Level level, WorkerId worker, PolicyMachine::Neighbour from) {
        if (level == Level::node) return steal_from_node(worker, from);
        // The workers of one node begin at different victims: each at the next place after its own.
        auto const victims = machine_.workers_of(from.node);
        for (std::size_t i = 1; i <= victims.size(); ++i) {
            WorkerId const victim = victims[(machine_.place_of(worker) + i) % victims.size()];
            if (TaskId const task = steal_from_core(worker, victim, from.rank); task != no_task) return task;
        }
        return no_task;
    }

    TaskId steal_from_core(WorkerId worker, WorkerId victim, int rank) {
        return victim == worker ? no_task : steal(worker, victim, victim, 1 + rank);
    }

    TaskId steal_from_node(WorkerId worker, PolicyMachine::Neighbour from) {
        if (from.rank == 0) return no_task; // the worker's own
        return steal(worker, list_of_node(from.node), machine_.workers_of(from.node).front(), 1 + from.rank);
    }

    /// Tries up to `draws` random cores; if strict, of the worker's node.
    TaskId try_random_cores(WorkerId worker) {
        auto const local = machine_.workers_of(machine_.node_of(worker));
        TaskId task = no_task;
        for (int i = 0; i < draws && task == no_task; ++i) {
            WorkerId const victim = settings_.strict
                                        ? local[draw(worker, local.size())]
                                        : static_cast<WorkerId>(draw(worker, machine_.num_workers()));
            task = steal_from_core(worker, victim,
                                   machine_.rank(machine_.node_of(worker), machine_.node_of(victim)));
        }
        return task;
    }

    TaskId try_random_nodes(WorkerId worker) {
        auto const nodes = machine_.from(machine_.node_of(worker));
        TaskId task = no_task;
        for (int i = 0; i < draws && task == no_task && !settings_.strict; ++i)
            task = steal_from_node(worker, nodes[draw(worker, nodes.size())]);
        return task;
    }

    /// The next number of the worker's splitmix64 sequence, below `below`.
    std::size_t draw(WorkerId worker, std::size_t below) {
        std::uint64_t& state = generators_[worker].state;
        state += golden_increment;
        return mix_bits(state) % below;
    }

    struct alignas(64) Generator { // accessed by its worker only
        std::uint64_t state = 0;
    };

    ScheduleSettings settings_;
    std::vector<int> initial_node_;                    ///< For tasks that are ready at the start; else -1.
    std::unique_ptr<std::atomic<int>[]> list_of_task_; ///< The list of each pushed task.
    std::vector<Generator> generators_;
};

} // namespace espalier
