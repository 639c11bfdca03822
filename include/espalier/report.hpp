// Results of a run. Times are in seconds, memory in bytes. docs/report.md explains the fields, which the
// command's --json also has.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

/// The schedule of a plan, as the options request it or SchedulePolicy::automatic chose it.
struct ScheduleReport {
    SchedulePolicy policy = SchedulePolicy::static_order; ///< Never SchedulePolicy::automatic.
    Splitting splitting = Splitting::one_d;               ///< Options::splitting.
    /// The smallest upper bound of the width of column blocks, over all supernodes.
    Index narrowest_block = 0;
    Index widest_block = 0;        ///< The largest upper bound of this width.
    Index split_rows = 0;          ///< Options::split_rows.
    Index subtrees_per_worker = 0; ///< Options::subtrees_per_worker.
    // With SchedulePolicy::automatic; otherwise -1 or 0:
    double expected_s = -1; ///< Time of the factorization that the simulation of this schedule predicts.
    double default_s = -1;  ///< The predicted time with the default options.
    Index tried = 0;        ///< Schedules that were simulated.
    double choice_s = 0;    ///< Time of these simulations.
};

/// Results of Solver::analyze.
struct AnalysisReport {
    double ordering_s = 0; ///< Graph, compression and ordering.
    double symbolic_s = 0; ///< Structure of the factor.
    double mapping_s = 0;  ///< Distribution over the workers, schedule.
    double total_s = 0;    ///< The whole analysis, including matching and scaling.
    bool matched = false;  ///< Rows were permuted or paired by a maximum-product matching.
    bool scaled = false;   ///< Rows and columns were scaled.
    /// The size of a maximum matching of rows and columns; -1 if no matching was computed.
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
    /// Memory of factorization and solve besides the matrix, in the process that needs most: panels, fan-in
    /// blocks, assembly map, buffers, structure.
    std::uint64_t memory_bytes = 0;
    std::vector<double> memory_bytes_of_process; ///< memory_bytes of each process.
    /// The predicted Report::peak_memory_bytes: what was resident before the analysis, with the matrix, and
    /// what is expected to be added. 0 for incomplete factors.
    std::uint64_t predicted_peak_bytes = 0;
    double predicted_factor_s = 0; ///< The predicted FactorReport::time_s.
    double predicted_solve_s = 0;  ///< The predicted Report::solve_s of one right-hand side.
    /// Without supernodes: number of diagonal blocks of the block triangular form; else 0.
    Index diagonal_blocks = 0;
    Index largest_diagonal_block = 0; ///< Order of the largest diagonal block; else 0.
    /// Cost model of the predictions: "calibrated" now, "cached" from an earlier calibration, or "default".
    std::string cost_model = "default";
};

/// Results of Solver::factorize.
struct FactorReport {
    /// Check of the values, allocation, and entries written to the panels; if `auto` fell back, also the
    /// failed attempt.
    double assembly_s = 0;
    double time_s = 0;         ///< Numeric factorization; when repeated, with the assembly of subtrees.
    double total_s = 0;        ///< assembly_s + time_s: from the values of the matrix to its factors.
    double gflops = 0;         ///< analysis.flops / time_s / 1e9.
    Scalar scalar = Scalar::d; ///< Scalar type of the factors: single in mixed precision.
    Index pivots_replaced = 0; ///< Pivots below Options::pivot_threshold.
    /// Columns that a column block passed on to its parent (Options::pivoting), counted at each block that
    /// did so.
    Index pivots_delayed = 0;
    /// Memory of the panels with delayed columns, an upper bound of the additional memory.
    std::uint64_t delayed_bytes = 0;
    Index negative_pivots = 0; ///< For ldlt of real matrices and for ldlh.
    double rcond = -1; ///< With Options::condition: estimated 1 / (|A| |A^-1|), 1-norms; else -1.
    /// With Options::schur: the largest normwise backward error of the whole system for three random vectors
    /// in the kept unknowns; else -1.
    double schur_error = -1;
    /// The matrix is singular to working precision: a relative change of its entries of the order of rounding
    /// makes it exactly singular. Pivots were replaced, or (known after refine) the solution is very large.
    bool numerically_singular = false;
    /// Estimate of the componentwise condition number; computed after suspicious pivots only, else 0.
    double condition_estimate = 0;
    Index tasks = 0;         ///< Tasks of the schedule.
    Index steals = 0;        ///< Tasks taken from the queue of another worker; 0 when static.
    Index tasks_divided = 0; ///< Tasks that several threads worked on (Splitting::dynamic).
    /// Number of steals at each distance ([0] is 0). docs/scheduling.md defines the distances of each policy.
    std::vector<double> steals_by_distance;
    Index messages = 0;              ///< Messages between processes.
    std::uint64_t message_bytes = 0; ///< Bytes of these messages.
    /// Time of all workers in tasks and between two consecutive tasks.
    double busy_s = 0;
    /// The rest of the time of all workers: waiting for tasks, messages, and other processes at the end.
    double waiting_s = 0;
    /// Time of the communication threads in MPI calls. Without such threads: of the workers, as a part of
    /// busy_s and waiting_s.
    double communication_s = 0;
    std::vector<double> busy_s_of_process;          ///< busy_s of each process.
    std::vector<double> waiting_s_of_process;       ///< waiting_s of each process.
    std::vector<double> communication_s_of_process; ///< communication_s of each process.
    std::vector<double> messages_of_process;        ///< Messages that each process sent.
    std::vector<double> message_bytes_of_process;   ///< Bytes of these messages.
    /// The share of local accesses, from 0 to 1: bytes of panels on the NUMA node of the worker that accessed
    /// them, relative to all accessed bytes of panels. -1 if the system does not report it.
    double local_share = -1;
    std::vector<double> local_share_of_process; ///< local_share of each process.
    std::vector<double> local_share_of_worker;  ///< local_share of each worker, process by process.
    /// Bytes of panels on each NUMA node, computer by computer.
    std::vector<double> node_bytes;
    /// Bytes of panels moved to the nodes of their owners before the factorization.
    std::uint64_t moved_bytes = 0;
    /// Without supernodes: the pivots of the previous factorization were reused.
    bool pivots_reused = false;
    /// Updates of the factors in place since the factorization (Solver::update).
    Index updates = 0;
    double update_s = 0;              ///< Time of the last update.
    bool fell_back = false;           ///< `auto` tried llh and continued with ldlt or ldlh.
    bool precision_fell_back = false; ///< Mixed precision was not accurate enough; full precision was used.
};

/// Results of Solver::refine.
struct RefineReport {
    RefineMethod method = RefineMethod::none; ///< The method that was used last.
    int iterations = 0;                       ///< Steps of the method.
    double time_s = 0;                        ///< Including the computation of the errors.
    /// Normwise backward error of the scaled system before refinement and after each step, for the worst
    /// right-hand side.
    std::vector<double> history;
    /// Normwise: max over right-hand sides of |b - Ax| / (|A| |x| + |b|), infinity norms.
    double backward_error = 0;
    double componentwise_error = 0; ///< Oettli-Prager: max_i |b - Ax|_i / (|A||x| + |b|)_i.
    /// With Options::condition: bound on |x - x_exact| / |x|, infinity norms, worst right-hand side; else -1.
    double forward_error = -1;
    bool converged = false; ///< backward_error and the error of the scaled system are within the tolerance.
    /// ok; inaccurate: not converged, or not finite; singular: the factorization is numerically_singular.
    Status status = Status::ok;
};

/// Results of an incomplete factorization (SolveMethod::ilu). With several processes, sizes are sums and
/// times the largest of all processes.
struct IncompleteReport {
    Index levels = 0;      ///< Options::levels.
    int block_size = 0;    ///< Size of the dense blocks that rows and columns are divided into.
    Offset nnz_factor = 0; ///< Stored entries of L + U, the diagonal once.
    double symbolic_s = 0; ///< Pattern of the factor, and its storage.
    double factor_s = 0;   ///< Numeric factorization.
    double solve_s = 0;    ///< One application to one vector, on average over all applications.
    /// The coarse string in effect; "one" if one worker runs all rows as one task.
    std::string coarsen;
    double coarsen_s = 0;       ///< Coarse graph and its schedule.
    Index tasks_fine = 0;       ///< Block rows.
    Index tasks_coarse = 0;     ///< Tasks after coarsening.
    Index edges_coarse = 0;     ///< Dependencies between these tasks.
    std::string runtime;        ///< The runtime of the tasks: "espalier", "tbb" or "openmp".
    Index synchronizations = 0; ///< Waits of workers for others in one application, or of tasks for tasks.
    /// Bytes of the factor on each NUMA node of process 0 (the system's numbers).
    std::vector<double> node_bytes;
    /// With SchedulePolicy::nas on several nodes: bytes of the pages that the tasks of each node write
    /// (process 0).
    std::vector<double> affinity_bytes;
    std::uint64_t moved_bytes = 0; ///< Bytes that were moved to the nodes of their tasks, of all processes.
    /// Bytes that the first transposed or adjoint solve allocates for the factors by columns, of all
    /// processes; 0 if such solves need none, because the matrix is symmetric or Hermitian.
    std::uint64_t transposed_bytes = 0;
    Index pivots_shifted = 0; ///< Small pivots that were replaced, because no shift avoids them.
    /// The factors are those of A + shift * diag(A), with the smallest shift of 0, 0.001, 0.002, 0.004, ...
    /// without small pivots. The largest of all processes.
    double shift = 0;
    int restarts = 0;   ///< Factorizations that ended at a small pivot; the most of a process.
    int iterations = 0; ///< Iterations of the last refinement.
};

/// Prediction for one process.
struct ProcessPrediction {
    Index cblks = 0;         ///< Column blocks that the process owns.
    double busy_s = 0;       ///< Time in tasks, of all its threads together.
    double memory_bytes = 0; ///< Panels, fan-in blocks at their maximum, and everything else.
    /// Its structure, tasks and schedule; process 0 makes and sends them.
    double plan_bytes = 0;
    double fan_in_bytes = 0;            ///< Fan-in blocks at their maximum.
    double sent_bytes = 0;              ///< Bytes sent to other processes.
    double received_bytes = 0;          ///< Bytes received from other processes.
    std::int64_t messages_sent = 0;     ///< Messages sent to other processes.
    std::int64_t messages_received = 0; ///< Messages received from other processes.
    std::int64_t steals = 0;            ///< Tasks taken from the queue of another thread.
    double local_share = 1;             ///< Prediction::local_share of its tasks.
};

/// Prediction of a factorization on this machine or another.
struct Prediction {
    int processes = 1;       ///< Number of processes.
    int threads = 1;         ///< Threads of each process.
    int comm_threads = 0;    ///< Communication threads of each process.
    ScheduleReport schedule; ///< The schedule that was simulated.
    double factor_s = 0;     ///< Time of the factorization (makespan).
    double solve_s = 0;      ///< Time of a solve with one right-hand side.
    double plans_s = 0;      ///< Measured: time in which this process divided the plan for several processes.
    double critical_path_s = 0; ///< Lower bound on the makespan of these tasks.
    double work_s = 0;          ///< Time of all tasks together.
    double memory_s = 0;        ///< Part of work_s due to remote and shared memory.
    /// Time of the workers in messages, or lost to communication threads that use their cores.
    double communication_s = 0;
    double efficiency = 1;   ///< work_s / (factor_s * processes * threads)
    std::int64_t tasks = 0;  ///< Tasks on workers.
    std::int64_t steals = 0; ///< Tasks taken from the queue of another thread.
    /// Tasks that several threads work on (Splitting::dynamic).
    std::int64_t tasks_divided = 0;
    std::vector<std::int64_t> steals_by_distance; ///< Number of steals at each distance (docs/scheduling.md).
    /// The share of local accesses, from 0 to 1: bytes of panels on the NUMA node of the worker that accesses
    /// them, relative to all accessed bytes of panels.
    double local_share = 1;
    std::int64_t messages = 0;              ///< Messages between processes.
    double message_bytes = 0;               ///< Bytes of these messages: the communication volume.
    std::vector<double> idle_s;             ///< Idle time of each worker, process by process.
    std::vector<ProcessPrediction> process; ///< One entry for each process.
    /// The analysis with the column blocks of this schedule and the memory of its processes.
    AnalysisReport analysis;
    /// Settings that have no effect on this schedule, one sentence each.
    std::vector<std::string> notes;
};

/// Results of all steps so far.
struct Report {
    Factorization factorization = Factorization::automatic; ///< The factorization that was used.
    SolveMethod method = SolveMethod::direct;               ///< The method that was used.
    OrderingMethod ordering = OrderingMethod::automatic;    ///< The ordering that was used.
    /// How the factors were computed: "supernodal"; "simplicial", without supernodes (Options::supernodes);
    /// or "none" for an incomplete factorization.
    std::string factor_path = "supernodal";
    Scalar scalar = Scalar::d;                  ///< Scalar type of matrix and solution.
    int processes = 1;                          ///< Number of processes of the solver.
    int threads = 1;                            ///< Workers of each process.
    int comm_threads = 0;                       ///< Communication threads of each process.
    ScheduleReport schedule;                    ///< The schedule of the last analysis.
    AnalysisReport analysis;                    ///< Results of the last analysis.
    FactorReport factor;                        ///< Results of the last factorization.
    double solve_s = 0;                         ///< Time of the last solve.
    Index nrhs = 0;                             ///< Right-hand sides of the last solve.
    RefineReport refine;                        ///< Results of the last refinement.
    IncompleteReport incomplete;                ///< Results of an incomplete factorization.
    std::uint64_t peak_memory_bytes = 0;        ///< Peak resident set of process 0.
    std::vector<double> peak_memory_of_process; ///< Peak resident set of each process.
    std::vector<std::string> notes;             ///< Choices and fallbacks, one sentence each.
};

/// One field of a report with its name in the JSON: "analysis.flops" or "threads".
struct ReportField {
    std::string name; ///< Group and field, joined by a dot.
    /// A field has the same type in every report.
    std::variant<bool, std::int64_t, double, std::string, std::vector<double>, std::vector<std::string>>
        value;
};
/// The fields of the report, in the order of the JSON.
ESPALIER_API std::vector<ReportField> report_fields(Report const& report);

} // namespace espalier
