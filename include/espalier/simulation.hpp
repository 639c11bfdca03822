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

    SchedulePolicy schedule = SchedulePolicy::static_order; ///< As Options::schedule.
    PushInit push_init = PushInit::cyclicnuma;              ///< As Options::push_init.
    PushStrategy push = PushStrategy::numa_wloc;            ///< As Options::push.
    SelectStrategy select = SelectStrategy::numa_proc;      ///< As Options::select.
    bool strict = false;                                    ///< As Options::strict.
    std::uint64_t seed = 0;                                 ///< As Options::seed.
    Allocation allocation = Allocation::local;              ///< As Options::allocation.
    Splitting splitting = Splitting::one_d;                 ///< As Options::splitting.
    Index split_width = 96;                                 ///< As Options::split_width.
    Index split_rows = 384;                                 ///< As Options::split_rows.

    std::string trace;       ///< Where the simulated run is written as a Pajé trace; empty: nowhere.
    std::string matrix_name; ///< In the trace.
};

/// What `options` say of the schedule, for `processes` of `threads` each of `machine`.
ESPALIER_API Simulation simulation_of(Options const& options, std::string machine, int processes = 1,
                                      int threads = 0);

} // namespace espalier
