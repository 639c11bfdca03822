// What the processes found out about a factorization, each about its own part, and the report of them all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/report.hpp"
#include "factor/factorize.hpp"
#include "factor/placement.hpp"
#include "runtime/topology.hpp"

namespace espalier {

/// Of one process.
struct FactorResult {
    double time_s = 0;
    std::int64_t pivots_replaced = 0;
    std::int64_t negative_pivots = 0;
    std::int64_t steals = 0;
    std::vector<std::int64_t> steals_by_distance;
    std::int64_t messages = 0; ///< Sent.
    std::int64_t message_bytes = 0;
    double busy_s = 0;
    double communication_s = 0;
    std::string machine;    ///< The name of the one it runs on.
    std::vector<int> nodes; ///< The numbers there of the NUMA nodes of which it has cores.
    Placement placement;    ///< node_bytes by `nodes`.

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

/// Puts the results of all processes, by rank and with so many workers each, into what of the report they
/// tell of. Its time_s grows; all else is replaced.
void add_up(std::vector<FactorResult> const& of_process, int threads, FactorReport& report);

} // namespace espalier
