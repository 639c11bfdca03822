// What solve and analyze share: reading the matrix and telling what it is, the progress of the phases, the
// report at the end.
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

    /// Checks that the files asked for can be written and the machine is known, then reads the matrix and
    /// prints what was understood. `machine` describes one that is simulated, for --verbose.
    Run(RunOptions const& options, Purpose purpose, std::vector<std::string> machine = {});

    [[nodiscard]] Scalar scalar() const { return record_.report.scalar; }
    template <class T> CscMatrix<T> take_matrix() { return take_as<T>(std::move(matrix_), record_.asked); }
    /// The library's options, with progress and log directed here.
    [[nodiscard]] Options library_options();
    RunRecord& record() { return record_; }

    /// The run's time ends here: what follows is writing.
    void stop_clock();
    /// Prints the report as it is in record(), unless nothing is to be printed.
    void print_results() const;
    /// Writes it as JSON where a file was named for that.
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
