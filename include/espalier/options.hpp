// The options of a solver: names and defaults. Results are in report.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/pivoting.hpp"
#include "espalier/schedule_settings.hpp"
#include "espalier/task_runtime.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// Receives the progress of long phases.
class ESPALIER_API ProgressSink {
  public:
    virtual ~ProgressSink() = default;
    /// A phase starts. `total` is its work in the unit of advance(), or 0 if that is unknown.
    virtual void begin(std::string_view phase, double total) = 0;
    /// `amount` more is done. Called from any thread, at most some thousand times for each phase.
    virtual void advance(double amount) = 0;
    /// The phase ends, whether it succeeded or not.
    virtual void end() = 0;
};

/// The options of one solver.
struct Options : ScheduleSettings {
    /// Complete or incomplete factorization.
    SolveMethod method = SolveMethod::direct;
    Factorization factorization = Factorization::automatic; ///< The factorization of the matrix.

    Index levels = 0;   ///< SolveMethod::ilu: level of fill k of ILU(k) and IC(k).
    int block_size = 0; ///< SolveMethod::ilu: size of dense blocks, 1 .. 6; 0: found from the matrix.
    /// SolveMethod::ilu: how rows are aggregated into tasks: "auto", "none", or a coarse string such as
    /// "CD(4)" (docs/user-guide.md).
    std::string coarsen = "auto";
    /// SolveMethod::ilu: the runtime that executes the tasks. `schedule` applies only to
    /// TaskRuntime::espalier.
    TaskRuntime runtime = TaskRuntime::espalier;

    /// Factorize by dense blocks of columns (supernodes), which all other options assume. `off` factorizes by
    /// single columns for lu, llh, ldlt and ldlh. `automatic` chooses single columns if the factors are so
    /// sparse that these are faster, as for circuits, power networks and small systems. Without supernodes,
    /// one thread factorizes the matrix in an order of minimum degree: lu by its block triangular form with
    /// partial pivoting, ldlt and ldlh with planned pivots, which are checked. If these are not stable, pivots
    /// are planned by a matching, and if those are not stable either, supernodes are used. Supernodes are
    /// always used with several processes, mixed precision, a Schur complement, allow_singular, a trace or
    /// another machine. Report::factor_path states the choice.
    Toggle supernodes = Toggle::automatic;

    /// Permute rows (lu) or form pairs of them (ldlt, ldlh) by a maximum-product matching (Duff, Koster 2001;
    /// Duff, Pralet 2005). `automatic`: if a diagonal entry is zero or weak. No effect on llh and llt.
    Toggle matching = Toggle::automatic;
    /// Scale rows and columns. `automatic`: for lu, ldlt and ldlh, and with mixed precision. A matching has
    /// its own scaling.
    Toggle scaling = Toggle::automatic;

    /// Factorize in single precision (half the memory, twice the speed) and refine to the precision of the
    /// matrix (Buttari, Dongarra, Kurzak, Luszczek, Tomov 2008). Falls back to full precision if single
    /// precision is not accurate enough. No effect on single-precision matrices and with a Schur complement.
    bool mixed_precision = false;
    /// Estimate the reciprocal condition number (factorize) and a bound of the forward error (refine), with
    /// about ten solves each. If pivots were replaced, factorize() factorizes again with delayed columns,
    /// whatever `pivoting` says, so that inertia and determinant are known, if memory suffices; not with a
    /// Schur complement or 2d splitting.
    bool condition = false;
    /// Accept a matrix with empty rows or deficient structural rank, for Solver::null_space, instead of
    /// throwing Error{singular}.
    bool allow_singular = false;
    /// Unknowns (0-based, distinct) that are not eliminated: factorize() computes their Schur complement.
    std::vector<Index> schur;

    OrderingMethod ordering = OrderingMethod::automatic; ///< The ordering of the unknowns.
    /// For OrderingMethod::user: the new position of each row, counted from 0. If empty, ordering_file has
    /// them. get_option() spells this ordering "positions", and set_option() accepts that if there are
    /// positions.
    std::vector<Index> ordering_positions;
    std::string ordering_file; ///< For OrderingMethod::user: a file of positions (docs/user-guide.md).

    /// Adapt the ordering of the solver's last analysis, if it had as many rows, to the pattern of the next
    /// analyze() instead of finding a new one. This takes a small part of the time if few entries have
    /// changed. Only factorizations with supernodes use it, and not the orderings natural and user. A new
    /// ordering is found if the adapted one needs more than 1.5 times the operations of the last one that was
    /// not adapted.
    bool reuse_ordering = false;

    /// Worker threads of each process; 0 for the cores that the process may use. Plans are made for a number
    /// of threads: a change of `threads` or `topology` discards the analysis and the factors.
    int threads = 0;
    bool bind_threads = true; ///< Bind workers to cores.
    /// The machine to plan for: this one if empty, an hwloc XML file (a name that ends in .xml), or a
    /// synthetic description such as "numa:2 core:4". On another machine, workers have virtual cores and NUMA
    /// nodes and are not bound.
    std::string topology;
    /// The cost model of the schedule: `automatic` uses the cost model that was measured on this machine and
    /// kept in the user's cache directory; if there is none, it measures one (for about a second) before
    /// factorizations that take much longer; `on` measures again; `off` uses the default model.
    Toggle calibration = Toggle::automatic;

    /// Zeros that amalgamation (Ashcraft, Grimes 1989) may store, relative to the entries of the factor.
    double amalgamation_fill = 0.08;

    /// What happens to a column without a good pivot in its column block (ldlt, ldlh, lu).
    Pivoting pivoting = Pivoting::static_pivots;
    /// If columns may be delayed: the least modulus u of a pivot relative to the other entries of its column,
    /// in (0, most_pivot_tolerance]. L is bounded by 1 / u.
    double pivot_tolerance = 0.01;
    /// Pivots below pivot_threshold * max|A| are replaced. Negative: the default, which is sqrt(epsilon), or
    /// the smaller of sqrt(epsilon) and 10 sqrt(n) epsilon if columns may be delayed. Then, if the matrix is
    /// not singular to working precision, it is factorized once more without replacing such pivots.
    double pivot_threshold = -1;

    RefineMethod refine = RefineMethod::automatic; ///< The method that improves the solution.
    /// Maximum number of steps; 0: 10 of ir, 300 of a Krylov method, 2000 with an incomplete factorization.
    int max_refine_iterations = 0;
    /// Normwise backward error up to which a system counts as solved; 0: 1e-12 in double, 1e-5 in single
    /// precision.
    double tolerance = 0;

    /// Maximum number of bytes that a call may use for analysis, factors, right-hand sides, bases of Krylov
    /// methods and workspace, on all processes of a computer together; 0 for no limit. A step that needs
    /// more is refused before anything is allocated for it.
    std::uint64_t max_memory = 0;

    bool record_trace = false; ///< Record what each thread does, for Solver::write_trace.

    /// Receives the progress of long phases; may be null. The caller owns it.
    ProgressSink* progress = nullptr;
    /// Receives a line for each choice and fallback; may be empty.
    std::function<void(std::string_view)> log;
    /// Called about every 10 ms on the calling thread; true ends the call with Error{cancelled}. The solver
    /// is then unchanged, or after analyze() and factorize() it has no analysis or no factors.
    std::function<bool()> cancel;
};

/// Sets an option by the name and the spelling that the command uses: set_option(options, "ordering",
/// "metis"), ("threads", "4"), ("max-memory", "4G"). Error{usage} for an unknown name or a wrong value; the
/// message lists the names or values that are allowed.
ESPALIER_API void set_option(Options& options, std::string_view name, std::string_view value);
/// The current value as set_option() spells it. Error{usage} for an unknown name.
ESPALIER_API std::string get_option(Options const& options, std::string_view name);
/// All names of options.
ESPALIER_API std::vector<std::string_view> option_names();

} // namespace espalier
