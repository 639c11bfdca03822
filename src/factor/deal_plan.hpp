// Process 0 distributes structures, plans and the positions of matrix entries. All functions are collective.
#pragma once

#include "espalier/communicator.hpp"
#include "factor/assembly.hpp"
#include "simulation/factor_plan.hpp"

namespace espalier {

/// The structure and the plan of one process.
struct ProcessPart {
    BlockStructure structure;
    FactorPlan plan;
};

/// Returns the part of this process in the plans of process 0, which cover all processes of `comm`. The
/// `plans` of other processes are ignored. Errors are the same on all processes.
ProcessPart deal_plans(Communicator const& comm, ProcessPlans plans);

/// The positions of the entries that this process owns.
struct AssemblyPart {
    AssemblyMap map;
    Offset values = 0; ///< The number of entries of this process, whose values `map` takes.
    /// On process 0, for each process the positions of its values in the matrix.
    std::vector<std::vector<Offset>> sources;
};

/// Distributes the map `whole` of process 0 by the owners of all cblks, which process 0 passes too. Both are
/// ignored on other processes. `plan` is that of this process. Errors are the same on all processes.
AssemblyPart deal_assembly(Communicator const& comm, AssemblyMap const& whole,
                           std::span<std::int32_t const> process_of_cblk, FactorPlan const& plan);

} // namespace espalier
