// The report as text: lines of a title and a value.
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "refine/refine.hpp"
#include "tools/command/common/numbers.hpp"

namespace espalier::command {

namespace {

// Lines of a title and a text; the texts are aligned.
class Table {
  public:
    template <class... Args>
    void line(std::string_view title, fmt::format_string<Args...> format, Args&&... args) {
        text_ += fmt::format("{:<16}{}\n", title, fmt::format(format, std::forward<Args>(args)...));
    }
    [[nodiscard]] std::string const& text() const { return text_; }

  private:
    std::string text_;
};

// Two digits of a bound.
std::string rounded_up(double bound) {
    std::string const nearest = fmt::format("{:.1e}", bound);
    if (!(std::stod(nearest) < bound)) return nearest;
    return fmt::format("{:.1e}", bound + 0.05 * std::pow(10, std::floor(std::log10(bound))));
}

std::string precision_words(Scalar scalar) {
    return fmt::format("{}, {} precision", scalar == Scalar::c || scalar == Scalar::z ? "complex" : "real",
                       scalar == Scalar::s || scalar == Scalar::c ? "single" : "double");
}

void add_analysis(Table& table, AnalysisReport const& analysis) {
    table.line("analysis", "{}  (ordering {}, symbolic {}, mapping {})", readable_seconds(analysis.total_s),
               readable_seconds(analysis.ordering_s), readable_seconds(analysis.symbolic_s),
               readable_seconds(analysis.mapping_s));
    table.line("  factor", "{}, {} stored", counted(analysis.nnz_factor, "entry", "entries"),
               with_separators(analysis.nnz_stored));
    table.line("  work", "{}, {} as stored", readable_flops(analysis.flops),
               readable_flops(analysis.flops_stored));
    table.line("  structure", "{}, {}, {}", counted(analysis.supernodes, "supernode"),
               counted(analysis.cblks, "column block"), counted(analysis.bloks, "block"));
    table.line("  tree", "height {}, depth {}", counted(analysis.tree_height, "column"),
               counted(analysis.tree_depth, "column block"));
    bool const alone = analysis.memory_bytes_of_process.size() == 1;
    table.line("  memory", "{} for the factorization{}, {} of it coefficients",
               readable_bytes(std::reduce(analysis.memory_bytes_of_process.begin(),
                                          analysis.memory_bytes_of_process.end())),
               alone ? ""
                     : fmt::format(" on all processes, at most {} on one",
                                   readable_bytes(static_cast<double>(analysis.memory_bytes))),
               readable_bytes(static_cast<double>(analysis.factor_bytes)));
}

// The analysis of a factorization without supernodes.
void add_simplicial_analysis(Table& table, Report const& report) {
    AnalysisReport const& analysis = report.analysis;
    bool const is_lu = analysis.diagonal_blocks > 0;
    table.line("analysis", "{}  ({}ordering {})", readable_seconds(analysis.total_s),
               is_lu ? "block triangular form, " : "", to_string(report.ordering));
    table.line("  factor", "{}", counted(analysis.nnz_factor, "entry", "entries"));
    table.line("  work", "{}", readable_flops(analysis.flops));
    if (is_lu)
        table.line("  structure", "{}, the largest of order {}; no supernodes",
                   counted(analysis.diagonal_blocks, "diagonal block"),
                   with_separators(analysis.largest_diagonal_block));
    else
        table.line(
            "  structure", "no supernodes{}",
            report.factorization == Factorization::llh ? "" : "; 1x1 and 2x2 pivots chosen by the analysis");
    table.line("  memory", "{} for the factorization",
               readable_bytes(static_cast<double>(analysis.memory_bytes)));
}

// The analysis of an incomplete factorization.
void add_incomplete_analysis(Table& table, Report const& report) {
    AnalysisReport const& analysis = report.analysis;
    IncompleteReport const& incomplete = report.incomplete;
    table.line("analysis", "{}  (ordering {}, symbolic {}, coarsening {})",
               readable_seconds(analysis.total_s), readable_seconds(analysis.ordering_s),
               readable_seconds(analysis.symbolic_s), readable_seconds(analysis.mapping_s));
    table.line("  factor", "{}, levels of fill {}, ordering {}",
               counted(incomplete.nnz_factor, "entry", "entries"), incomplete.levels,
               to_string(report.ordering));
    table.line("  rows", "{} of dense blocks of size {}", with_separators(incomplete.tasks_fine),
               incomplete.block_size);
    table.line("  tasks", "{} by coarsening {}, {}, {} in an application{}",
               with_separators(incomplete.tasks_coarse), incomplete.coarsen,
               counted(incomplete.edges_coarse, "edge"), counted(incomplete.synchronizations, "wait"),
               incomplete.runtime == "espalier" ? "" : ", run by " + incomplete.runtime);
    table.line("  memory", "{} for the factorization, {} of it coefficients",
               readable_bytes(static_cast<double>(analysis.memory_bytes)),
               readable_bytes(static_cast<double>(analysis.factor_bytes)));
    table.line("  predicted", "factorization in {}, one application in {}  ({} cost model)",
               readable_seconds(analysis.predicted_factor_s), readable_seconds(analysis.predicted_solve_s),
               analysis.cost_model);
}

// The numbers of an incomplete factorization.
void add_incomplete_factor(Table& table, Report const& report) {
    IncompleteReport const& incomplete = report.incomplete;
    table.line("factorization", "{}: assembly {}, elimination {}  ({}({}) on {}{})",
               readable_seconds(report.factor.total_s), readable_seconds(report.factor.assembly_s),
               readable_seconds(incomplete.factor_s),
               report.factorization == Factorization::llh ? "IC" : "ILU", incomplete.levels,
               report.processes == 1 ? "" : fmt::format("{} processes of ", report.processes),
               counted(incomplete.coarsen == "one" ? 1 : report.threads, "thread"));
    if (incomplete.solve_s > 0)
        table.line("  application", "{} to one vector", readable_seconds(incomplete.solve_s));
    if (incomplete.pivots_shifted > 0)
        table.line("  pivots", "{} replaced", with_separators(incomplete.pivots_shifted));
}

// What `--schedule auto` chose and expects.
void add_schedule(Table& table, ScheduleReport const& schedule) {
    if (schedule.expected_s < 0) return;
    table.line("schedule", "{}", schedule_text(schedule));
}

// "12.3 ms to 45.6 ms, 20.1 ms on average"
std::string spread(std::vector<double> const& values, std::string (*readable)(double)) {
    if (values.empty()) return "none";
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    double const mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    if (*least == *most) return readable(mean);
    return fmt::format("{} to {}, {} on average", readable(*least), readable(*most), readable(mean));
}

void add_processes(Table& table, Prediction const& prediction) {
    table.line("  process", "{:>10} {:>8} {:>12} {:>12} {:>12} {:>9} {:>9} {:>9} {:>7}", "cblks", "busy",
               "memory", "fan-in", "sent", "messages", "received", "steals", "local");
    for (std::size_t p = 0; p < prediction.process.size(); ++p) {
        ProcessPrediction const& one = prediction.process[p];
        table.line(
            fmt::format("    {}", p), "{:>10} {:>7.1f}% {:>12} {:>12} {:>12} {:>9} {:>9} {:>9} {:>6.1f}%",
            with_separators(one.cblks),
            prediction.factor_s > 0 ? 100 * one.busy_s / (prediction.factor_s * prediction.threads) : 0.0,
            readable_bytes(one.memory_bytes), readable_bytes(one.fan_in_bytes),
            readable_bytes(one.sent_bytes), with_separators(one.messages_sent),
            with_separators(one.messages_received), with_separators(one.steals), 100 * one.local_share);
    }
}

// `run` is a Prediction or a FactorReport.
void add_tasks_divided(Table& table, auto const& run) {
    if (run.tasks_divided > 0)
        table.line("  divided", "{} of {}", with_separators(run.tasks_divided), counted(run.tasks, "task"));
}

void add_prediction(Table& table, RunRecord const& record) {
    Prediction const& prediction = *record.prediction;
    table.line("prediction", "factorization in {} on {} of {}  ({} cost model)",
               readable_seconds(prediction.factor_s), counted(prediction.processes, "process", "processes"),
               counted(prediction.threads, "thread"), record.report.analysis.cost_model);
    if (record.simulation)
        table.line("  machine", "{}; simulated in {}", record.simulation->machine,
                   readable_seconds(record.simulation->simulate_s));
    table.line("  work", "{} in {}, {:.0f} % efficient", readable_seconds(prediction.work_s),
               counted(prediction.tasks, "task"), 100 * prediction.efficiency);
    add_tasks_divided(table, prediction);
    table.line("  solve", "{} for one right-hand side", readable_seconds(prediction.solve_s));
    table.line("  critical path", "{}", readable_seconds(prediction.critical_path_s));
    table.line("  idle", "per thread: {}", spread(prediction.idle_s, readable_seconds));
    if (prediction.steals > 0) table.line("  steals", "{}", steals_text(prediction.steals_by_distance));
    if (record.simulation)
        table.line("  locality",
                   "{:.0f} % of the bytes that tasks work on are on their NUMA node; the rest "
                   "and contention cost {}",
                   100 * prediction.local_share, readable_seconds(prediction.memory_s));
    if (prediction.processes == 1) return;
    table.line("  messages", "{} carrying {}", with_separators(prediction.messages),
               readable_bytes(prediction.message_bytes));
    table.line("  communication", "{}; {} of the workers' time",
               prediction.comm_threads == 0
                   ? "by workers between tasks"
                   : "by " + counted(prediction.comm_threads, "thread") + " of each process",
               readable_seconds(prediction.communication_s));
    std::vector<double> memory;
    for (ProcessPrediction const& process : prediction.process) memory.push_back(process.memory_bytes);
    table.line("  memory", "per process: {}", spread(memory, readable_bytes));
    std::vector<double> plans;
    for (ProcessPrediction const& process : prediction.process) plans.push_back(process.plan_bytes);
    table.line("  plans", "per process: {}; {} in total, divided in {}", spread(plans, readable_bytes),
               readable_bytes(std::accumulate(plans.begin(), plans.end(), 0.0)),
               readable_seconds(prediction.plans_s));
    if (record.asked.verbose || prediction.processes <= 16) add_processes(table, prediction);
}

void add_factor(Table& table, Report const& report) {
    FactorReport const& factor = report.factor;
    std::string const processes =
        report.processes == 1 ? "" : fmt::format("{} processes of ", report.processes);
    table.line("factorization", "{}: assembly {}, elimination {} at {:.2f} GF/s  ({} on {}{})",
               readable_seconds(factor.total_s), readable_seconds(factor.assembly_s),
               readable_seconds(factor.time_s), factor.gflops, to_string(report.factorization), processes,
               counted(report.factor_path == "simplicial" ? 1 : report.threads, "thread"));
    if (factor.messages > 0)
        table.line("  messages", "{} carrying {}; {} in MPI", with_separators(factor.messages),
                   readable_bytes(static_cast<double>(factor.message_bytes)),
                   readable_seconds(factor.communication_s));
    if (report.processes > 1 && factor.busy_s + factor.waiting_s > 0)
        table.line("  waiting", "{:.0f} % of the threads' time; per process: {}",
                   100 * factor.waiting_s / (factor.busy_s + factor.waiting_s),
                   spread(factor.waiting_s_of_process, readable_seconds));
    add_tasks_divided(table, factor);
    if (factor.steals > 0)
        table.line("  steals", "{} of {}", with_separators(factor.steals), counted(factor.tasks, "task"));
    if (report.analysis.predicted_factor_s > 0)
        table.line("  predicted", "{}  ({} cost model)", readable_seconds(report.analysis.predicted_factor_s),
                   report.analysis.cost_model);
    if (factor.node_bytes.size() > 1 && factor.local_share >= 0)
        table.line("  memory", "{} on {} NUMA nodes, {:.0f} % of the bytes that tasks touched were local",
                   readable_bytes(std::accumulate(factor.node_bytes.begin(), factor.node_bytes.end(), 0.0)),
                   factor.node_bytes.size(), 100 * factor.local_share);
    if (factor.pivots_replaced > 0)
        table.line("  pivots", "{} replaced", with_separators(factor.pivots_replaced));
    if (factor.pivots_delayed > 0)
        table.line("  delayed", "{}, {}", counted(factor.pivots_delayed, "column"),
                   readable_bytes(static_cast<double>(factor.delayed_bytes)));
    if (factor.scalar != report.scalar) table.line("  precision", "{}", precision_words(factor.scalar));
    if (factor.negative_pivots > 0 && factor.rcond < 0) // otherwise the inertia follows
        table.line("  inertia", "{} negative", with_separators(factor.negative_pivots));
    if (factor.condition_estimate > 0)
        table.line("  condition", "about {:.0e}{}", factor.condition_estimate,
                   factor.numerically_singular ? ", numerically singular" : "");
    else if (factor.numerically_singular)
        table.line("  condition", "numerically singular");
}

void add_knowledge(Table& table, RunRecord const& record) {
    FactorReport const& factor = record.report.factor;
    if (factor.rcond >= 0) table.line("  1/condition", "{:.1e}  (1-norm, estimated)", factor.rcond);
    if (MatrixKnowledge const* known = record.knowledge ? &*record.knowledge : nullptr) {
        if (known->inertia)
            table.line("  inertia", "{} positive, {} negative, {} zero",
                       with_separators(known->inertia->positive), with_separators(known->inertia->negative),
                       with_separators(known->inertia->zero));
        bool const real = record.report.scalar == Scalar::s || record.report.scalar == Scalar::d;
        if (known->determinant_is_zero)
            table.line("  determinant", "0");
        else if (real)
            table.line("  determinant", "{} exp({:.10g})", known->determinant_phase == 0 ? "+" : "-",
                       known->determinant_log);
        else
            table.line("  determinant", "exp({:.10g} {} {:.10g} i)", known->determinant_log,
                       known->determinant_phase < 0 ? "-" : "+", std::abs(known->determinant_phase));
    }
    if (record.null_space)
        table.line("  rank", "{}, null space of dimension {}", with_separators(record.null_space->rank),
                   with_separators(record.null_space->nullity));
}

void add_solution(Table& table, RunRecord const& record) {
    Report const& report = record.report;
    RefineReport const& refine = report.refine;
    table.line("solve", "{}  ({})", readable_seconds(report.solve_s),
               counted(report.nrhs, "right-hand side"));
    if (refine.method == RefineMethod::none)
        table.line("refinement", "{}",
                   record.asked.library.refine == RefineMethod::none ? "none"
                   : refine.converged                                ? "not needed"
                                                                     : "no step made the solution better");
    else if (refine.history.empty())
        table.line("refinement", "{}  ({}, {})", readable_seconds(refine.time_s), to_string(refine.method),
                   counted(refine.iterations, "iteration"));
    else
        table.line("refinement", "{}  ({}, {}; {:.1e} before)", readable_seconds(refine.time_s),
                   to_string(refine.method), counted(refine.iterations, "iteration"), refine.history.front());
    table.line("backward error", "{:.1e}, componentwise {:.1e}  (tolerance {:.0e})", refine.backward_error,
               refine.componentwise_error, record.tolerance);
    if (refine.forward_error >= 0)
        table.line("forward error", "{} at most, estimated", rounded_up(refine.forward_error));
}

} // namespace

double effective_tolerance(double asked, Scalar scalar) {
    if (asked > 0) return asked;
    return scalar == Scalar::s || scalar == Scalar::c ? 1e-5 : 1e-12;
}

std::string error_above_tolerance(RefineReport const& refine, double tolerance) {
    DecisiveError const error = decisive_error(refine, tolerance);
    return fmt::format("the backward error{} is {:.1e}, above the tolerance of {:.0e}",
                       error.is_scaled ? " of the scaled system" : "", error.value, tolerance);
}

std::string schedule_text(ScheduleReport const& schedule) {
    std::string const widths = schedule.narrowest_block == schedule.widest_block
                                   ? fmt::format("{}", schedule.widest_block)
                                   : fmt::format("{} to {}", schedule.narrowest_block, schedule.widest_block);
    return fmt::format("{}, split {}, column blocks of at most {} columns: {} expected, {} with the "
                       "defaults  ({} tried in {})",
                       to_string(schedule.policy), to_string(schedule.splitting), widths,
                       readable_seconds(schedule.expected_s), readable_seconds(schedule.default_s),
                       counted(schedule.tried, "schedule"), readable_seconds(schedule.choice_s));
}

std::string matrix_text(MatrixFacts const& matrix) {
    MatrixDescription const& description = matrix.description;
    Table table;
    table.line("matrix", "{}", description.name);
    table.line("  form", "{}{}{}", description.format, description.declared.empty() ? "" : ", ",
               description.declared);
    table.line("  size", "n = {}, {}{}", with_separators(matrix.rows), counted(matrix.nnz, "nonzero"),
               matrix.symmetry == Symmetry::general ? "" : " in both triangles");
    table.line("  values", "{}, {}", matrix.read_as == Scalar::z ? "complex" : "real",
               to_string(matrix.symmetry));
    if (description.duplicates_summed > 0)
        table.line("  duplicates", "{} summed", with_separators(description.duplicates_summed));
    for (std::string const& note : description.notes) table.line("  note", "{}", note);
    return table.text();
}

std::string settings_text(RunRecord const& record, std::vector<std::string> const& machine) {
    Table table;
    table.line("espalier", "{}", ESPALIER_VERSION);
    table.line("  BLAS", "{} ({} kernels)", record.blas.config, record.blas.core);
    if (std::string const advice = blas_advice(); !advice.empty()) table.line("  note", "{}", advice);
    table.line("  arithmetic", "{}", precision_words(record.report.scalar));
    std::string text = table.text();
    for (auto const& [name, value] : settings_list(record)) text += fmt::format("  {:<21}{}\n", name, value);
    for (std::string const& line : machine) text += "  " + line + "\n";
    return text;
}

std::string results_text(RunRecord const& record) {
    Report const& report = record.report;
    Table table;
    bool const is_incomplete = report.method == SolveMethod::ilu;
    if (is_incomplete) {
        add_incomplete_analysis(table, report);
    } else if (report.factor_path == "simplicial") {
        add_simplicial_analysis(table, report);
    } else {
        add_analysis(table, report.analysis);
        add_schedule(table, report.schedule);
    }
    if (record.prediction) add_prediction(table, record);
    if (record.numbers) {
        is_incomplete ? add_incomplete_factor(table, report) : add_factor(table, report);
        add_knowledge(table, record);
        add_solution(table, record);
    }
    if (!record.asked.verbose) // otherwise each note was already printed
        for (std::string const& note : report.notes) table.line("note", "{}", note);
    table.line("peak memory", "{}", readable_bytes(static_cast<double>(report.peak_memory_bytes)));
    table.line("total", "{}  (reading {})", readable_seconds(record.total_s),
               readable_seconds(record.read_s));
    table.line("status", "{}", to_string(record.status));
    return table.text();
}

} // namespace espalier::command
