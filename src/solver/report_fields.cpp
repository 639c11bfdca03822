// The report as a flat list, under the names of the command's JSON: what interfaces to other languages hand
// out.
#include "espalier/report.hpp"

namespace espalier {

namespace {

class Fields {
  public:
    void add(char const* name, bool value) { list_.push_back({name, value}); }
    void add(char const* name, std::int64_t value) { list_.push_back({name, value}); }
    void add(char const* name, int value) { list_.push_back({name, std::int64_t{value}}); }
    void add(char const* name, std::uint64_t value) {
        list_.push_back({name, static_cast<std::int64_t>(value)});
    }
    void add(char const* name, double value) { list_.push_back({name, value}); }
    void add(char const* name, char const* value) { list_.push_back({name, std::string(value)}); }
    void add(char const* name, std::vector<double> value) { list_.push_back({name, std::move(value)}); }
    void add(char const* name, std::vector<std::string> value) { list_.push_back({name, std::move(value)}); }
    std::vector<ReportField> take() { return std::move(list_); }

  private:
    std::vector<ReportField> list_;
};

void add_analysis(Fields& fields, AnalysisReport const& analysis) {
    fields.add("analysis.ordering_s", analysis.ordering_s);
    fields.add("analysis.symbolic_s", analysis.symbolic_s);
    fields.add("analysis.mapping_s", analysis.mapping_s);
    fields.add("analysis.total_s", analysis.total_s);
    fields.add("analysis.matched", analysis.matched);
    fields.add("analysis.scaled", analysis.scaled);
    fields.add("analysis.structural_rank", analysis.structural_rank);
    fields.add("analysis.compressed_vertices", analysis.compressed_vertices);
    fields.add("analysis.nnz_factor", analysis.nnz_factor);
    fields.add("analysis.nnz_stored", analysis.nnz_stored);
    fields.add("analysis.flops", analysis.flops);
    fields.add("analysis.flops_stored", analysis.flops_stored);
    fields.add("analysis.supernodes", analysis.supernodes);
    fields.add("analysis.cblks", analysis.cblks);
    fields.add("analysis.bloks", analysis.bloks);
    fields.add("analysis.tree_height", analysis.tree_height);
    fields.add("analysis.tree_depth", analysis.tree_depth);
    fields.add("analysis.factor_bytes", analysis.factor_bytes);
    fields.add("analysis.memory_bytes", analysis.memory_bytes);
    fields.add("analysis.memory_bytes_of_process", analysis.memory_bytes_of_process);
    fields.add("analysis.predicted_factor_s", analysis.predicted_factor_s);
    fields.add("analysis.cost_model", analysis.cost_model.c_str());
}

void add_factor(Fields& fields, FactorReport const& factor) {
    fields.add("factor.assembly_s", factor.assembly_s);
    fields.add("factor.time_s", factor.time_s);
    fields.add("factor.gflops", factor.gflops);
    fields.add("factor.scalar", to_string(factor.scalar));
    fields.add("factor.pivots_replaced", factor.pivots_replaced);
    fields.add("factor.negative_pivots", factor.negative_pivots);
    fields.add("factor.rcond", factor.rcond);
    fields.add("factor.numerically_singular", factor.numerically_singular);
    fields.add("factor.condition_estimate", factor.condition_estimate);
    fields.add("factor.tasks", factor.tasks);
    fields.add("factor.steals", factor.steals);
    fields.add("factor.steals_by_distance", factor.steals_by_distance);
    fields.add("factor.messages", factor.messages);
    fields.add("factor.message_bytes", factor.message_bytes);
    fields.add("factor.busy_s", factor.busy_s);
    fields.add("factor.waiting_s", factor.waiting_s);
    fields.add("factor.communication_s", factor.communication_s);
    fields.add("factor.busy_s_of_process", factor.busy_s_of_process);
    fields.add("factor.waiting_s_of_process", factor.waiting_s_of_process);
    fields.add("factor.communication_s_of_process", factor.communication_s_of_process);
    fields.add("factor.messages_of_process", factor.messages_of_process);
    fields.add("factor.message_bytes_of_process", factor.message_bytes_of_process);
    fields.add("factor.local_share", factor.local_share);
    fields.add("factor.local_share_of_process", factor.local_share_of_process);
    fields.add("factor.local_share_of_worker", factor.local_share_of_worker);
    fields.add("factor.node_bytes", factor.node_bytes);
    fields.add("factor.fell_back", factor.fell_back);
    fields.add("factor.precision_fell_back", factor.precision_fell_back);
}

void add_refine(Fields& fields, RefineReport const& refine) {
    fields.add("refine.method", to_string(refine.method));
    fields.add("refine.iterations", refine.iterations);
    fields.add("refine.time_s", refine.time_s);
    fields.add("refine.history", refine.history);
    fields.add("refine.forward_error", refine.forward_error);
    fields.add("refine.converged", refine.converged);
    fields.add("refine.status", to_string(refine.status));
    fields.add("backward_error", refine.backward_error);
    fields.add("componentwise_error", refine.componentwise_error);
}

} // namespace

std::vector<ReportField> report_fields(Report const& report) {
    Fields fields;
    fields.add("matrix.scalar", to_string(report.scalar));
    fields.add("settings.factorization", to_string(report.factorization));
    fields.add("processes", report.processes);
    fields.add("threads", report.threads);
    add_analysis(fields, report.analysis);
    add_factor(fields, report.factor);
    fields.add("solve.time_s", report.solve_s);
    fields.add("solve.nrhs", report.nrhs);
    add_refine(fields, report.refine);
    fields.add("notes", report.notes);
    fields.add("peak_memory_bytes", report.peak_memory_bytes);
    fields.add("peak_memory_of_process", report.peak_memory_of_process);
    return fields.take();
}

} // namespace espalier
