// Scatter-add: a contribution computed into a worker's buffer is subtracted from the panel it belongs to.
// Its rows are contiguous in pieces only: a run is a piece that is contiguous in both.
#pragma once

#include <span>

#include "kernels/view.hpp"

namespace espalier {

/// Rows [source_row, source_row + height) of a contribution go to rows [target_row, target_row + height).
struct RowRun {
    Index source_row = 0;
    Index target_row = 0;
    Index height = 0;
};

/// target(target rows, j) -= source(source rows, j) for every run and every column j of source. The target
/// view starts at the column that source's column 0 belongs to. Runs do not overlap; neither do the views.
template <class T>
void scatter_subtract(MatrixView<T const> source, std::span<RowRun const> runs, MatrixView<T> target);

} // namespace espalier
