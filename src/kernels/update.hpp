// Scatter-add: subtracts a contribution in the buffer of a worker from its panel. A run is a range of rows
// that is contiguous in both.
#pragma once

#include <span>

#include "kernels/view.hpp"

namespace espalier {

/// Rows [source_row, source_row + height) of a contribution, [target_row, ...) of the panel.
struct RowRun {
    Index source_row = 0;
    Index target_row = 0;
    Index height = 0;
};

/// target(target rows, j) -= source(source rows, j) for every run and every column j of the source. Column 0
/// of the target view corresponds to column 0 of the source. Runs must not overlap, nor the views.
template <class T>
void scatter_subtract(MatrixView<T const> source, std::span<RowRun const> runs, MatrixView<T> target);

} // namespace espalier
