// The execution of tasks by the kernels of the solver, on the threads of the runtime under any policy, and
// the rates of these kernels.
#pragma once

#include <vector>

#include "runtime/worker_team.hpp"
#include "tools/dense/tile_tasks.hpp"
#include "tools/dense/tiled_matrix.hpp"

namespace espalier {

/// Executes tasks on one worker. The matrix must outlive it.
class TileExecutor {
  public:
    explicit TileExecutor(TiledMatrix const& matrix);

    /// Error{not_positive_definite} names the column.
    void execute(TileTask const& task);

  private:
    void factor_diagonal(std::int32_t k);

    TiledMatrix const* matrix_;
    std::vector<double> workspace_;
};

struct TileRun : RunStats {
    std::vector<WorkerId> worker_of_task;
};

/// Factorizes `matrix`, which must be filled. Every policy gives the same bits, as each tile receives its
/// updates in the same order. If the team has a recorder, it records the tasks (factor: potrf, trsm, geqrt,
/// tsqrt; update: the others; the level is the number of remaining steps), their dependencies, and the phase.
TileRun factorize_tiles(TiledMatrix const& matrix, TileTasks const& tasks, Policy& policy, WorkerTeam& team);

/// The rates of the kernels of `kind` on one core of this machine, the best of several runs with tiles of at
/// most 256 rows. Takes about a tenth of a second. The rates of other kernels are 1.
TileRates measure_rates(DenseKind kind, Index tile);

} // namespace espalier
