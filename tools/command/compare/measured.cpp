// The measured cases of a comparison. Each case has its own solver, which keeps its threads and its memory
// from run to run, like a program that factorizes many times. If the solvers of all cases do not fit into
// memory, every run of every case starts with a new solver.
#include <algorithm>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "espalier/espalier.hpp"
#include "record.hpp"
#include "runtime/process_limits.hpp"
#include "tools/command/common/processes.hpp"
#include "tools/command/solve/problem.hpp"

namespace espalier::command {

namespace {

constexpr double part_of_memory = 0.8; // share of the available memory that solvers may use

std::string shortcoming(RefineReport const& refine, double tolerance) {
    if (refine.status == Status::singular)
        return fmt::format("the matrix is numerically singular; the backward error is {:.1e}",
                           refine.backward_error);
    return error_above_tolerance(refine, tolerance);
}

// The options with the most right-hand sides of all cases. Each case uses the first columns of these.
RunOptions with_most_columns(RunOptions run, std::vector<CompareCase> const& cases) {
    for (CompareCase const& one : cases)
        if (one.run.nrhs) run.nrhs = std::max(run.nrhs.value_or(1), *one.run.nrhs);
    return run;
}

void add_notes(CompareRow& row, Report const& report) {
    for (std::string const& note : report.notes)
        if (std::ranges::find(row.notes, note) == row.notes.end()) row.notes.push_back(note);
}

template <class T> class Measurement {
  public:
    Measurement(CompareRecord& record, std::vector<CompareCase> cases, AnyMatrix&& matrix)
        : record_(record), cases_(std::move(cases)), matrix_(take_as<T>(std::move(matrix), record.asked.run)),
          b_(right_hand_sides<T>(with_most_columns(record.asked.run, cases_), matrix_.rows)),
          solvers_(cases_.size()), broken_(cases_.size()) {
        record_.nrhs = b_.cols;
    }

    void analyze_all(ProgressSink& progress) {
        ProgressScope const phase(&progress, "analysis", static_cast<double>(cases_.size()));
        for (std::size_t k = 0; k < cases_.size(); ++k) {
            broken_[k] = !attempt(record_.rows[k], [&] { analyze(k); });
            if (num_processes() > 1) solvers_[k].reset(); // the other processes join one solver at a time
            progress.advance(1);
        }
        decide_what_is_kept();
    }

    void run_all(ProgressSink& progress) {
        for (int repeat = 1; repeat <= record_.asked.repeat; ++repeat) {
            ProgressScope const phase(&progress, fmt::format("run {} of {}", repeat, record_.asked.repeat),
                                      static_cast<double>(cases_.size()));
            for (std::size_t k = 0; k < cases_.size(); ++k) {
                CompareRow& row = record_.rows[k];
                if (!broken_[k]) broken_[k] = !attempt(row, [&] { row.runs.push_back(run(k)); });
                if (!record_.kept || broken_[k]) solvers_[k].reset();
                progress.advance(1);
            }
        }
    }

  private:
    void analyze(std::size_t k) {
        RunOptions const& run = cases_[k].run;
        Options library = run.library;
        if (library.supernodes == Toggle::automatic)
            library.supernodes = Toggle::on; // schedules are compared
        auto solver =
            std::make_unique<Solver<T>>(library, processes_for_solver(scalar_of<T>, library, run.processes));
        solver->analyze(matrix_);
        AnalysisReport const& analysis = solver->report().analysis;
        CompareRow& row = record_.rows[k];
        row.schedule = solver->report().schedule;
        add_notes(row, solver->report());
        row.analysis_s = analysis.total_s;
        row.flops = analysis.flops;
        row.memory_bytes = static_cast<double>(analysis.memory_bytes);
        if (analysis.predicted_factor_s > 0) row.predicted_s = analysis.predicted_factor_s;
        if (analysis.predicted_solve_s > 0) row.predicted_solve_s = analysis.predicted_solve_s;
        solvers_[k] = std::move(solver);
        // All cases use one cost model, so the other cases use the model that was just measured.
        if (cases_[k].run.library.calibration == Toggle::on)
            for (CompareCase& other : cases_)
                if (other.run.library.calibration == Toggle::on)
                    other.run.library.calibration = Toggle::automatic;
    }

    void decide_what_is_kept() {
        record_.kept_bytes = 0;
        for (CompareRow const& row : record_.rows) record_.kept_bytes += row.memory_bytes;
        record_.spare_bytes = part_of_memory * static_cast<double>(available_memory_bytes());
        std::uint64_t const limit = record_.asked.run.library.max_memory;
        if (limit > 0) record_.spare_bytes = std::min(record_.spare_bytes, static_cast<double>(limit));
        record_.kept =
            record_.asked.repeat > 1 && num_processes() == 1 && record_.kept_bytes <= record_.spare_bytes;
    }

    CompareSample run(std::size_t k) {
        if (!solvers_[k]) analyze(k);
        Solver<T>& solver = *solvers_[k];
        RunOptions const& asked = cases_[k].run;
        solver.factorize(matrix_);
        Index const nrhs = asked.nrhs.value_or(b_.cols);
        auto const b = std::span<T const>(b_.values).first(static_cast<std::size_t>(b_.rows * nrhs));
        std::vector<T> x = solver.solve(b, nrhs, asked.op);
        solver.refine(matrix_, b, x, nrhs, asked.op);
        Report const& report = solver.report();
        CompareRow& row = record_.rows[k];
        add_notes(row, report);
        row.tasks = static_cast<double>(report.factor.tasks);
        row.messages = static_cast<double>(report.factor.messages);
        row.message_bytes = static_cast<double>(report.factor.message_bytes);
        if (report.refine.status != Status::ok && row.status == Status::ok) {
            row.status = report.refine.status;
            row.message =
                shortcoming(report.refine, effective_tolerance(asked.library.tolerance, report.scalar));
        }
        bool const has_nodes = report.factor.node_bytes.size() > 1;
        return {.factor_s = report.factor.time_s,
                .steals = static_cast<double>(report.factor.steals),
                .assembly_s = report.factor.assembly_s,
                .solve_s = report.solve_s,
                .refine_s = report.refine.time_s,
                .local_share = has_nodes ? report.factor.local_share : -1,
                .backward_error = report.refine.backward_error};
    }

    CompareRecord& record_;
    std::vector<CompareCase> cases_;
    CscMatrix<T> matrix_;
    DenseMatrix<T> b_;
    std::vector<std::unique_ptr<Solver<T>>> solvers_; ///< Null if the next run makes it.
    std::vector<bool> broken_;                        ///< The case has failed and is not run.
};

} // namespace

void measure_cases(CompareRecord& record, std::vector<CompareCase> cases, AnyMatrix&& matrix,
                   ProgressSink& progress) {
    with_scalar(record.scalar, [&]<class T>(T) {
        Measurement<T> measurement(record, std::move(cases), std::move(matrix));
        measurement.analyze_all(progress);
        measurement.run_all(progress);
    });
}

} // namespace espalier::command
