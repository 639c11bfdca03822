// A run of solve, analyze or simulate: reads and describes the matrix, shows the progress of the phases, and
// prints and writes the report.
#pragma once

#include <string>
#include <vector>

#include "core/timer.hpp"
#include "problem.hpp"
#include "report.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/common/progress_bar.hpp"

namespace espalier::command {

struct Run {
    enum class Purpose { analysis, solution };

    /// Checks the output files and the machine, then reads the matrix and prints its description. `machine`
    /// describes a simulated machine for --verbose.
    Run(RunOptions const& options, Purpose purpose, std::vector<std::string> machine = {});

    [[nodiscard]] Scalar scalar() const { return record.report.scalar; }
    template <class T> CscMatrix<T> take_matrix() { return take_as<T>(std::move(matrix_), record.asked); }
    /// The options of the library, with progress and log directed to this run.
    [[nodiscard]] Options library_options();
    /// Stores a prediction, with the parts of the report that it determines.
    void take(Prediction prediction);
    /// Ends the time of the run. Call it before the output is written.
    void stop_clock();
    /// Prints the report of the record, unless printing is off.
    void print_results() const;
    /// Writes the JSON report if --json was given.
    void write_json() const;

    RunRecord record;
    OutputFile json_file, solution_file, null_space_file, trace_file;

  private:
    Timer clock_;
    ProgressBar progress_;
    AnyMatrix matrix_;
};

} // namespace espalier::command
