#include "simulation/message_network.hpp"

#include <algorithm>

namespace espalier {

MessageNetwork::MessageNetwork(FactorTasks const& tasks, MachineModel const& machine)
    : tasks_(tasks), network_(machine.network), out_free_(machine.processes, 0.0),
      in_free_(machine.processes, 0.0) {}

bool MessageNetwork::carries(TaskId task) const {
    return tasks_.tasks[task].kind == TaskKind::message;
}

double MessageNetwork::reach(TaskId task, double now) {
    FactorTask const& message = tasks_.tasks[task];
    double& free = out_free_[message.process];
    double const leaves = std::max(now, free);
    free = leaves + message.bytes / network_.bandwidth;
    return leaves + network_.latency;
}

double MessageNetwork::arrive(TaskId task, double now) {
    FactorTask const& message = tasks_.tasks[task];
    double& free = in_free_[message.peer];
    return free = std::max(now, free) + message.bytes / network_.bandwidth;
}

} // namespace espalier
