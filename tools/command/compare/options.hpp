// What `espalier compare` is asked for, and the cases that follow: every combination of the varied values.
#pragma once

#include <string>
#include <vector>

#include "tools/command/solve/options.hpp"

namespace espalier::command {

/// What --threads takes where --simulate is given.
inline constexpr int most_simulated_threads = 1 << 16;

/// One --vary: an option of the library, "nrhs", or "processes" of a simulated machine.
struct Variation {
    std::string name;
    std::vector<std::string> values;
};

struct CompareOptions {
    RunOptions run; ///< The system, and the settings that all cases share.
    std::vector<Variation> vary;
    int repeat = 3;       ///< Runs of each case.
    std::string simulate; ///< The machine to simulate, "here": this one; empty: cases run here.
    std::string csv;      ///< Empty: none; "-": standard output.
    std::string picture;  ///< .svg or .png; empty: none.

    [[nodiscard]] bool is_simulated() const { return !simulate.empty(); }
    [[nodiscard]] bool prints() const { return run.prints() && csv != "-"; }
};

/// One row of the comparison.
struct CompareCase {
    std::vector<std::string> values; ///< By variation.
    RunOptions run;                  ///< The shared settings with these values in them.
};

/// The product of all variations, the last one varying fastest. Error{usage} that names a value which the
/// option does not have.
std::vector<CompareCase> compare_cases(CompareOptions const& options);

void add_compare_options(CLI::App& command, CompareOptions& options);

/// Checks that go beyond one option's text. Error{usage}, {io_error}.
void check(CompareOptions const& options);

std::string compare_help();

} // namespace espalier::command
