// The results of a factorization on each process, and their sum in the report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/report.hpp"
#include "factor/factorize.hpp"
#include "factor/placement.hpp"
#include "runtime/topology.hpp"

namespace espalier {

/// The results of one process.
struct FactorResult {
    double time_s = 0;
    std::int64_t pivots_replaced = 0;
    std::int64_t negative_pivots = 0;
    std::int64_t steals = 0;
    std::vector<std::int64_t> steals_by_distance;
    std::int64_t messages = 0; ///< The number of messages sent.
    std::int64_t message_bytes = 0;
    double busy_s = 0;
    double communication_s = 0;
    std::string machine; ///< The name of the computer that the process runs on.
    std::vector<int>
        nodes;           ///< The NUMA nodes on which the process has cores, by their numbers on the computer.
    Placement placement; ///< Bytes on each of `nodes`.

    FactorResult() = default;
    FactorResult(FactorizeStats const& stats, Placement where, Topology const& topology);
};

template <class Archive> void describe(Archive& archive, Placement& p) {
    archive(p.node_bytes, p.touched_bytes, p.local_share, p.local_share_of_worker, p.smallest_share,
            p.median_share);
}
template <class Archive> void describe(Archive& archive, FactorResult& r) {
    archive(r.time_s, r.pivots_replaced, r.negative_pivots, r.steals, r.steals_by_distance, r.messages,
            r.message_bytes, r.busy_s, r.communication_s, r.machine, r.nodes, r.placement);
}

/// Stores the results of all processes, by rank, in the report. Adds to time_s, and replaces all other
/// fields. Each process has `threads` workers.
void add_up(std::vector<FactorResult> const& of_process, int threads, FactorReport& report);

} // namespace espalier
