// The tasks in numbers: each on the tiles that it names, by the kernels of the solver.
#pragma once

#include <vector>

#include "tools/dense/tile_tasks.hpp"
#include "tools/dense/tiled_matrix.hpp"

namespace espalier {

/// Of one worker. The matrix must outlive it.
class TileExecutor {
  public:
    explicit TileExecutor(TiledMatrix const& matrix);

    /// Error{not_positive_definite} naming the column.
    void execute(TileTask const& task);

  private:
    void factor_diagonal(std::int32_t k);

    TiledMatrix const* matrix_;
    std::vector<double> workspace_;
};

/// The rates of the kernels of `kind` on this machine, the best of several runs on one core with tiles of
/// that size, or of 256 if it is more. Takes a tenth of a second or so. Those of other kernels are 1.
TileRates measure_rates(DenseKind kind, Index tile);

} // namespace espalier
