// The options of `espalier compare`, its cases (all combinations of the varied values), and its result: a row
// for each case, with all its runs, and the columns of the table, the CSV and the JSON.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/progress.hpp"
#include "tools/command/solve/report.hpp"

namespace espalier::command {

/// One --vary: an option of the library, "nrhs" or "processes", and its values.
struct Variation {
    std::string name;
    std::vector<std::string> values;
};

struct CompareOptions {
    RunOptions run; ///< The system, and the settings that all cases share.
    std::vector<Variation> vary;
    int repeat = 3;       ///< Runs of each case.
    std::string simulate; ///< The machine to simulate, or "here" for this one; empty: cases are run.
    std::string csv;      ///< Empty: none; "-": standard output.
    std::string picture;  ///< .svg or .png; empty: none.

    [[nodiscard]] bool is_simulated() const { return !simulate.empty(); }
    [[nodiscard]] bool prints() const { return run.prints() && csv != "-"; }
};

/// One row of the comparison.
struct CompareCase {
    std::vector<std::string> values; ///< One value for each variation.
    RunOptions run;                  ///< The shared settings with these values in them.
};

/// All combinations; the last variation varies fastest. Error{usage} for a wrong value.
std::vector<CompareCase> compare_cases(CompareOptions const& options);

void declare_compare(OptionSet& set, CompareOptions& options);

/// Checks that concern several options. Error{usage}, {io_error}.
void check(CompareOptions const& options);

std::string compare_help();

/// Results of one run. A simulation has no times of assembly and refinement, and no error.
struct CompareSample {
    double factor_s = 0;
    double steals = 0;
    double assembly_s = 0;
    double solve_s = 0;
    double refine_s = 0;
    double local_share = -1; ///< Share of the touched bytes on the same NUMA node; -1: unknown, or one node.
    double backward_error = 0;

    bool operator==(CompareSample const&) const = default;
};

struct CompareRow {
    std::vector<std::string> values; ///< One value for each variation.
    Status status = Status::ok;      ///< Status of the first failure.
    std::string message;             ///< Message of that failure.
    std::vector<std::string> notes;  ///< The notes of the reports or of the simulation, each once.
    std::vector<CompareSample> runs; ///< The finished runs.
    ScheduleReport schedule;
    double analysis_s = 0; ///< Time of the analysis, which is not repeated.
    double flops = 0;
    double memory_bytes = 0; ///< Memory of the process that needs most.
    double tasks = 0;
    double messages = 0;
    double message_bytes = 0;
    std::optional<double> predicted_s;       ///< Prediction for a measured factorization.
    std::optional<double> predicted_solve_s; ///< Prediction for a measured solve with one right-hand side.
    std::optional<double> idle_share;        ///< Share of the time of simulated workers.

    /// "schedule=static, threads=2".
    [[nodiscard]] std::string name(std::vector<Variation> const& vary) const;
    [[nodiscard]] double median(double CompareSample::* member) const;
    [[nodiscard]] double least(double CompareSample::* member) const;
    [[nodiscard]] double most(double CompareSample::* member) const;
    /// (slowest - fastest) / median factorization.
    [[nodiscard]] double spread() const;
};

struct CompareRecord {
    CompareOptions asked;
    MatrixFacts matrix;
    Scalar scalar = Scalar::d;
    Index nrhs = 0;         ///< The most of all cases; 0: nothing was solved.
    std::string machine;    ///< The machine of the runs, or the simulated one.
    bool kept = true;       ///< Each case kept its solver from run to run.
    double kept_bytes = 0;  ///< Memory of all solvers.
    double spare_bytes = 0; ///< Memory that was available for them.
    std::vector<CompareRow> rows;

    /// The base of the ratios: the first row with a time; null if there is none.
    [[nodiscard]] CompareRow const* base() const;
    /// The first row that failed; null if there is none.
    [[nodiscard]] CompareRow const* first_failure() const;
    /// The names of the varied options on which no simulation depends: their values give equal schedules.
    [[nodiscard]] std::vector<std::string> without_difference() const;
};

enum class ColumnForm { seconds, ratio, rate, count, percent, megabytes, error };

struct CompareColumn {
    std::string key;  ///< Name in CSV and JSON. Units: seconds, bytes, shares from 0 to 1.
    std::string head; ///< Head in the table; empty: not in the table.
    ColumnForm form = ColumnForm::count;
    bool even_if_zero = true; ///< The table has the column even if all values are 0.
    std::function<std::optional<double>(CompareRecord const&, CompareRow const&)> of_runs;

    /// Nothing if the row has no runs, or no such value.
    [[nodiscard]] std::optional<double> value(CompareRecord const& record, CompareRow const& row) const {
        return row.runs.empty() ? std::nullopt : of_runs(record, row);
    }
};

std::vector<CompareColumn> const& compare_columns();

/// Factorizes, solves and refines each case once, and repeats this options.repeat times. The row of a case
/// that fails has its error; only errors of all cases are thrown, such as those of the right-hand sides.
void measure_cases(CompareRecord& record, std::vector<CompareCase> cases, AnyMatrix&& matrix,
                   ProgressSink& progress);
/// Simulates each case on the machine of --simulate; otherwise like measure_cases().
void simulate_cases(CompareRecord& record, std::vector<CompareCase> const& cases, AnyMatrix&& matrix,
                    ProgressSink& progress);
/// Calls `body`. If it throws, stores the error in the row and returns false.
bool attempt(CompareRow& row, std::function<void()> const& body);

/// The table and the notes under it.
std::string compare_text(CompareRecord const& record);
std::string compare_csv(CompareRecord const& record);
std::string compare_json(CompareRecord const& record);
/// Bars as an SVG or a PNG file.
std::string compare_picture(CompareRecord const& record, bool svg);

} // namespace espalier::command
