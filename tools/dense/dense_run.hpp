// One factorization of a tiled matrix on the threads of the runtime, under any policy.
#pragma once

#include "runtime/worker_team.hpp"
#include "tools/dense/tile_tasks.hpp"
#include "tools/dense/tiled_matrix.hpp"

namespace espalier {

/// Factorize `matrix`, which was filled. The result has the same bits under every policy: each tile sees its
/// updates in the same order. Where the team is recorded, so are the tasks (factor: potrf, trsm, geqrt,
/// tsqrt; update: the others; the level is the number of steps to come), their dependencies, and the phase.
RunStats factorize_tiles(TiledMatrix const& matrix, TileTasks const& tasks, Policy& policy, WorkerTeam& team);

} // namespace espalier
