// The driver of a numeric factorization: assembly by the owners, then the tasks of a schedule. Among several
// processes each does its own part of the plan; contributions to cblks of others travel as fan-in blocks.
#pragma once

#include "comm/message_run.hpp"
#include "core/interrupt.hpp"
#include "core/progress.hpp"
#include "espalier/matrix.hpp"
#include "factor/assembly.hpp"
#include "factor/factor.hpp"
#include "simulation/factor_plan.hpp"
#include "trace/record.hpp"

namespace espalier {

struct FactorizeOptions {
    double pivot_threshold = 0; ///< Absolute: pivots smaller than this are replaced (not by llh, llt).
    ProgressSink* progress = nullptr;
    /// Looked at between kernels: Error{cancelled} after what takes a few 10 ms at most, unless a single
    /// kernel of a very tall column block does.
    Interrupt* interrupt = nullptr;
    trace::Track* phases = nullptr;       ///< Where assembly and factorization are recorded; may be null.
    Messaging const* messaging = nullptr; ///< To the other processes of the plan; null when there are none.
};

struct FactorizeStats {
    double time_s = 0;
    Index pivots_replaced = 0;
    Index negative_pivots = 0;
    std::vector<WorkerId> worker_of_task; ///< Who ran each task of the plan.
    std::int64_t steals = 0;
    std::vector<std::int64_t> steals_by_distance;
    double busy_s = 0; ///< Of all workers together, in tasks and between two of them.
    ExchangeStatistics exchange;
};

/// Factorize the matrix with these values (on the pattern of `assembly`) into `factor`, which was allocated.
/// The kept cblks of a Schur complement are updated by the others and left at that. Collective where there
/// are several processes; statistics are those of this one. On an exception, the same on all of them, the
/// factor's contents are undefined; its memory is kept, and all objects may be used again.
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
