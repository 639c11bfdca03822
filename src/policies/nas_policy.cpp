#include "policies/nas_policy.hpp"

namespace espalier {

NasPolicy::NasPolicy(TaskGraph const& graph, PolicyMachine machine, bool strict)
    : StealingPolicy(graph, machine, machine.num_nodes()), strict_(strict),
      node_of_task_(std::make_unique<std::atomic<int>[]>(graph.num_tasks())) {}

WorkerId NasPolicy::push(TaskId task, WorkerId) {
    WorkerId const home = graph_.home_of(task);
    int const node = home != any_worker ? machine_.node_of(home)
                                        : static_cast<int>(turn_.fetch_add(1, std::memory_order_relaxed) %
                                                           static_cast<unsigned>(machine_.num_nodes()));
    node_of_task_[task].store(node, std::memory_order_relaxed);
    put(node, task);
    return any_worker;
}

TaskId NasPolicy::pop(WorkerId worker) {
    if (!machine_.has(worker)) return no_task;
    int const here = machine_.node_of(worker);
    if (TaskId const task = take(worker, here); task != no_task || strict_) return task;
    for (auto const& neighbour : machine_.from(here).subspan(1))
        if (TaskId const task = steal(worker, neighbour.node, machine_.workers_of(neighbour.node).front(),
                                      1 + neighbour.rank);
            task != no_task)
            return task;
    return no_task;
}

bool NasPolicy::may_run(WorkerId worker, TaskId task) const {
    return machine_.has(worker) &&
           (!strict_ || node_of_task_[task].load(std::memory_order_relaxed) == machine_.node_of(worker));
}

bool NasPolicy::in_own_queue(WorkerId worker, TaskId task) const {
    int const node = node_of_task_[task].load(std::memory_order_relaxed);
    return machine_.has(worker) && machine_.node_of(worker) == node && machine_.workers_of(node).size() == 1;
}

} // namespace espalier
