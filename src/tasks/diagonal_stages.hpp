// The predicted times of the parts into which the kernels divide a wide diagonal block
// (core/block_division.hpp, kernels/panel.hpp). Stages follow each other; the pieces of one do not depend on
// each other.
//
//   Cholesky  by halves: L11, a piece for each range of rows of L21, one for each part of A22, L22
//   LU        by halves: the left columns with all rows, then a piece for each range of the right columns
//   LDL       by panels: a panel of columns, then a piece for each part of the triangle to its right
#pragma once

#include <vector>

#include "mapping/cost_model.hpp"

namespace espalier {

/// The seconds of the pieces of each stage of a diagonal block of `width` columns. Their sum is
/// model.panel(width, 0). A single stage of a single piece if the block stays whole.
std::vector<std::vector<double>> diagonal_stages(CostModel const& model, Index width, Index least_columns);

} // namespace espalier
