// What a run found out. Times in seconds, memory in bytes. The fields are those of the command's --json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

struct AnalysisReport {
    double ordering_s = 0;
    double symbolic_s = 0;
    double mapping_s = 0;
    double total_s = 0;
    Index compressed_vertices = 0; ///< Vertices of the compressed graph that was ordered.
    Offset nnz_factor = 0;         ///< Entries of L (L + U - I for lu), without amalgamation.
    Offset nnz_stored = 0;         ///< Coefficients allocated.
    double flops = 0;              ///< Real flops of the elimination, without amalgamation.
    double flops_stored = 0;       ///< Real flops of the blocked structure as stored.
    Index supernodes = 0;
    Index cblks = 0;
    Index bloks = 0;
    Index tree_height = 0;          ///< Height of the elimination tree in columns.
    Index tree_depth = 0;           ///< Depth of the tree of cblks.
    std::uint64_t factor_bytes = 0; ///< Panels alone.
    std::uint64_t memory_bytes =
        0; ///< What factorization and solve add to the matrix: panels, assembly map, buffers, structure.
    double predicted_factor_s = 0;
};

struct FactorReport {
    double assembly_s = 0; ///< Checks of the values, memory, and the entries put into the panels; with
                           ///< `auto`'s fallback, the failed attempt too.
    double time_s = 0;     ///< Numeric factorization, assembly not included.
    double gflops = 0;     ///< analysis.flops / time_s / 1e9.
    Index pivots_replaced = 0;
    Index negative_pivots = 0; ///< ldlt (real) and ldlh.
    /// Some matrix within rounding of this one, entry by entry, is exactly singular, and pivots were replaced
    /// or (known after refine) the solution is as large as that makes it.
    bool numerically_singular = false;
    /// Order of the componentwise condition number, looked at only after suspicious pivots; else 0.
    double condition_estimate = 0;
    Index tasks = 0;
    Index steals = 0;
    Index messages = 0;
    std::uint64_t message_bytes = 0;
    bool fell_back = false; ///< `auto` began with llh and went on with ldlh or ldlt.
};

struct RefineReport {
    RefineMethod method = RefineMethod::none;
    int iterations = 0;
    double time_s = 0;
    std::vector<double> history; ///< Normwise backward error before refinement and after each step (worst
                                 ///< right-hand side), of the scaled system.
    double backward_error =
        0; ///< Normwise: max over right-hand sides of |b - Ax| / (|A| |x| + |b|), infinity norms.
    double componentwise_error = 0; ///< Oettli-Prager: max_i |b - Ax|_i / (|A||x| + |b|)_i.
    bool converged = false;         ///< backward_error <= tolerance.
};

struct Report {
    Factorization factorization = Factorization::automatic; ///< What was used.
    Scalar scalar = Scalar::d;
    int processes = 1;
    int threads = 1;
    AnalysisReport analysis;
    FactorReport factor;
    double solve_s = 0;
    Index nrhs = 0;
    RefineReport refine;
    std::uint64_t peak_memory_bytes = 0; ///< Peak resident set of the process.
    std::vector<std::string> notes;      ///< Choices and fallbacks, one sentence each.
};

} // namespace espalier
