// Places: lists of ready tasks at two levels, one for each core and one for each NUMA node, with a push
// strategy and a strategy for the selection of victims (Virouleau, Broquedis, Gautier, Rastello 2016, section
// 3.5). A task writes data of its home. Tasks that are ready at the start go to the list of the node of their
// home, on which PushInit has placed the data; those without a home go to the nodes in turn or at random. The
// lists that a worker looks into, in this order:
//
//     sRand       own core | cores, from a random one on | own node
//     sRandNuma   own core | nodes, from a random one on
//     sProc       own core | cores of the own node | own node | remote cores
//     sNuma       own core | own node | remote nodes
//     sProcNuma   own core | cores of the own node | own node | remote nodes: the cores, then the node
//     sNumaProc   own core | own node | cores of the own node | remote nodes: the node, then the cores
//
// Remote nodes are visited from a random one on. Lists are ordered by priority. The paper leaves open which
// lists besides those of nodes sNuma visits; here these are the own core only, as in the authors' paper at
// COMPAS 2016.
//
// `strict` keeps a task with the owners of the list that it was pushed to: that core, or the cores of that
// node. These are the private queues of the authors' paper at IWOMP 2016.
#pragma once

#include <atomic>
#include <cstdint>
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
            if (WorkerId const home = graph.home_of(task); home != any_worker) {
                initial_node_[task] = machine.node_of(home);
                continue;
            }
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

    /// The distance of a steal is 1 from a core of the same node, else 1 plus the rank of the victim's node.
    TaskId pop(WorkerId worker) override {
        if (!machine_.has(worker)) return no_task;
        if (TaskId const task = take(worker, worker); task != no_task) return task;
        int const node = machine_.node_of(worker);
        if (settings_.strict) return look(worker, node, Level::node);
        TaskId task = no_task;
        switch (settings_.select) {
        case SelectStrategy::rand:
            task = look_anywhere(worker, Level::core);
            return task != no_task ? task : look(worker, node, Level::node);
        case SelectStrategy::rand_numa:
            return look_anywhere(worker, Level::node);
        case SelectStrategy::proc:
        case SelectStrategy::proc_numa:
            task = look(worker, node, Level::core);
            if (task == no_task) task = look(worker, node, Level::node);
            break;
        case SelectStrategy::numa:
            task = look(worker, node, Level::node);
            break;
        case SelectStrategy::numa_proc:
            task = look(worker, node, Level::node);
            if (task == no_task) task = look(worker, node, Level::core);
        }
        return task != no_task ? task : look_at_remote_nodes(worker);
    }

    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override {
        if (!machine_.has(worker)) return false;
        int const list = list_of_task_[task].load(std::memory_order_relaxed);
        bool const is_core = machine_.has(list);
        bool const is_here = node_of_list(list) == machine_.node_of(worker);
        if (list == worker || (!is_core && is_here)) return true;
        return !settings_.strict && (is_core ? steals_from_cores() : steals_from_nodes());
    }

    /// The owner of the list that the task is in, else the task's home if it is on the node of the list, else
    /// the nearest worker that looks into this list.
    [[nodiscard]] WorkerId worker_to_wake(TaskId task, WorkerId, WorkerId home, int,
                                          IdleWorkers const& idle) const override {
        int const list = list_of_task_[task].load(std::memory_order_relaxed);
        int const node = node_of_list(list);
        auto const may_wake = [&](WorkerId w) { return idle.first_in({w, w + 1}) == w && may_run(w, task); };
        if (machine_.has(list) && may_wake(list)) return list;
        if (machine_.has(home) && machine_.node_of(home) == node && may_wake(home)) return home;
        for (auto const& from : machine_.from(node))
            for (WorkerId const w : machine_.workers_of(from.node))
                if (may_wake(w)) return w;
        return any_worker;
    }

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

    [[nodiscard]] bool steals_from_cores() const {
        return settings_.select != SelectStrategy::numa && settings_.select != SelectStrategy::rand_numa;
    }

    [[nodiscard]] bool steals_from_nodes() const {
        return settings_.select != SelectStrategy::proc && settings_.select != SelectStrategy::rand;
    }

    /// Takes a task from the list of a node, or from the lists of its cores. Each worker of the node begins
    /// with the core after its own, so that workers begin with different cores.
    TaskId look(WorkerId worker, int node, Level level) {
        auto const cores = machine_.workers_of(node);
        int const here = machine_.node_of(worker);
        if (level == Level::node)
            return node == here
                       ? take(worker, list_of_node(node))
                       : steal(worker, list_of_node(node), cores.front(), 1 + machine_.rank(here, node));
        for (std::size_t i = 1; i <= cores.size(); ++i) {
            WorkerId const victim = cores[(machine_.place_of(worker) + i) % cores.size()];
            if (TaskId const task = steal_from_core(worker, victim); task != no_task) return task;
        }
        return no_task;
    }

    /// Searches all lists of a level, beginning with a random one.
    TaskId look_anywhere(WorkerId worker, Level level) {
        int const lists = level == Level::node ? machine_.num_nodes() : machine_.num_workers();
        int const first = static_cast<int>(draw(worker, lists));
        for (int i = 0; i < lists; ++i) {
            int const list = (first + i) % lists;
            TaskId const task =
                level == Level::node ? look(worker, list, level) : steal_from_core(worker, list);
            if (task != no_task) return task;
        }
        return no_task;
    }

    TaskId look_at_remote_nodes(WorkerId worker) {
        int const others = machine_.num_nodes() - 1;
        if (others == 0) return no_task;
        bool const nodes_first = settings_.select == SelectStrategy::numa_proc;
        int const first = static_cast<int>(draw(worker, others));
        for (int i = 0; i < others; ++i) {
            int const node = (machine_.node_of(worker) + 1 + (first + i) % others) % machine_.num_nodes();
            for (Level const level :
                 {nodes_first ? Level::node : Level::core, nodes_first ? Level::core : Level::node}) {
                if (level == Level::core ? !steals_from_cores() : !steals_from_nodes()) continue;
                if (TaskId const task = look(worker, node, level); task != no_task) return task;
            }
        }
        return no_task;
    }

    TaskId steal_from_core(WorkerId worker, WorkerId victim) {
        if (victim == worker) return no_task;
        return steal(worker, victim, victim,
                     1 + machine_.rank(machine_.node_of(worker), machine_.node_of(victim)));
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
