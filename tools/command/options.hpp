// The command line of solve and analyze: what was asked for, checked as far as it can be without a matrix.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "espalier/options.hpp"

namespace espalier::command {

struct RunOptions {
    std::string matrix; ///< A file, or a generator such as lap3d:60.
    Options library;
    std::optional<Scalar> precision; ///< None: double precision, real or complex as the matrix is.
    int comm_threads = -1;           ///< -1: not given.
    std::string rhs = "ones";        ///< "ones", "random" or a file.
    std::optional<Index> nrhs;       ///< None: 1, or what the file holds.
    std::string trace;               ///< Empty: none asked for.
    std::string json;                ///< Empty: none; "-": standard output.
    std::string output;              ///< The same.
    bool quiet = false;
    bool verbose = false;

    /// The readable report goes to standard output unless data does, or the user wants none.
    [[nodiscard]] bool prints() const { return !quiet && json != "-" && output != "-"; }
};

/// Declare an option with one value, which may not be empty; `take` gets its text, and throws Error{usage}
/// when it is wrong. `placeholder` stands for the value in --help.
void add_value(CLI::App& command, std::string const& name, std::string const& placeholder,
               std::string const& description, std::function<void(std::string const&)> const& take);

/// Declare on `command` the options that decide about the analysis; they fill `run` as they are parsed.
void add_analysis_options(CLI::App& command, RunOptions& run);
/// And those that need numbers: factorization, right-hand sides, refinement, solution.
void add_solve_options(CLI::App& command, RunOptions& run);

/// And what is told of the run, and where.
void add_report_options(CLI::App& command, RunOptions& run);

/// Checks that go beyond one option's text. Error{usage}, {io_error} or {unsupported}.
void check(RunOptions const& run);

} // namespace espalier::command
