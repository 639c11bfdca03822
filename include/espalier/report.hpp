// What a run found out. Times in seconds, memory in bytes. The fields are those of the command's --json.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

/// Of Solver::analyze.
struct AnalysisReport {
    double ordering_s = 0; ///< Graph, compression and ordering.
    double symbolic_s = 0; ///< Structure of the factor.
    double mapping_s = 0;  ///< Distribution over the workers, schedule.
    double total_s = 0;    ///< All of it, matching and scaling too.
    bool matched = false;  ///< Rows were permuted or paired by a maximum-product matching.
    bool scaled = false;   ///< Rows and columns were scaled.
    /// Largest number of entries no two of which share a row or column; known (not -1) where a matching was.
    Index structural_rank = -1;
    Index compressed_vertices = 0;  ///< Vertices of the compressed graph that was ordered.
    Offset nnz_factor = 0;          ///< Entries of L (L + U - I for lu), without amalgamation.
    Offset nnz_stored = 0;          ///< Coefficients allocated.
    double flops = 0;               ///< Real flops of the elimination, without amalgamation.
    double flops_stored = 0;        ///< Real flops of the blocked structure as stored.
    Index supernodes = 0;           ///< After amalgamation.
    Index cblks = 0;                ///< Column blocks: supernodes, the wide ones split.
    Index bloks = 0;                ///< Dense runs of rows of all column blocks.
    Index tree_height = 0;          ///< Height of the elimination tree in columns.
    Index tree_depth = 0;           ///< Depth of the tree of cblks.
    std::uint64_t factor_bytes = 0; ///< Panels alone.
    std::uint64_t memory_bytes =
        0; ///< What factorization and solve add to the matrix: panels, assembly map, buffers, structure.
    double predicted_factor_s = 0; ///< What the schedule expects of FactorReport::time_s.
};

/// Of Solver::factorize.
struct FactorReport {
    double assembly_s = 0;     ///< Checks of the values, memory, and the entries put into the panels; with
                               ///< `auto`'s fallback, the failed attempt too.
    double time_s = 0;         ///< Numeric factorization, assembly not included.
    double gflops = 0;         ///< analysis.flops / time_s / 1e9.
    Scalar scalar = Scalar::d; ///< Of the factors: narrower than the matrix in mixed precision.
    Index pivots_replaced = 0; ///< Those below Options::pivot_threshold.
    Index negative_pivots = 0; ///< ldlt (real) and ldlh.
    double rcond = -1;         ///< With Options::condition: estimated 1 / (|A| |A^-1|), 1-norms; else -1.
    /// Some matrix within rounding of this one, entry by entry, is exactly singular, and pivots were replaced
    /// or (known after refine) the solution is as large as that makes it.
    bool numerically_singular = false;
    /// Order of the componentwise condition number, looked at only after suspicious pivots; else 0.
    double condition_estimate = 0;
    Index tasks = 0;                  ///< Of the schedule.
    Index steals = 0;                 ///< Tasks run by another worker than planned; 0 when static.
    Index messages = 0;               ///< Between processes.
    std::uint64_t message_bytes = 0;  ///< Of those messages.
    bool fell_back = false;           ///< `auto` began with llh and went on with ldlh or ldlt.
    bool precision_fell_back = false; ///< Mixed precision was asked for and did not do.
};

/// Of Solver::refine.
struct RefineReport {
    RefineMethod method = RefineMethod::none; ///< The one that was used last.
    int iterations = 0;                       ///< Steps of the method.
    double time_s = 0;                        ///< With the measuring of errors.
    std::vector<double> history; ///< Normwise backward error before refinement and after each step (worst
                                 ///< right-hand side), of the scaled system.
    double backward_error =
        0; ///< Normwise: max over right-hand sides of |b - Ax| / (|A| |x| + |b|), infinity norms.
    double componentwise_error = 0; ///< Oettli-Prager: max_i |b - Ax|_i / (|A||x| + |b|)_i.
    /// With Options::condition: bound on |x - x_exact| / |x|, infinity norms, worst right-hand side; else -1.
    double forward_error = -1;
    bool converged = false; ///< backward_error <= tolerance.
    /// ok; inaccurate: not converged, or not finite; singular: the factorization is numerically_singular.
    Status status = Status::ok;
};

/// Of all the steps so far.
struct Report {
    Factorization factorization = Factorization::automatic; ///< What was used.
    Scalar scalar = Scalar::d;                              ///< Of matrix and solution.
    int processes = 1;                                      ///< Of this run.
    int threads = 1;                                        ///< Workers of each process.
    AnalysisReport analysis;                                ///< Of the last analysis.
    FactorReport factor;                                    ///< Of the last factorization.
    double solve_s = 0;                                     ///< Of the last solve.
    Index nrhs = 0;                                         ///< Right-hand sides of the last solve.
    RefineReport refine;                                    ///< Of the last refinement.
    std::uint64_t peak_memory_bytes = 0;                    ///< Peak resident set of the process.
    std::vector<std::string> notes;                         ///< Choices and fallbacks, one sentence each.
};

/// One number or word of a report under its name in the JSON, "analysis.flops" or "threads".
struct ReportField {
    std::string name; ///< Group and field, joined by a dot.
    /// One of these types for a field, in every report.
    std::variant<bool, std::int64_t, double, std::string, std::vector<double>, std::vector<std::string>>
        value;
};
/// All of the report, in the order of the JSON.
ESPALIER_API std::vector<ReportField> report_fields(Report const& report);

} // namespace espalier
