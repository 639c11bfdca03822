// The network in a simulation of several processes: each has one way out and one way in, and messages wait
// for each other there, first come, first served. A message is on both for its bytes over the bandwidth, and
// between them for the latency: the LogGP model (Alexandrov, Ionescu, Schauser, Scheiman, 1995) without the
// processor's part, which is the communication thread's.
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
    std::vector<double> out_free_, in_free_; // by process: since when
};

} // namespace espalier
