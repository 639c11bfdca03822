// The report of a run, for a person and for a program. docs/report.md describes every field.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "espalier/espalier.hpp"
#include "espalier/matrix.hpp"
#include "espalier/report.hpp"
#include "kernels/blas.hpp"
#include "options.hpp"

namespace espalier::command {

/// What is told of the matrix, apart from its entries.
struct MatrixFacts {
    MatrixDescription description;
    Index rows = 0;
    Index cols = 0;
    Offset nnz = 0; ///< Both triangles of a symmetric matrix.
    Symmetry symmetry = Symmetry::general;
    Scalar read_as = Scalar::d; ///< In the file.
};

/// What --condition adds to the report.
struct MatrixKnowledge {
    std::optional<Inertia> inertia; ///< None for lu and for complex symmetric factorizations.
    double determinant_log = 0;     ///< log |det A|
    double determinant_phase = 0;   ///< Argument of det A in radians: 0 or pi when real.
    bool determinant_is_zero = false;
};

/// What --null-space adds.
struct NullSpaceFacts {
    Index rank = 0;
    Index nullity = 0;
    std::vector<double> singular_values; ///< The smallest ones, ascending, over |A|.
};

/// What `simulate` adds.
struct SimulationFacts {
    std::string machine;   ///< As it was named.
    double simulate_s = 0; ///< What the simulation took.
};

/// Everything a report is made from.
struct RunRecord {
    RunOptions asked;
    MatrixFacts matrix;
    BlasInfo blas;
    Report report;
    double tolerance = 0; ///< The one that was applied.
    std::optional<MatrixKnowledge> knowledge;
    std::optional<NullSpaceFacts> null_space;
    std::optional<Prediction> prediction; ///< Of analyze and simulate.
    std::optional<SimulationFacts> simulation;
    double read_s = 0;
    double total_s = 0; ///< From the start of reading to the end of refinement.
    Status status = Status::ok;
    bool numbers = false; ///< The matrix was factorized and the system solved, not only analyzed.
};

/// Tolerance on the backward error that applies in `scalar` when `asked` is 0.
double effective_tolerance(double asked, Scalar scalar);

/// One JSON object, indented, with a newline at its end. Numbers that are not finite become null.
std::string json_report(RunRecord const& record);

/// What was understood of the matrix; printed as soon as it is read.
std::string matrix_text(MatrixFacts const& matrix);
/// The libraries, the settings that the JSON has, as far as they are decided, and the machine; for --verbose.
std::string settings_text(RunRecord const& record, std::vector<std::string> const& machine);
/// The settings of the JSON, by the names of the options; what was not given is left out.
std::vector<std::pair<std::string, std::string>> settings_list(RunRecord const& record);
/// Analysis and, where there are numbers, factorization, solution, refinement, errors and memory.
std::string results_text(RunRecord const& record);

} // namespace espalier::command
