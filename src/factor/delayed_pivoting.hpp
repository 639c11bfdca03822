// Threshold pivoting with delayed columns (Duff, Hogg, Lopez 2020). A panel is first factorized with pivots
// from its diagonal block, as with static pivots, and kept if the entries of L below are small enough. If
// not, or if columns of its children arrive, pivots are chosen again in a larger panel (panel_pivots.hpp),
// and columns without a good pivot are left over for the parent. The task graph and the storage of all other
// panels remain as they are: the rows of a child below its parent are rows of the parent, so delayed columns
// fit below the parent's columns in a larger panel of its own (delayed_panel.hpp).
//
// Columns left over for a parent of another process are sent to it in the fan-in block of this process for
// the parent (left_over.hpp). Then they are treated like those of a child. Only one process has a panel, so
// each process delays columns in its own memory.
//
// At a root, and below the kept cblks of a Schur complement, nothing can be delayed. All rows that may be
// eliminated are in the diagonal block there, all rows and columns of it may be interchanged, and pivots that
// are still too small belong to a matrix that is singular to working precision. They are replaced and
// counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/function_ref.hpp"
#include "espalier/pivoting.hpp"
#include "factor/delayed_assembly.hpp"
#include "factor/factor.hpp"
#include "factor/kernel_family.hpp"
#include "factor/left_over.hpp"
#include "factor/panel_pivots.hpp"
#include "kernels/panel_backup.hpp"

namespace espalier {

/// The rules of an option in a precision; empty for Pivoting::static_pivots.
std::optional<DelayRules> delay_rules(Pivoting pivoting, double u, double epsilon);

/// The memory in which `workers` workers save parts of panels before the first attempt.
std::uint64_t saved_panel_bytes(BlockStructure const& structure, FactorForm form, std::size_t scalar_bytes,
                                int workers);

/// Computes `count` rows of a panel below its diagonal block, from row `first` on.
using RowsStep = FunctionRef<void(Index first, Index count)>;
/// Runs a step for all rows below the diagonal block of a cblk. Several workers may compute parts of them.
using ForAllRows = FunctionRef<void(RowsStep step)>;

template <class T> class DelayedPivoting {
  public:
    /// Serves the own cblks of `factor`. The arguments must outlive this. Pivots below `threshold` are
    /// replaced if their columns are as small, or cannot be delayed.
    DelayedPivoting(Factor<T>& factor, KernelFamily<T>& kernels, DelayRules const& rules, Real<T> threshold,
                    int workers);

    /// Factorizes the panel of cblk k, whose children are finished and whose fan-in blocks are added.
    /// Eliminations with pivots from the fully summed rows may be divided. Errors as
    /// KernelFamily::factorize_panel, and {out_of_memory}.
    PivotStats factorize(CblkId k, WorkerId worker, UpdateWorkspace<T>& workspace,
                         BlockDivision const* division, ForAllRows for_all_rows);

    /// Returns the fan-in block for `ghost`, ready to be sent: the sum of all contributions of this process,
    /// and the columns that its cblks have left over for the ghost. Error{out_of_memory}.
    [[nodiscard]] Block complete(CblkId ghost, Block&& sum, UpdateWorkspace<T>& workspace) const;
    /// Stores the columns left over, if any, of a received fan-in block. `part` is the part of the block
    /// after the sum, whose rows are `rows`. Any worker may call it, but not for the same target at the same
    /// time. Error{out_of_memory}, {internal}.
    void receive(FanInBlock const& block, std::span<BlockRows const> rows, std::span<std::byte const> part);

    /// The bytes of all delayed panels outside of the planned ones.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  private:
    struct alignas(64) Saved { // written by one worker
        LuBackup<T> backup;
        SummedPivots<T> pivots; // of the panel in work
        ColumnMoves moves;
    };
    // postponed: all columns that have a pivot in the diagonal block are eliminated there, and others are
    // left.
    enum class Attempt { accepted, postponed, diagonal_failed, rows_failed };
    // The arguments of factorize(), and what they imply.
    struct Front {
        CblkId k;
        WorkerId worker;
        Saved& saved;
        UpdateWorkspace<T>& workspace;
        BlockDivision const* division;
        ForAllRows for_all_rows;
        Index rows; // those below that will be eliminated
        PanelPivots<T> pivots;
    };

    [[nodiscard]] Attempt try_static(Front const& front);
    void restore(Front const& front, Attempt attempt) const;
    /// Computes rows of L and returns the largest entry of the first `counted` rows.
    using SolveRows = FunctionRef<Real<T>(Index counted)>;
    [[nodiscard]] bool solve_and_check(Front const& front, Index first, Index count, bool backs_up,
                                       SolveRows solve) const;
    [[nodiscard]] DelayedPanel<T>& make_panel(Index columns, Index rows_below, T* lower, T* upper,
                                              WorkerId worker);
    [[nodiscard]] DelayedPanel<T>& in_place(CblkId k, WorkerId worker);
    [[nodiscard]] DelayedPanel<T>& larger(CblkId k, WorkerId worker, Index columns);
    [[nodiscard]] PivotStats delay_in_place(Front const& front, Attempt attempt,
                                            DelayedPanel<T>& panel) const;
    [[nodiscard]] PivotStats delay_in_larger(Front const& front, DelayedPanel<T>& panel) const;
    [[nodiscard]] bool eliminate_rows(Front const& front, DelayedPanel<T>& panel) const;
    void require_memory(std::uint64_t bytes, std::uint64_t more) const;
    [[nodiscard]] Index rows_of_interior(CblkId k) const;

    Factor<T>& factor_;
    BlockStructure const& structure_;
    FactorForm form_;
    KernelFamily<T>& kernels_;
    DelayRules rules_;
    Real<T> threshold_;
    DelayedAssembly<T> assembly_;
    Index most_saved_ = 0;     ///< The coefficients of the largest saved part.
    std::vector<Saved> saved_; ///< By worker.
    std::atomic<std::uint64_t> bytes_{0};
    std::atomic<std::uint64_t> received_bytes_{0};
};

} // namespace espalier
