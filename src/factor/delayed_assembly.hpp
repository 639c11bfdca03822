// The assembly of panels with delayed columns (delayed_panel.hpp): the columns of the cblk, those that its
// children have left over, and those that came from other processes (left_over.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/column_moves.hpp"
#include "factor/factor.hpp"
#include "factor/left_over.hpp"

namespace espalier {

/// Copies the lower trapezoid, or all entries if `whole`.
template <class T> void copy_panel(MatrixView<T const> from, bool whole, MatrixView<T> to);

template <class T> class DelayedAssembly {
  public:
    /// Serves the own cblks of `factor`, which must outlive this.
    explicit DelayedAssembly(Factor<T>& factor);

    /// The columns that children of cblk k and other processes have left over for it.
    [[nodiscard]] Index num_arriving(CblkId k) const { return num_left_by_children(k) + num_received(k); }
    [[nodiscard]] Index num_left_by_children(CblkId k) const;
    /// The children of cblk k, ascending.
    [[nodiscard]] std::vector<CblkId> children(CblkId k) const;

    /// Assembles the fully summed rows, and all rows of L in the columns that arrive. Other rows below remain
    /// undefined.
    void assemble_summed(CblkId k, UpdateWorkspace<T>& workspace, DelayedPanel<T>& panel) const;
    /// The columns of the cblk that are not in the panel; 0 if the panel is in the place of that of the cblk.
    [[nodiscard]] Index num_own(CblkId k, DelayedPanel<T> const& panel) const {
        return panel.lower().data == factor_.lower(k).data ? 0 : factor_.cblk(k).width();
    }
    /// Numbers the rows and columns of the cblk in a panel without others.
    void number_own(CblkId k, DelayedPanel<T>& panel) const;
    /// Assembles `count` rows of L below from row `first` on, at most those of for_each_row_block(), and
    /// permutes all columns. The panel may be that of the cblk itself.
    void place_rows_of_l(CblkId k, ColumnMoves const& moves, Index first, Index count,
                         DelayedPanel<T>& panel) const;
    /// Assembles U in all rows below. Its columns are rotated: those that arrive come first. Not before all
    /// rows of L are placed, because this may write in the place of L in the cblk.
    void add_upper(CblkId k, UpdateWorkspace<T>& workspace, DelayedPanel<T>& panel) const;
    /// Permutes the columns of such rows of U.
    static void place_rows_of_u(ColumnMoves const& moves, Index first, Index count, DelayedPanel<T>& panel);

    /// Stores columns that process `from` has left over for cblk k. Any worker may call it, but not for the
    /// same cblk at the same time. Error{out_of_memory}.
    void receive(CblkId k, std::int32_t from, ReceivedColumns<T>&& columns);
    /// Frees them after assembly. Returns their bytes.
    std::size_t forget_received(CblkId k);

  private:
    struct Received {
        std::int32_t from = 0;
        Index first_number = 0;
        ReceivedColumns<T> columns;
    };

    [[nodiscard]] Index num_received(CblkId k) const;
    /// Calls body(columns left over, their rows below as rows of cblk k) for all columns that arrive.
    template <class Body>
    void for_each_arriving(CblkId k, UpdateWorkspace<T>& workspace, Body const& body) const;
    void number_arriving(CblkId k, DelayedPanel<T>& panel) const;
    void add_columns(CblkId k, LeftOver<T> const& from, std::span<RowRun const> runs, Index at,
                     DelayedPanel<T>& panel) const;

    Factor<T>& factor_;
    BlockStructure const& structure_;
    FactorForm form_;
    std::vector<CblkId> first_child_, next_sibling_;
    /// By cblk and ascending processes; empty with one process.
    std::vector<std::vector<Received>> received_;
};

} // namespace espalier
