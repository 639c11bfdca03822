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
    /// What factorization and solve add to the matrix, in the process that needs most: panels, fan-in blocks,
    /// assembly map, buffers, structure.
    std::uint64_t memory_bytes = 0;
    std::vector<double> memory_bytes_of_process; ///< The same for each process.
    double predicted_factor_s = 0;               ///< What the schedule expects of FactorReport::time_s.
    /// What it counted in: "calibrated" now, "cached" from an earlier calibration, or "default".
    std::string cost_model = "default";
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
    Index tasks = 0;  ///< Of the schedule.
    Index steals = 0; ///< Tasks run by another worker than planned; 0 when static.
    /// Of those steals, how many went so far: by distance, from 1 on ([0] is 0); what a distance is, is the
    /// policy's (docs/scheduling.md).
    std::vector<double> steals_by_distance;
    Index messages = 0;              ///< Between processes.
    std::uint64_t message_bytes = 0; ///< Of those messages.
    /// What the workers did during the factorization, seconds of all of them together: in tasks and between
    /// two of them, ...
    double busy_s = 0;
    double waiting_s = 0; ///< ... and the rest: for tasks, messages, and at the end for other processes.
    /// In calls of MPI, of the communication threads; without these of the workers, within the two above.
    double communication_s = 0;
    std::vector<double> busy_s_of_process;          ///< The same of each process ...
    std::vector<double> waiting_s_of_process;       ///< ...
    std::vector<double> communication_s_of_process; ///< ...
    std::vector<double> messages_of_process;        ///< ... and the messages that it sent,
    std::vector<double> message_bytes_of_process;   ///< and their bytes.
    /// Of the bytes of panels that the tasks of the factorization worked on, the part that lay on the NUMA
    /// node of the worker; -1 where the system does not tell.
    double local_share = -1;
    std::vector<double> local_share_of_process; ///< The same for each process's tasks,
    std::vector<double> local_share_of_worker;  ///< and for each worker's, process by process.
    /// Where panels lie: bytes on each NUMA node, computer by computer.
    std::vector<double> node_bytes;
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

/// What the schedule expects of one process.
struct ProcessPrediction {
    Index cblks = 0;                    ///< Column blocks that it owns.
    double busy_s = 0;                  ///< Of all its threads together.
    double memory_bytes = 0;            ///< Its panels, fan-in blocks at their most, and all else it holds.
    double fan_in_bytes = 0;            ///< The fan-in blocks alone.
    double sent_bytes = 0;              ///< To other processes ...
    double received_bytes = 0;          ///< ... and from them,
    std::int64_t messages_sent = 0;     ///< in so many messages
    std::int64_t messages_received = 0; ///< each way.
    std::int64_t steals = 0;            ///< Tasks taken from the queue of another thread.
    double local_share = 1;             ///< As Prediction::local_share, of its own tasks.
};

/// What the schedule expects of a factorization on a machine, here or elsewhere.
struct Prediction {
    int processes = 1;                            ///< Of the machine.
    int threads = 1;                              ///< Of each process.
    double factor_s = 0;                          ///< The makespan: predicted time of the factorization.
    double critical_path_s = 0;                   ///< No schedule of these tasks is shorter.
    double work_s = 0;                            ///< Of all tasks together.
    double memory_s = 0;                          ///< The part of work_s that remote and shared memory cost.
    double efficiency = 1;                        ///< work_s / (factor_s * processes * threads)
    std::int64_t tasks = 0;                       ///< On workers.
    std::int64_t steals = 0;                      ///< Tasks taken from the queue of another thread ...
    std::vector<std::int64_t> steals_by_distance; ///< ... by distance, which docs/scheduling.md explains.
    /// Of the bytes of panels that tasks work on, the part on the NUMA node of their thread.
    double local_share = 1;
    std::int64_t messages = 0;              ///< Between processes,
    double message_bytes = 0;               ///< and what they carry: the communication volume.
    std::vector<double> idle_s;             ///< Of each worker, process by process.
    std::vector<ProcessPrediction> process; ///< Of each process.
};

/// Of all the steps so far.
struct Report {
    Factorization factorization = Factorization::automatic; ///< What was used.
    Scalar scalar = Scalar::d;                              ///< Of matrix and solution.
    int processes = 1;                                      ///< Of this run.
    int threads = 1;                                        ///< Workers of each process.
    int comm_threads = 0;                                   ///< Of each process, that only move messages.
    AnalysisReport analysis;                                ///< Of the last analysis.
    FactorReport factor;                                    ///< Of the last factorization.
    double solve_s = 0;                                     ///< Of the last solve.
    Index nrhs = 0;                                         ///< Right-hand sides of the last solve.
    RefineReport refine;                                    ///< Of the last refinement.
    std::uint64_t peak_memory_bytes = 0;                    ///< Peak resident set, of process 0.
    std::vector<double> peak_memory_of_process;             ///< The same of each process.
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
