// The driver of a numeric factorization: assembly by the owners of the panels, then the tasks of a schedule.
// With several processes each runs its own part of the plan, and contributions to cblks of other processes
// travel as fan-in blocks.
#pragma once

#include <optional>

#include "comm/message_run.hpp"
#include "core/interrupt.hpp"
#include "core/progress.hpp"
#include "espalier/matrix.hpp"
#include "factor/assembly.hpp"
#include "factor/delayed_pivoting.hpp"
#include "factor/factor.hpp"
#include "factor/pivots.hpp"
#include "simulation/factor_plan.hpp"
#include "trace/record.hpp"

namespace espalier {

struct FactorizeOptions {
    double pivot_threshold = 0; ///< Pivots with a smaller modulus are replaced (not by llh, llt).
    double least_diagonal = 0;  ///< For llh: no diagonal entry of the matrix is smaller; 0 if unknown.
    /// If set, columns of ldlt, ldlh and lu without a good pivot are delayed. The plan must not cut panels in
    /// two dimensions. All processes pass the same rules; only the bytes may differ.
    std::optional<DelayRules> delays{};
    ProgressSink* progress = nullptr;
    /// Checked between kernels: Error{cancelled} within a few 10 ms, unless a single kernel on a very tall
    /// column block takes longer.
    Interrupt* interrupt = nullptr;
    trace::Track* phases = nullptr; ///< Records assembly and factorization; may be null.
    /// Connects the other processes of the plan; null with one process.
    Messaging const* messaging = nullptr;
    /// The machine of the team. Panels on other NUMA nodes than those of their owners are moved if the
    /// allocation is local and workers are bound. If some remain elsewhere, their tasks follow them
    /// (page_homes.hpp). If it is null, tasks have the homes of the plan.
    Topology const* topology = nullptr;
};

struct FactorizeStats {
    double time_s = 0;
    Index pivots_replaced = 0;
    /// The number of columns left over, counted at each panel that leaves them over.
    Index pivots_delayed = 0;
    std::uint64_t delayed_bytes = 0; ///< Bytes of the panels of cblks with delayed columns.
    Index negative_pivots = 0;
    PivotRange pivots;                    ///< pivot_range() without origin.
    std::vector<WorkerId> worker_of_task; ///< The worker that ran each task of the plan.
    std::int64_t steals = 0;
    std::int64_t tasks_divided = 0;
    std::uint64_t moved_bytes = 0; ///< Bytes of panels that were moved to the NUMA nodes of their owners.
    std::vector<std::int64_t> steals_by_distance;
    double busy_s = 0; ///< Time in tasks and between two tasks, summed over the workers.
    ExchangeStatistics exchange;
};

/// Factorizes the matrix with these values (on the pattern of `assembly`) into `factor`, which was allocated.
/// The kept cblks of a Schur complement are updated but not eliminated. Collective with several processes;
/// the statistics are those of this process. An exception is the same on all processes. It leaves the
/// contents of the factor undefined, but its memory is kept, and all objects may be used again. Error{usage}
/// if columns cannot be delayed with this plan.
template <class T> FactorizeStats factorize(std::span<T const> values, AssemblyMap const& assembly,
                                            FactorPlan const& plan, Factor<T>& factor, WorkerTeam& team,
                                            FactorizeOptions const& options);
template <class T> FactorizeStats factorize(CscMatrix<T> const& matrix, AssemblyMap const& assembly,
                                            FactorPlan const& plan, Factor<T>& factor, WorkerTeam& team,
                                            FactorizeOptions const& options) {
    return factorize<T>(std::span<T const>(matrix.values), assembly, plan, factor, team, options);
}

/// Bytes of the workspaces of `workers` threads.
std::uint64_t workspace_bytes(BlockStructure const& structure, FactorForm form, std::size_t scalar_bytes,
                              int workers);

} // namespace espalier
