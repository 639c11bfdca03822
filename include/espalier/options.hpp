// What a caller can choose. Names and defaults only; results are in report.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/schedule_settings.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// How a long phase tells what it has done, without knowing who looks. Phases that cannot measure their
/// advance give total 0.
class ESPALIER_API ProgressSink {
  public:
    virtual ~ProgressSink() = default;
    /// A phase starts; `total` is in whatever unit advance() will use, 0 when unknown.
    virtual void begin(std::string_view phase, double total) = 0;
    /// `amount` more is done. May be called from any thread, at most some thousand times a phase.
    virtual void advance(double amount) = 0;
    /// The phase is over, done or broken off.
    virtual void end() = 0;
};

/// The choices of one solver.
struct Options : ScheduleSettings {
    Factorization factorization = Factorization::automatic; ///< `automatic`: from symmetry and diagonal.

    /// Rows permuted (lu) or paired (ldlt, ldlh) by a maximum-product matching; `automatic`: where a diagonal
    /// entry is weak. llh and llt never are.
    Toggle matching = Toggle::automatic;
    /// Rows and columns scaled; `automatic`: everywhere but for llh and llt. A matching brings its own
    /// scales.
    Toggle scaling = Toggle::automatic;

    /// Factorize in single precision (half the memory, twice the speed) and refine in that of the matrix;
    /// falls back to full precision, and says so, where that does not reach the tolerance. No effect in
    /// scalars that are single already, or with a Schur complement.
    bool mixed_precision = false;
    /// Estimate the reciprocal condition number (factorize) and bound the forward error (refine): about ten
    /// solves each.
    bool condition = false;
    /// Expect a rank-deficient matrix: go on where rows are empty or the structural rank is deficient,
    /// instead of Error{singular}. For Solver::null_space.
    bool allow_singular = false;
    /// Unknowns (0-based, distinct) that are not eliminated: factorize() leaves their Schur complement.
    std::vector<Index> schur;

    OrderingMethod ordering = OrderingMethod::scotch; ///< What reduces the fill.
    /// For OrderingMethod::user: the new position of each row, counted from 0; or, where this is empty, ...
    std::vector<Index> ordering_positions;
    std::string ordering_file; ///< ... a file of them, see the user guide.

    int threads = 0;          ///< Worker threads; 0 for the cores this process may use.
    bool bind_threads = true; ///< Bind workers to cores.
    /// With several processes: progress threads of each that move messages. 1 makes all calls of MPI, which
    /// needs MPI_THREAD_SERIALIZED; of 2 one sends and one receives, which needs MPI_THREAD_MULTIPLE; 0:
    /// workers do it between tasks. Where MPI gives less, there are fewer.
    int comm_threads = 1;
    /// The machine that workers stand on and that is planned for: empty for this one; else an hwloc XML file
    /// (a name that ends in .xml) or a synthetic description such as "numa:2 core:4". Then workers keep the
    /// cores and NUMA nodes they have there, and are not bound here.
    std::string topology;
    /// What the schedule counts in: `automatic` uses the cost model that was measured on this machine and
    /// kept in the user's cache directory, and measures one (for less than two seconds) where there is none;
    /// `on` measures anew; `off` uses the one that comes with the library.
    Toggle calibration = Toggle::automatic;

    Index max_block_width = 256; ///< Wider supernodes are split into column blocks ...
    Index min_block_width = 128; ///< ... of at least this width.
    double amalgamation_fill =
        0.15; ///< Zeros that amalgamation may store, relative to the entries of the factor.

    /// Pivots below pivot_threshold * max|A| are replaced; negative for the default, sqrt(epsilon).
    double pivot_threshold = -1;

    RefineMethod refine = RefineMethod::automatic; ///< `automatic`: ir, then gmres if that stalls.
    int max_refine_iterations = 0;                 ///< 0 for the default of the method.
    /// Normwise backward error asked for; 0 for the default (1e-12 in double, 1e-5 in single precision).
    double tolerance = 0;

    std::uint64_t max_memory = 0; ///< Bytes the factorization may use; 0 for no limit.

    bool record_trace = false; ///< Record what every thread does, for Solver::write_trace.

    ProgressSink* progress = nullptr; ///< Told of long phases; may be null.
    std::function<void(std::string_view)>
        log; ///< One line at a time: choices made and fallbacks; may be empty.
    /// Asked every 10 ms or so, on the thread that called; true ends the call with Error{cancelled}. The
    /// solver is then as before the call, or (analyze, factorize) without analysis or factors.
    std::function<bool()> cancel;
};

/// Sets the option that the command calls `--name` (without the dashes) from the command's spelling of its
/// value: set_option(options, "ordering", "metis"), ("threads", "4"), ("max-memory", "4G"). Error{usage} that
/// lists what there is for an unknown name or value.
ESPALIER_API void set_option(Options& options, std::string_view name, std::string_view value);
/// The current value in the same spelling.
ESPALIER_API std::string get_option(Options const& options, std::string_view name);
/// All names set_option knows.
ESPALIER_API std::vector<std::string_view> option_names();

} // namespace espalier
