#include "factor/delayed_pivoting.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "factor/panel_pivots.hpp"
#include "kernels/threshold.hpp"
#include "runtime/process_limits.hpp"

namespace espalier {

namespace {

// The available memory is checked for panels from this size on, because asking the system takes some
// microseconds.
constexpr std::uint64_t large_panel = std::uint64_t{16} << 20;

// Whether other pivots may be chosen after an attempt. Where nothing can be delayed, LDL replaces small
// pivots at once. LU must not: a column of zeros would take the row of another column.
bool can_restart(FactorForm form, Index rows) {
    return rows > 0 || form.has_upper();
}

} // namespace

std::optional<DelayRules> delay_rules(Pivoting pivoting, double u, double epsilon) {
    if (pivoting == Pivoting::static_pivots) return std::nullopt;
    DelayRules rules{.u = u, .growth = 1 / u};
    // Refinement easily corrects a larger growth if the precision leaves digits for it. The bound is 10 / u,
    // but at most the larger of 1 / u and the fourth root of 1 / epsilon.
    if (pivoting == Pivoting::automatic)
        rules.growth = std::max(rules.growth, std::min(10 / u, std::pow(epsilon, -0.25)));
    return rules;
}

std::uint64_t saved_panel_bytes(BlockStructure const& structure, FactorForm form, std::size_t scalar_bytes,
                                int workers) {
    Offset largest = 0;
    for (Cblk const& cblk : structure.cblks)
        if (cblk.rows_below() > 0 || form.has_upper()) largest = std::max(largest, panel_size(cblk, form));
    return static_cast<std::uint64_t>(largest) * scalar_bytes * static_cast<std::uint64_t>(workers);
}

template <class T>
DelayedPivoting<T>::DelayedPivoting(Factor<T>& factor, KernelFamily<T>& kernels, DelayRules const& rules,
                                    Real<T> threshold, int workers)
    : factor_(factor), structure_(factor.structure()), form_(factor.form()), kernels_(kernels), rules_(rules),
      threshold_(threshold), assembly_(factor), saved_(workers) {
    for (CblkId k = 0; k < structure_.num_cblks(); ++k)
        if (form_.has_upper() && factor.has_panel(k))
            most_saved_ = std::max(most_saved_, factor.lower(k).rows * factor.lower(k).cols);
}

template <class T>
PivotStats DelayedPivoting<T>::factorize(CblkId k, WorkerId worker, UpdateWorkspace<T>& workspace,
                                         BlockDivision const* division, ForAllRows for_all_rows) {
    Index const arriving = assembly_.num_arriving(k), rows = rows_of_interior(k);
    if (arriving == 0 && !can_restart(form_, rows)) {
        PivotStats const stats = kernels_.factorize_diagonal(k, threshold_, division);
        for_all_rows([&](Index first, Index count) { kernels_.solve_rows(k, first, count); });
        return stats;
    }
    Front const front{k,        worker,       saved_[worker], workspace,
                      division, for_all_rows, rows,           {form_, rules_, threshold_, rows}};
    PivotStats stats;
    if (arriving == 0) {
        Attempt const attempt = try_static(front);
        if (attempt == Attempt::accepted) return front.saved.pivots.stats;
        DelayedPanel<T>& panel = in_place(k, worker);
        stats = delay_in_place(front, attempt, panel);
        factor_.set_delayed(k, panel, worker);
    } else {
        DelayedPanel<T>& panel = larger(k, worker, factor_.cblk(k).width() + arriving);
        stats = delay_in_larger(front, panel);
        received_bytes_ -= assembly_.forget_received(k);
        factor_.set_delayed(k, panel, worker);
    }
    require_pivots(factor_, k, stats);
    return stats;
}

// The number of rows below cblk k that will be eliminated. They come before those of a Schur complement. If
// there are none, no ancestor can eliminate delayed columns.
template <class T> Index DelayedPivoting<T>::rows_of_interior(CblkId k) const {
    Index rows = 0;
    for (Blok const& blok : structure_.bloks_below(factor_.cblk(k)))
        if (!structure_.is_kept(blok.facing_cblk)) rows += blok.height();
    return rows;
}

// Tries pivots from the diagonal block, and checks L in the rows below that will be eliminated. Columns
// without a pivot are postponed, so that the work on the others is not lost. Without such columns the result
// is that of static pivots.
template <class T> auto DelayedPivoting<T>::try_static(Front const& front) -> Attempt {
    CblkId const k = front.k;
    MatrixView<T> const diagonal = factor_.diagonal(k);
    LuBackup<T>& backup = front.saved.backup;
    SummedPivots<T>& pivots = front.saved.pivots;
    if (form_.has_upper())
        backup.save_diagonal(factor_.lower(k),
                             factor_.delayed_memory(front.worker).template scratch<T>(most_saved_));
    pivots.stats = front.pivots.factor_leading(diagonal, factor_.perm(k),
                                               form_.has_d() ? factor_.off_diagonal(k) : std::span<T>(),
                                               front.division, pivots);
    if (pivots.stats.zero_column >= 0) return Attempt::diagonal_failed;
    if (form_.has_upper()) backup.prepare_rows(diagonal, pivots.eliminated);
    if (pivots.eliminated < diagonal.cols) return Attempt::postponed;
    std::atomic<bool> is_bounded = true;
    front.for_all_rows([&](Index first, Index count) {
        for_each_row_block<T>(count, [&](Index at, Index rows) { // while they are in the cache
            auto const solve = [&](Index counted) {
                return kernels_.solve_rows_of_l(k, first + at, rows, counted);
            };
            if (!solve_and_check(front, first + at, rows, form_.has_upper(), solve)) is_bounded = false;
        });
    });
    if (!is_bounded) return Attempt::rows_failed;
    if (form_.has_upper()) {
        front.for_all_rows([&](Index first, Index count) { kernels_.solve_rows_of_u(k, first, count); });
        factor_.pack_upper(k);
    }
    return Attempt::accepted;
}

// Computes L in some rows, which may be copied before. Returns whether it is bounded.
template <class T> bool DelayedPivoting<T>::solve_and_check(Front const& front, Index first, Index count,
                                                            bool backs_up, SolveRows solve) const {
    LuBackup<T>& backup = front.saved.backup;
    auto const most = static_cast<Real<T>>(rules_.growth);
    bool const copied = backs_up && backup.save_rows(factor_.below(front.k), first, count, most);
    Index const counted = std::clamp<Index>(front.rows - first, 0, count);
    Real<T> const largest = solve(backs_up && !copied ? 0 : counted);
    if (copied && counted == count) backup.drop_rows(first, largest);
    return largest <= most;
}

// The panel has the columns of the cblk only.
template <class T> PivotStats DelayedPivoting<T>::delay_in_place(Front const& front, Attempt attempt,
                                                                 DelayedPanel<T>& panel) const {
    CblkId const k = front.k;
    assembly_.number_own(k, panel);
    if (attempt == Attempt::postponed) {
        SummedPivots<T>& pivots = front.saved.pivots;
        auto const perm = std::as_const(factor_).perm(k);
        pivots.rows.assign(perm.begin(), perm.end());
        if (form_.has_d())
            std::ranges::copy(std::as_const(factor_).off_diagonal(k), panel.all_off_diagonal().begin());
        front.pivots.after_leading(panel, pivots);
        if (eliminate_rows(front, panel)) return front.pivots.finish(panel, pivots);
    }
    restore(front, attempt);
    front.saved.pivots.restart(panel.columns(), form_);
    return front.pivots.finish(panel, front.saved.pivots);
}

// The panel also has columns that arrive.
template <class T>
PivotStats DelayedPivoting<T>::delay_in_larger(Front const& front, DelayedPanel<T>& panel) const {
    SummedPivots<T>& pivots = front.saved.pivots;
    bool const restarts = can_restart(form_, front.rows);
    assembly_.assemble_summed(front.k, front.workspace, panel);
    if (restarts) {
        if (front.pivots.from_summed_rows(panel, front.division, pivots) && eliminate_rows(front, panel))
            return front.pivots.finish(panel, pivots);
        assembly_.assemble_summed(front.k, front.workspace, panel);
    }
    pivots.restart(panel.columns(), form_);
    (void)eliminate_rows(front, panel); // without pivots, this only assembles them
    return restarts ? front.pivots.finish(panel, pivots) : front.pivots.eliminate_all(panel, front.division);
}

// Assembles and eliminates the rows below, block by block while they are in the cache. Returns false if L is
// not bounded; then U has not changed.
template <class T> bool DelayedPivoting<T>::eliminate_rows(Front const& front, DelayedPanel<T>& panel) const {
    SummedPivots<T> const& pivots = front.saved.pivots;
    ColumnMoves& moves = front.saved.moves;
    Index const own = assembly_.num_own(front.k, panel);
    moves.find(pivots.column_order(), own);
    std::atomic<bool> is_bounded = true;
    front.for_all_rows([&](Index first, Index count) {
        for_each_row_block<T>(count, [&](Index at, Index rows) {
            auto const solve = [&](Index counted) {
                assembly_.place_rows_of_l(front.k, moves, first + at, rows, panel);
                return front.pivots.eliminate_rows_of_l(panel, pivots, first + at, rows, counted);
            };
            if (!solve_and_check(front, first + at, rows, form_.has_upper() && own == 0, solve))
                is_bounded = false;
        });
    });
    if (!is_bounded || !form_.has_upper()) return is_bounded;
    if (own > 0) assembly_.add_upper(front.k, front.workspace, panel);
    moves.find_rotated(pivots.rows, factor_.cblk(front.k).width());
    front.for_all_rows([&](Index first, Index count) {
        for_each_row_block<T>(count, [&](Index at, Index rows) {
            assembly_.place_rows_of_u(moves, first + at, rows, panel);
            front.pivots.eliminate_rows_of_u(panel, pivots, first + at, rows);
        });
    });
    return true;
}

// Restores the panel after an attempt that has failed. It has not changed U in the rows below.
template <class T> void DelayedPivoting<T>::restore(Front const& front, Attempt attempt) const {
    auto const& [backup, pivots, moves] = front.saved;
    MatrixView<T> const panel = factor_.lower(front.k);
    bool const has_rows = attempt != Attempt::diagonal_failed; // they were overwritten
    if (form_.has_upper()) return backup.restore(panel, pivots.eliminated, pivots.columns, has_rows);
    auto const off_diagonal = std::as_const(factor_).off_diagonal(front.k).first(pivots.eliminated);
    restore_ldl<T>(form_.conjugate(), panel, std::as_const(factor_).perm(front.k), off_diagonal, has_rows,
                   front.workspace.scaled);
}

template <class T> DelayedPanel<T>& DelayedPivoting<T>::make_panel(Index columns, Index rows_below, T* lower,
                                                                   T* upper, WorkerId worker) {
    DelayedMemory& memory = factor_.delayed_memory(worker);
    return *std::construct_at(memory.describe<DelayedPanel<T>>(1).data(), columns, rows_below, lower, upper,
                              memory);
}

template <class T> DelayedPanel<T>& DelayedPivoting<T>::in_place(CblkId k, WorkerId worker) {
    MatrixView<T> const lower = factor_.lower(k);
    return make_panel(lower.cols, factor_.cblk(k).rows_below(), lower.data,
                      form_.has_upper() ? factor_.upper(k).data : nullptr, worker);
}

// U stays in its place if its columns that arrive fit before it, in the place of L.
template <class T> DelayedPanel<T>& DelayedPivoting<T>::larger(CblkId k, WorkerId worker, Index columns) {
    Index const rows_below = factor_.cblk(k).rows_below(), lower = columns * (columns + rows_below);
    Index const before = rows_below * (columns - factor_.cblk(k).width());
    bool const stays = form_.has_upper() && before <= factor_.lower(k).rows * factor_.lower(k).cols;
    Index const entries = lower + (form_.has_upper() && !stays ? columns * rows_below : 0);
    auto const bytes = static_cast<std::uint64_t>(entries) * sizeof(T);
    std::uint64_t const panels = bytes_ += bytes;
    require_memory(panels + received_bytes_, bytes);
    T* const memory = factor_.delayed_memory(worker).template take<T>(entries);
    T* const upper = stays ? factor_.upper(k).data - before : form_.has_upper() ? memory + lower : nullptr;
    return make_panel(columns, rows_below, memory, upper, worker);
}

// Throws Error{out_of_memory} if delayed columns may not have `bytes`, of which `more` must be allocated.
template <class T> void DelayedPivoting<T>::require_memory(std::uint64_t bytes, std::uint64_t more) const {
    bool const exceeds_limit = bytes > rules_.most_bytes;
    if (exceeds_limit || (more >= large_panel && more > available_memory_bytes()))
        throw Error(
            Status::out_of_memory,
            fmt::format("panels with delayed columns need at least {} bytes{}, {}; static pivots need none",
                        bytes, structure_.is_part() ? " on one process" : "",
                        exceeds_limit ? fmt::format("but the limit leaves {}", rules_.most_bytes)
                                      : "which are not available"));
}

template <class T>
Block DelayedPivoting<T>::complete(CblkId ghost, Block&& sum, UpdateWorkspace<T>& workspace) const {
    if (assembly_.num_left_by_children(ghost) == 0) return std::move(sum);
    std::vector<CblkId> const cblks = assembly_.children(ghost);
    std::size_t const bytes = left_over_bytes(factor_, cblks, workspace);
    require_memory(bytes_ + received_bytes_ + bytes, bytes);
    return append_left_over(factor_, cblks, std::move(sum), bytes, workspace);
}

template <class T> void DelayedPivoting<T>::receive(FanInBlock const& block, std::span<BlockRows const> rows,
                                                    std::span<std::byte const> part) {
    if (part.empty()) return;
    std::uint64_t const received = received_bytes_ += part.size();
    require_memory(bytes_ + received, part.size());
    assembly_.receive(block.target, block.from, ReceivedColumns<T>(part, rows, form_.has_upper()));
}

ESPALIER_INSTANTIATE_CLASS(DelayedPivoting)

} // namespace espalier
