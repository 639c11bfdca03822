// The network in a simulation of several processes. Each process has one outgoing and one incoming link, and
// messages use a link one after the other, first come, first served. A message occupies both links for its
// bytes over the bandwidth and takes the latency in between: the LogGP model (Alexandrov, Ionescu, Schauser,
// Scheiman 1995) without the processor overhead, which the progress thread bears.
#pragma once

#include <vector>

#include "mapping/machine_model.hpp"
#include "simulation/engine.hpp"
#include "tasks/factor_tasks.hpp"

namespace espalier {

class MessageNetwork : public Transit {
  public:
    /// `tasks` must outlive this.
    MessageNetwork(FactorTasks const& tasks, MachineModel const& machine);

    [[nodiscard]] bool carries(TaskId task) const override;
    double reach(TaskId task, double now) override;
    double arrive(TaskId task, double now) override;

  private:
    FactorTasks const& tasks_;
    Network network_;
    std::vector<double> out_free_, in_free_; // by process: when the link becomes free
};

} // namespace espalier
