// The results of a factorization on each process, and their sums for the report.
#pragma once

#include <string>
#include <vector>

#include "espalier/report.hpp"
#include "factor/factorize.hpp"
#include "factor/placement.hpp"

namespace espalier {

/// The results of one process.
struct FactorResult {
    FactorizeStats stats; ///< Without worker_of_task on other processes.
    std::string machine;  ///< The name of the computer that the process runs on.
    /// The NUMA nodes on which the process has cores, by their numbers on the computer.
    std::vector<int> nodes;
    Placement placement; ///< Bytes on each of `nodes`.
};

template <class Archive> void describe(Archive& archive, Placement& p) {
    archive(p.node_bytes, p.touched_bytes, p.local_share, p.local_share_of_worker, p.smallest_share,
            p.median_share);
}
template <class Archive> void describe(Archive& archive, FactorResult& r) {
    archive(r.stats.time_s, r.stats.pivots_replaced, r.stats.pivots_delayed, r.stats.delayed_bytes,
            r.stats.negative_pivots, r.stats.steals, r.stats.tasks_divided, r.stats.moved_bytes,
            r.stats.steals_by_distance, r.stats.busy_s, r.stats.exchange, r.machine, r.nodes, r.placement);
}

/// Stores the results of all processes, by rank, in the report. Adds to time_s, and replaces all other
/// fields. Each process has `threads` workers.
void add_up(std::vector<FactorResult> const& of_process, int threads, FactorReport& report);

} // namespace espalier
