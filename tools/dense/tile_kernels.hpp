// The execution of tasks by the kernels of the solver, and the rates of these kernels.
#pragma once

#include <vector>

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

/// The rates of the kernels of `kind` on one core of this machine, the best of several runs with tiles of at
/// most 256 rows. Takes about a tenth of a second. The rates of other kernels are 1.
TileRates measure_rates(DenseKind kind, Index tile);

} // namespace espalier
