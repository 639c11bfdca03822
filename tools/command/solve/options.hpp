// The command line: what was asked for, checked as far as it can be without a matrix.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "espalier/options.hpp"
#include "tools/command/common/output_file.hpp"

namespace CLI {
class App;
}

namespace espalier::command {

struct RunOptions {
    std::string matrix; ///< A file, or a generator such as lap3d:60.
    Options library;
    std::optional<int> processes;    ///< Of the machine that is analyzed for; none: this run's.
    std::optional<Scalar> precision; ///< None: double precision, real or complex as the matrix is.
    std::string rhs = "ones";        ///< "ones", "random" or a file.
    std::optional<Index> nrhs;       ///< None: 1, or what the file holds.
    std::string trace;               ///< Empty: none asked for.
    std::string json;                ///< Empty: none; "-": standard output.
    std::string output;              ///< The same.
    std::string null_space;          ///< The same.
    MatrixOp op = MatrixOp::none;    ///< Solve op(A) x = b.
    bool read_by_parts = false;      ///< Every process its part of the files.
    bool quiet = false;
    bool verbose = false;

    /// The readable report goes to standard output unless data does, or the user wants none.
    [[nodiscard]] bool prints() const {
        return !quiet && json != "-" && output != "-" && null_space != "-" && trace != "-";
    }
};

struct GenerateOptions {
    std::vector<std::string> spec; ///< "lap3d", "20", or "lap3d:20": joined by colons.
    std::string output = "-";
    bool quiet = false;
};

struct MachineOptions {
    std::string topology;   ///< As Options::topology.
    bool calibrate = false; ///< Measure the cost model thoroughly and keep it.
    Index dgemm_order = 1000;
    std::string picture; ///< Where the NUMA factor tables are drawn: .svg or .png; empty: nowhere.
    std::string json;
    bool quiet = false;
};

/// Declare on `command` who runs which task.
void add_policy_options(CLI::App& command, Options& library);
/// The same, and how column blocks are cut.
void add_schedule_options(CLI::App& command, Options& library);

/// Declare on `command` the options that decide about the analysis; they fill `run` as they are parsed.
/// `most_threads`: that --threads takes.
void add_analysis_options(CLI::App& command, RunOptions& run, int most_threads = 4096);
/// And those of what is predicted without numbers.
void add_prediction_options(CLI::App& command, RunOptions& run);
/// And those of the system and how well it is solved: operation, right-hand sides, refinement.
void add_system_options(CLI::App& command, RunOptions& run);
/// The same, and what else is made of the numbers: condition, null space, trace, solution.
void add_solve_options(CLI::App& command, RunOptions& run);

/// And what is told of the run, and where.
void add_report_options(CLI::App& command, RunOptions& run);

void add_generate_options(CLI::App& command, GenerateOptions& options);
void add_machine_options(CLI::App& command, MachineOptions& options);

/// The name of a machine is that of a file, not a description.
bool is_machine_file(std::string const& name);
/// The files that are read: no output may fall on one of them.
std::vector<NamedPath> input_files(RunOptions const& run);

/// Checks that go beyond one option's text. Error{usage}, {io_error} or {unsupported}.
void check(RunOptions const& run);
void check(MachineOptions const& options);

} // namespace espalier::command
