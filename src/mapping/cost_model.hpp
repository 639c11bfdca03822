// How long the kernels take, as functions of their sizes: what mapping and simulation count in.
//
// The parameters are round figures of a current core in double precision; they order and balance tasks,
// and give the predicted time its scale. Times are in seconds for real double scalars; the caller scales
// the whole by flop_factor for complex ones.
#pragma once

#include <vector>

#include "symbolic/block_structure.hpp"

namespace espalier {

struct CostModel {
    double gemm_rate = 105e9;      ///< Real flops per second of a large matrix product.
    double panel_rate = 60e9;      ///< The same inside panels: diagonal block and triangular solve.
    double scatter_rate = 3e9;     ///< Coefficients per second added through a buffer.
    double call_overhead = 0.4e-6; ///< Seconds of every kernel call, structure walking included.
    double sides = 1;              ///< 2 for lu (L and U panels), else 1.

    /// Diagonal block of cblk k and the triangular solve below it.
    [[nodiscard]] double panel(Cblk const& cblk) const;
    /// A product of `rows` x `cols` x `depth` subtracted from a target.
    [[nodiscard]] double update(Index rows, Index cols, Index depth) const;
};

/// Every contribution of cblk k, the panel included: seconds for each cblk. Kept cblks are not eliminated and
/// cost nothing.
std::vector<double> cblk_costs(BlockStructure const& structure, CostModel const& model);

} // namespace espalier
