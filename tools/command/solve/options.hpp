// The options of a run: the matrix, the settings of the library, and what is printed and written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "espalier/options.hpp"
#include "tools/command/common/option_set.hpp"
#include "tools/command/common/output_file.hpp"

namespace espalier::command {

/// The most processes, and the most workers of all processes, of a simulated machine.
inline constexpr int most_processes = 1 << 20;
/// The most threads of each process of a simulated machine.
inline constexpr int most_simulated_threads = 1 << 16;

struct RunOptions {
    std::string matrix; ///< A file, or a generator such as lap3d:60.
    Options library;
    /// Processes of the predicted machine; without a value those of this run.
    std::optional<int> processes;
    std::optional<Scalar> precision; ///< Without a value: double, real or complex as the matrix is.
    std::string rhs = "ones";        ///< "ones", "random" or a file.
    std::optional<Index> nrhs;       ///< Without a value: 1, or the columns of the file.
    std::string trace;               ///< Output files. Empty: none; "-": standard output.
    std::string json;
    std::string output;
    std::string null_space;
    MatrixOp op = MatrixOp::none; ///< Solve op(A) x = b.
    bool read_by_parts = false;   ///< Each process reads its part of the files.
    bool quiet = false;
    bool verbose = false;

    /// The readable report is printed unless an output goes to standard output, or --quiet is given.
    [[nodiscard]] bool prints() const {
        return !quiet && json != "-" && output != "-" && null_space != "-" && trace != "-";
    }
};

/// Declare options that several subcommands share.
void add_matrix(OptionSet& set, RunOptions& run);
void add_right_hand_sides(OptionSet& set, RunOptions& run);
void add_input(OptionSet& set, RunOptions& run);
void add_json(OptionSet& set, std::string& json, std::string const& what = "report");
void add_quiet(OptionSet& set, bool& quiet);
void add_verbose(OptionSet& set, bool& verbose);
/// A trace of `what`.
void add_trace(OptionSet& set, std::string& trace, std::string const& what);
void add_picture(OptionSet& set, std::string& picture, std::string const& what);
void add_processes(OptionSet& set, std::optional<int>& processes, std::string const& help);
/// The row of --threads for a simulated machine.
OptionRow simulated_threads();

/// Whether the right-hand sides of this name are generated rather than read.
bool is_generated_rhs(std::string const& rhs);
/// The name of a machine if it is a file; empty for a description.
std::string machine_file(std::string const& name);
/// The files that are read: no output may overwrite them.
std::vector<NamedPath> input_files(RunOptions const& run);

/// Checks that concern several options. Error{usage}, {io_error}.
void check(RunOptions const& run);
/// Error{usage} unless the name is empty or ends in .svg or .png.
void check_picture(std::string const& picture);

} // namespace espalier::command
