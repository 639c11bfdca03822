// The options of `espalier compare`, and its cases: all combinations of the varied values.
#pragma once

#include <string>
#include <vector>

#include "tools/command/solve/options.hpp"

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

} // namespace espalier::command
