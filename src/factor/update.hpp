// The update kernel: C(r, c) -= A(r, :) op(B(c, :)) for rows r and columns c of a source cblk that all face
// one target cblk, C being a panel of the target.
//
//   source cblk k                    target cblk j
//   +-----+                          +---+
//   |diag |                          |   | columns = rows [c0, c1) of k
//   +-----+                          |   |
//   |     | <- c0                    +---+
//   |     | <- c1 = bloks facing j   | * | rows of k found in j: runs of
//   +-----+                          |   | consecutive rows in both
//   |     |                          | * |
//   +-----+                          +---+
//
// If a run is long and the columns are adjacent, the product is subtracted from the target directly. The rest
// goes through the buffer of the worker and is subtracted run by run.
#pragma once

#include <memory>
#include <vector>

#include "core/scalar.hpp"
#include "kernels/product.hpp"
#include "symbolic/block_structure.hpp"
#include "tasks/row_groups.hpp"

namespace espalier {

/// Rows [source_row, source_row + height) of a contribution, [target_row, ...) of the panel.
struct RowRun {
    Index source_row = 0;
    Index target_row = 0;
    Index height = 0;
};

/// The bloks [first, end) of `source`, which all face cblk `target`.
struct FacingGroup {
    CblkId source = no_cblk;
    CblkId target = no_cblk;
    BlokId first = 0;
    BlokId end = 0;
};

/// The group that starts with blok `first` of cblk `source`.
FacingGroup facing_group(BlockStructure const& structure, CblkId source, BlokId first);

/// Calls body(group) for each group of the bloks structure.facing[begin .. end).
template <class Body>
void for_each_facing_group(BlockStructure const& structure, Offset begin, Offset end, Body const& body) {
    while (begin < end) {
        BlokId const first = structure.facing[begin];
        FacingGroup const group = facing_group(structure, structure.owner_of_blok[first], first);
        body(group);
        begin += group.end - group.first;
    }
}

/// One operand or target of a product. The view starts with row `first_row` of the panel, counted from the
/// first row of the diagonal block; upper panels and copies start below it.
template <class T> struct PanelRows {
    MatrixView<T> view;
    Index first_row = 0;
    [[nodiscard]] MatrixView<T> rows(Index row, Index count) const {
        return view.block(row - first_row, 0, count, view.cols);
    }
};

/// The target of a contribution: the panel of a cblk or, for a ghost, its fan-in block.
template <class T> struct UpdateTarget {
    PanelRows<T> lower;
    PanelRows<T> upper; ///< lu only.
};

enum class RowsFrom {
    column,      ///< Lower trapezoid: for column c the rows from c on (the symmetric factorizations).
    group_begin, ///< All rows of the group and below (L side of lu, whose diagonal blocks are full).
    group_end,   ///< Rows below the group (U side of lu).
};

/// Buffers of one worker.
template <class T> class UpdateWorkspace {
  public:
    /// The number of coefficients that fit the second-level cache.
    static constexpr Index buffer_size = 64 * 1024;

    UpdateWorkspace() : buffer_(std::make_unique_for_overwrite<T[]>(buffer_size)) {}
    [[nodiscard]] T* buffer() { return buffer_.get(); }
    std::vector<RowRun> runs;
    std::vector<RowRun> clipped; ///< The runs of one product in the buffer.
    std::vector<T> scaled;       ///< L D of the rows in use (ldlt, ldlh).

  private:
    std::unique_ptr<T[]> buffer_;
};

/// Finds the rows of the target's panel for the rows of group.source from the group on that lie in the window
/// (workspace.runs). Returns false if there are none.
template <class T> bool find_row_runs(BlockStructure const& structure, FacingGroup const& group,
                                      RowWindow window, UpdateWorkspace<T>& workspace);

/// Subtracts the product described at the head of this file, for the rows found by find_row_runs.
template <class T> void subtract_contribution(BlockStructure const& structure, FacingGroup const& group,
                                              PanelRows<T const> a, PanelRows<T const> b, Op op_b,
                                              RowsFrom rows_from, PanelRows<T> target,
                                              UpdateWorkspace<T>& workspace);

} // namespace espalier
