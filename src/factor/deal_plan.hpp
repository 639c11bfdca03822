// Process 0 deals out structures, plans and the places of matrix entries. All functions are collective.
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

/// The part of this process in the plans of process 0, which were made for all processes of `comm`; those of
/// other processes are ignored. Errors are the same on all processes.
ProcessPart deal_plans(Communicator const& comm, ProcessPlans plans);

/// The places of the entries that this process owns.
struct AssemblyPart {
    AssemblyMap map;
    Offset values = 0; ///< Entries of this process: the values that `map` takes.
    /// On process 0, for each process the positions of its values in the matrix.
    std::vector<std::vector<Offset>> sources;
};

/// `whole` and the owners of all cblks are those of process 0; on other processes they are ignored. `plan` is
/// that of this process. Errors are the same on all processes.
AssemblyPart deal_assembly(Communicator const& comm, AssemblyMap const& whole,
                           std::span<std::int32_t const> process_of_cblk, FactorPlan const& plan);

} // namespace espalier
