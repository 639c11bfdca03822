// The table of the fields of a report, in the order of the JSON. The JSON, the list for other languages, and
// the serialization for other processes are derived from it.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "core/pack.hpp"
#include "espalier/report.hpp"

namespace espalier {

/// R is Wanted, const or not: an archive that reads writes the members.
template <class R, class Wanted>
concept is_report = std::is_same_v<std::remove_const_t<R>, Wanted>;

/// Marks numbers that are negative if unknown. The JSON of the command has null for them.
struct UnknownIfNegative {};
inline constexpr UnknownIfNegative unknown_if_negative;

/// Calls visit(name, member) or visit(name, member, unknown_if_negative) for each field.
template <class R, class Visit>
    requires is_report<R, ScheduleReport>
void visit_fields(R& r, Visit&& visit) {
    visit("schedule_chosen", r.policy);
    visit("split_chosen", r.splitting);
    visit("narrowest_block", r.narrowest_block);
    visit("widest_block", r.widest_block);
    visit("split_rows_chosen", r.split_rows);
    visit("subtrees_per_worker_chosen", r.subtrees_per_worker);
    visit("schedule_expected_s", r.expected_s, unknown_if_negative);
    visit("schedule_default_s", r.default_s, unknown_if_negative);
    visit("schedules_tried", r.tried);
    visit("schedule_choice_s", r.choice_s);
}

template <class R, class Visit>
    requires is_report<R, AnalysisReport>
void visit_fields(R& r, Visit&& visit) {
    visit("ordering_s", r.ordering_s);
    visit("symbolic_s", r.symbolic_s);
    visit("mapping_s", r.mapping_s);
    visit("total_s", r.total_s);
    visit("matched", r.matched);
    visit("scaled", r.scaled);
    visit("structural_rank", r.structural_rank, unknown_if_negative);
    visit("compressed_vertices", r.compressed_vertices);
    visit("nnz_factor", r.nnz_factor);
    visit("nnz_stored", r.nnz_stored);
    visit("flops", r.flops);
    visit("flops_stored", r.flops_stored);
    visit("supernodes", r.supernodes);
    visit("cblks", r.cblks);
    visit("bloks", r.bloks);
    visit("tree_height", r.tree_height);
    visit("tree_depth", r.tree_depth);
    visit("factor_bytes", r.factor_bytes);
    visit("memory_bytes", r.memory_bytes);
    visit("memory_bytes_of_process", r.memory_bytes_of_process);
    visit("predicted_peak_bytes", r.predicted_peak_bytes);
    visit("predicted_factor_s", r.predicted_factor_s);
    visit("predicted_solve_s", r.predicted_solve_s);
    visit("diagonal_blocks", r.diagonal_blocks);
    visit("largest_diagonal_block", r.largest_diagonal_block);
    visit("cost_model", r.cost_model);
}

template <class R, class Visit>
    requires is_report<R, FactorReport>
void visit_fields(R& r, Visit&& visit) {
    visit("assembly_s", r.assembly_s);
    visit("time_s", r.time_s);
    visit("total_s", r.total_s);
    visit("gflops", r.gflops);
    visit("scalar", r.scalar);
    visit("pivots_replaced", r.pivots_replaced);
    visit("pivots_delayed", r.pivots_delayed);
    visit("delayed_bytes", r.delayed_bytes);
    visit("negative_pivots", r.negative_pivots);
    visit("rcond", r.rcond, unknown_if_negative);
    visit("schur_error", r.schur_error, unknown_if_negative);
    visit("numerically_singular", r.numerically_singular);
    visit("condition_estimate", r.condition_estimate);
    visit("tasks", r.tasks);
    visit("tasks_divided", r.tasks_divided);
    visit("steals", r.steals);
    visit("steals_by_distance", r.steals_by_distance);
    visit("messages", r.messages);
    visit("message_bytes", r.message_bytes);
    visit("busy_s", r.busy_s);
    visit("waiting_s", r.waiting_s);
    visit("communication_s", r.communication_s);
    visit("busy_s_of_process", r.busy_s_of_process);
    visit("waiting_s_of_process", r.waiting_s_of_process);
    visit("communication_s_of_process", r.communication_s_of_process);
    visit("messages_of_process", r.messages_of_process);
    visit("message_bytes_of_process", r.message_bytes_of_process);
    visit("local_share", r.local_share, unknown_if_negative);
    visit("local_share_of_process", r.local_share_of_process, unknown_if_negative);
    visit("local_share_of_worker", r.local_share_of_worker, unknown_if_negative);
    visit("node_bytes", r.node_bytes);
    visit("moved_bytes", r.moved_bytes);
    visit("pivots_reused", r.pivots_reused);
    visit("updates", r.updates);
    visit("update_s", r.update_s);
    visit("fell_back", r.fell_back);
    visit("precision_fell_back", r.precision_fell_back);
}

template <class R, class Visit>
    requires is_report<R, IncompleteReport>
void visit_fields(R& r, Visit&& visit) {
    visit("levels", r.levels);
    visit("block_size", r.block_size);
    visit("nnz_factor", r.nnz_factor);
    visit("symbolic_s", r.symbolic_s);
    visit("factor_s", r.factor_s);
    visit("solve_s", r.solve_s);
    visit("coarsen", r.coarsen);
    visit("coarsen_s", r.coarsen_s);
    visit("tasks_fine", r.tasks_fine);
    visit("tasks_coarse", r.tasks_coarse);
    visit("edges_coarse", r.edges_coarse);
    visit("runtime", r.runtime);
    visit("synchronizations", r.synchronizations);
    visit("node_bytes", r.node_bytes);
    visit("affinity_bytes", r.affinity_bytes);
    visit("moved_bytes", r.moved_bytes);
    visit("transposed_bytes", r.transposed_bytes);
    visit("pivots_shifted", r.pivots_shifted);
    visit("shift", r.shift);
    visit("restarts", r.restarts);
    visit("iterations", r.iterations);
}

// Omits the errors of the solution, which are fields of the whole report.
template <class R, class Visit>
    requires is_report<R, RefineReport>
void visit_fields(R& r, Visit&& visit) {
    visit("method", r.method);
    visit("iterations", r.iterations);
    visit("time_s", r.time_s);
    visit("history", r.history);
    visit("forward_error", r.forward_error, unknown_if_negative);
    visit("converged", r.converged);
    visit("status", r.status);
}

template <class R, class Visit>
    requires is_report<R, ProcessPrediction>
void visit_fields(R& r, Visit&& visit) {
    visit("cblks", r.cblks);
    visit("busy_s", r.busy_s);
    visit("memory_bytes", r.memory_bytes);
    visit("plan_bytes", r.plan_bytes);
    visit("fan_in_bytes", r.fan_in_bytes);
    visit("sent_bytes", r.sent_bytes);
    visit("received_bytes", r.received_bytes);
    visit("messages_sent", r.messages_sent);
    visit("messages_received", r.messages_received);
    visit("steals", r.steals);
    visit("local_share", r.local_share);
}

template <class R, class Visit>
    requires is_report<R, Prediction>
void visit_fields(R& r, Visit&& visit) {
    visit("processes", r.processes);
    visit("threads", r.threads);
    visit("comm_threads", r.comm_threads);
    visit("factor_s", r.factor_s);
    visit("solve_s", r.solve_s);
    visit("plans_s", r.plans_s);
    visit("critical_path_s", r.critical_path_s);
    visit("work_s", r.work_s);
    visit("memory_s", r.memory_s);
    visit("communication_s", r.communication_s);
    visit("efficiency", r.efficiency);
    visit("tasks", r.tasks);
    visit("tasks_divided", r.tasks_divided);
    visit("steals", r.steals);
    visit("steals_by_distance", r.steals_by_distance);
    visit("local_share", r.local_share);
    visit("messages", r.messages);
    visit("message_bytes", r.message_bytes);
    visit("idle_s", r.idle_s);
    visit("process", r.process);
    visit("notes", r.notes);
}

/// Calls visit(group, name, member...) for each field of the whole report; `group` is empty for fields of the
/// root.
template <class R, class Visit>
    requires is_report<R, Report>
void visit_fields(R& r, Visit&& visit) {
    auto const in = [&visit](char const* group) {
        return [&visit, group](char const* name, auto& member, auto... mark) {
            visit(group, name, member, mark...);
        };
    };
    visit("matrix", "scalar", r.scalar);
    visit("settings", "method", r.method);
    visit("settings", "factorization", r.factorization);
    visit("settings", "ordering", r.ordering);
    visit("settings", "factor_path", r.factor_path);
    visit_fields(r.schedule, in("settings"));
    visit("", "processes", r.processes);
    visit("", "threads", r.threads);
    visit_fields(r.analysis, in("analysis"));
    visit_fields(r.factor, in("factor"));
    visit("solve", "time_s", r.solve_s);
    visit("solve", "nrhs", r.nrhs);
    visit_fields(r.refine, in("refine"));
    visit_fields(r.incomplete, in("incomplete"));
    visit("", "backward_error", r.refine.backward_error);
    visit("", "componentwise_error", r.refine.componentwise_error);
    visit("", "notes", r.notes);
    visit("", "peak_memory_bytes", r.peak_memory_bytes);
    visit("", "peak_memory_of_process", r.peak_memory_of_process);
}

/// The fields as one line of JSON. Those named "a.b" become members of an object "a" and must be consecutive.
/// A number that is not finite becomes null.
std::string to_json(std::vector<ReportField> const& fields);

/// For core/pack.hpp.
template <class Archive> void describe(Archive& archive, Report& report) {
    visit_fields(report, [&archive](char const*, char const*, auto& member, auto...) { archive(member); });
    archive(report.comm_threads);
}

} // namespace espalier
