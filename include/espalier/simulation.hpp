// What Solver::simulate is asked: a machine that need not be here, and how to schedule on it.
#pragma once

#include <cstdint>
#include <string>

#include "espalier/options.hpp"

namespace espalier {

/// One simulated run. Its fields mean what those of the same names in Options do.
struct Simulation {
    /// Empty: this machine. A name that ends in .json: a machine file (docs/machine-file.md), which may be
    /// the JSON of `espalier machine`; in .xml: an hwloc topology. Else a description: "numa:8 core:16".
    std::string machine;
    int processes = 1; ///< Each on a machine of its own, with a network between them.
    int threads = 0;   ///< Of each process; 0: as many as its machine has cores.

    SchedulePolicy schedule = SchedulePolicy::static_order; ///< Who runs which task.
    PushInit push_init = PushInit::cyclicnuma;              ///< Of SchedulePolicy::places.
    PushStrategy push = PushStrategy::numa_wloc;            ///< Of places.
    SelectStrategy select = SelectStrategy::numa_proc;      ///< Of places.
    bool strict = false;                                    ///< No stealing across NUMA nodes.
    std::uint64_t seed = 0;                                 ///< Of random choices.
    Allocation allocation = Allocation::local;              ///< Where coefficients live.
    Splitting splitting = Splitting::one_d;                 ///< How wide column blocks become tasks.
    Index split_width = 96;                                 ///< Of two_d.
    Index split_rows = 384;                                 ///< Of two_d.

    std::string trace;       ///< Where the simulated run is written as a Pajé trace; empty: nowhere.
    std::string matrix_name; ///< In the trace.
};

/// What `options` say of the schedule, for `processes` of `threads` each of `machine`.
ESPALIER_API Simulation simulation_of(Options const& options, std::string machine, int processes = 1,
                                      int threads = 0);

} // namespace espalier
