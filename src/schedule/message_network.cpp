#include "schedule/message_network.hpp"

#include <algorithm>

namespace espalier {

MessageNetwork::MessageNetwork(FactorTasks const& tasks, MachineModel const& machine)
    : tasks_(tasks), network_(machine.network), out_free_(static_cast<std::size_t>(machine.processes), 0.0),
      in_free_(out_free_) {}

bool MessageNetwork::carries(TaskId task) const {
    return tasks_.tasks[static_cast<std::size_t>(task)].kind == TaskKind::message;
}

double MessageNetwork::arrival(TaskId task, double now) {
    FactorTask const& message = tasks_.tasks[static_cast<std::size_t>(task)];
    double& out = out_free_[static_cast<std::size_t>(message.process)];
    double& in = in_free_[static_cast<std::size_t>(message.peer)];
    double const seconds = message.bytes / network_.bandwidth;
    double const leaves = std::max(now, out);
    out = leaves + seconds;
    in = std::max(leaves + network_.latency, in) + seconds;
    return in;
}

} // namespace espalier
