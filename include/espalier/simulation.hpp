// The input of Solver::simulate: a machine, which may be a different one, and the settings of the schedule.
#pragma once

#include <string>

#include "espalier/options.hpp"

namespace espalier {

/// One simulated run.
struct Simulation : ScheduleSettings {
    /// This machine if empty; a machine file (docs/machine-file.md), which may be the output of
    /// `espalier machine --json`, if the name ends in .json; an hwloc topology if it ends in .xml; otherwise
    /// a synthetic description such as "numa:8 core:16".
    std::string machine;
    int processes = 1; ///< Each runs on a machine of its own; a network connects them.
    int threads = 0;   ///< Threads of each process; 0: one for each core of the machine.

    std::string trace;       ///< File for a Pajé trace of the simulated run; none if empty.
    std::string matrix_name; ///< Name of the matrix in the trace.
};

/// A simulation with the schedule settings of `options`.
ESPALIER_API Simulation simulation_of(Options const& options, std::string machine, int processes = 1,
                                      int threads = 0);

} // namespace espalier
