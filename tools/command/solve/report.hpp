// The report of a run as text and as JSON. docs/report.md describes every field.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "espalier/espalier.hpp"
#include "espalier/report.hpp"
#include "kernels/blas.hpp"
#include "options.hpp"

namespace espalier::command {

/// Description of the matrix.
struct MatrixFacts {
    MatrixDescription description;
    Index rows = 0;
    Index cols = 0;
    Offset nnz = 0; ///< With both triangles of a symmetric matrix.
    Symmetry symmetry = Symmetry::general;
    Scalar read_as = Scalar::d; ///< Scalar type in the file: d or z.
};

/// Results of --condition.
struct MatrixKnowledge {
    std::optional<Inertia> inertia; ///< Without a value for lu and complex symmetric factorizations.
    double determinant_log = 0;     ///< log |det A|
    double determinant_phase = 0;   ///< Argument of det A in radians; 0 or pi if real.
    bool determinant_is_zero = false;
};

/// Results of --null-space.
struct NullSpaceFacts {
    Index rank = 0;
    Index nullity = 0;
    std::vector<double> singular_values; ///< The smallest ones, ascending, divided by |A|.
};

/// Facts of `simulate`.
struct SimulationFacts {
    std::string machine;   ///< Value of --machine.
    double simulate_s = 0; ///< Time of the simulation.
};

/// All data of a report.
struct RunRecord {
    RunOptions asked;
    MatrixFacts matrix;
    BlasInfo blas;
    Report report;
    double tolerance = 0; ///< The tolerance in force.
    std::optional<MatrixKnowledge> knowledge;
    std::optional<NullSpaceFacts> null_space;
    std::optional<Prediction> prediction; ///< For analyze and simulate.
    std::optional<SimulationFacts> simulation;
    double read_s = 0;
    double total_s = 0; ///< From the start of reading to the end of refinement.
    Status status = Status::ok;
    bool numbers = false; ///< The system was solved, not only analyzed.
};

/// `asked`, or if that is 0 the default tolerance of the scalar type.
double effective_tolerance(double asked, Scalar scalar);

/// Why a solution is inaccurate: its backward error, or the one of the scaled system, is above the tolerance.
std::string error_above_tolerance(RefineReport const& refine, double tolerance);

/// One JSON object, indented, with a newline at its end. Numbers that are not finite become null.
std::string json_report(RunRecord const& record);

/// The schedule that `--schedule auto` chose, and the times that it expects.
std::string schedule_text(ScheduleReport const& schedule);
/// Description of the matrix, printed as soon as it is read.
std::string matrix_text(MatrixFacts const& matrix);
/// For --verbose: the libraries, the settings known so far, and the machine.
std::string settings_text(RunRecord const& record, std::vector<std::string> const& machine);
/// The settings of the JSON by the names of the options, without those that were not given.
std::vector<std::pair<std::string, std::string>> settings_list(RunRecord const& record);
/// Analysis and, if the system was solved, factorization, solution, refinement, errors and memory.
std::string results_text(RunRecord const& record);

} // namespace espalier::command
