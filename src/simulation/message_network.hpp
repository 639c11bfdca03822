// The network in a simulation of several processes. Each process has one outgoing and one incoming link, and
// messages use a link one after the other, first come, first served. A message occupies both links for its
// bytes over the bandwidth and takes the latency in between: the LogGP model (Alexandrov, Ionescu, Schauser,
// Scheiman 1995) without the processor overhead, which the progress thread bears.
#pragma once

#include <algorithm>
#include <vector>

#include "mapping/machine_model.hpp"
#include "simulation/engine.hpp"
#include "tasks/factor_tasks.hpp"

namespace espalier {

class MessageNetwork : public Transit {
  public:
    /// `tasks` must outlive this.
    MessageNetwork(FactorTasks const& tasks, MachineModel const& machine)
        : tasks_(tasks), network_(machine.network), out_free_(machine.processes, 0.0),
          in_free_(machine.processes, 0.0) {}

    [[nodiscard]] bool carries(TaskId task) const override {
        return tasks_.tasks[task].kind == TaskKind::message;
    }

    double reach(TaskId task, double now) override {
        FactorTask const& message = tasks_.tasks[task];
        double& free = out_free_[message.process];
        double const leaves = std::max(now, free);
        free = leaves + message.bytes / network_.bandwidth;
        return leaves + network_.latency;
    }

    double arrive(TaskId task, double now) override {
        FactorTask const& message = tasks_.tasks[task];
        double& free = in_free_[message.peer];
        return free = std::max(now, free) + message.bytes / network_.bandwidth;
    }

  private:
    FactorTasks const& tasks_;
    Network network_;
    std::vector<double> out_free_, in_free_; // by process: when the link becomes free
};

} // namespace espalier
