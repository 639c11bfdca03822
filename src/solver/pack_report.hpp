// What a report consists of, for core/pack.hpp.
#pragma once

#include "core/pack.hpp"
#include "espalier/report.hpp"

namespace espalier {

template <class Archive> void describe(Archive& archive, AnalysisReport& r) {
    archive(r.ordering_s, r.symbolic_s, r.mapping_s, r.total_s, r.matched, r.scaled, r.structural_rank,
            r.compressed_vertices, r.nnz_factor, r.nnz_stored, r.flops, r.flops_stored, r.supernodes, r.cblks,
            r.bloks, r.tree_height, r.tree_depth, r.factor_bytes, r.memory_bytes, r.memory_bytes_of_process,
            r.predicted_factor_s, r.cost_model);
}
template <class Archive> void describe(Archive& archive, FactorReport& r) {
    archive(r.assembly_s, r.time_s, r.gflops, r.scalar, r.pivots_replaced, r.negative_pivots, r.rcond,
            r.numerically_singular, r.condition_estimate, r.tasks, r.steals, r.steals_by_distance, r.messages,
            r.message_bytes, r.busy_s, r.waiting_s, r.communication_s, r.busy_s_of_process,
            r.waiting_s_of_process, r.communication_s_of_process, r.messages_of_process,
            r.message_bytes_of_process, r.local_share, r.local_share_of_process, r.local_share_of_worker,
            r.node_bytes, r.fell_back, r.precision_fell_back);
}
template <class Archive> void describe(Archive& archive, RefineReport& r) {
    archive(r.method, r.iterations, r.time_s, r.history, r.backward_error, r.componentwise_error,
            r.forward_error, r.converged, r.status);
}
template <class Archive> void describe(Archive& archive, Report& r) {
    archive(r.factorization, r.scalar, r.processes, r.threads, r.comm_threads, r.analysis, r.factor,
            r.solve_s, r.nrhs, r.refine, r.peak_memory_bytes, r.peak_memory_of_process, r.notes);
}

} // namespace espalier
