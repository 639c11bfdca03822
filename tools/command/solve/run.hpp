// A run of solve, analyze or simulate: reads and describes the matrix, shows the progress of the phases, and
// prints and writes the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/timer.hpp"
#include "problem.hpp"
#include "report.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/common/progress_bar.hpp"

namespace espalier::command {

class Run {
  public:
    enum class Purpose { analysis, solution };

    /// Checks the output files and the machine, then reads the matrix and prints its description. `machine`
    /// describes a simulated machine for --verbose.
    Run(RunOptions const& options, Purpose purpose, std::vector<std::string> machine = {});

    [[nodiscard]] Scalar scalar() const { return record_.report.scalar; }
    template <class T> CscMatrix<T> take_matrix() { return take_as<T>(std::move(matrix_), record_.asked); }
    /// The options of the library, with progress and log directed to this run.
    [[nodiscard]] Options library_options();
    RunRecord& record() { return record_; }

    /// Ends the time of the run. Call it before the output is written.
    void stop_clock();
    /// Prints the report of record(), unless printing is off.
    void print_results() const;
    /// Writes the JSON report if --json was given.
    void write_json() const;
    [[nodiscard]] std::optional<OutputFile> const& solution_file() const { return solution_file_; }
    [[nodiscard]] std::optional<OutputFile> const& null_space_file() const { return null_space_file_; }
    [[nodiscard]] std::optional<OutputFile> const& trace_file() const { return trace_file_; }

  private:
    RunRecord record_;
    Timer clock_;
    std::optional<OutputFile> json_file_;
    std::optional<OutputFile> solution_file_;
    std::optional<OutputFile> null_space_file_;
    std::optional<OutputFile> trace_file_;
    ProgressBar progress_;
    AnyMatrix matrix_;
};

} // namespace espalier::command
