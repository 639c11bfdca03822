#include "factor/delayed_pivoting.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "factor/panel_pivots.hpp"
#include "kernels/product.hpp"
#include "kernels/threshold.hpp"
#include "runtime/process_limits.hpp"

namespace espalier {

namespace {

// The available memory is checked for panels from this size on, because asking the system takes some
// microseconds.
constexpr std::uint64_t large_panel = std::uint64_t{16} << 20;

// Whether other pivots may be chosen after an attempt. LDL interchanges rows and columns in any case. LU
// first interchanges only rows, so that a column of zeros takes the row of another column.
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
            most_saved_ = std::max(most_saved_, factor.lower(k).rows * factor.lower(k).cols * sizeof(T));
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
    Front const front{
        k, saved_[worker], workspace, division, for_all_rows, rows, {form_, rules_, threshold_, rows}};
    PivotStats stats;
    Panel panel;
    if (arriving == 0) {
        if (Saved& saved = front.saved; form_.has_upper()) {
            if (saved.memory.empty()) saved.memory = Arena(most_saved_, Allocation::local);
            saved.backup.save_diagonal(factor_.lower(k), saved.memory.template as<T>().data());
        }
        ThresholdPivots found;
        Attempt const attempt = try_static(front, found);
        if (attempt == Attempt::accepted) return found.stats;
        panel = in_place(k);
        stats = delay_in_place(front, attempt, found, *panel);
    } else {
        panel = larger(k, worker, factor_.cblk(k).width() + arriving);
        stats = delay_in_larger(front, *panel);
        received_bytes_ -= assembly_.forget_received(k);
    }
    factor_.set_delayed(k, std::move(panel), worker);
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

// For ldl, columns without a pivot are postponed, so that the work on the others is not lost if there are
// any. Without such columns the result is that of static pivots.
template <class T> ThresholdPivots DelayedPivoting<T>::try_diagonal(Front const& front) {
    CblkId const k = front.k;
    if (form_.has_d())
        return factor_ldl_leading<T>(form_.conjugate(), factor_.diagonal(k), factor_.perm(k),
                                     factor_.off_diagonal(k), threshold_, front.division);
    return {kernels_.try_diagonal(k, threshold_, front.division), factor_.cblk(k).width()};
}

// Tries pivots from the diagonal block, and checks L in the rows below that will be eliminated.
template <class T> auto DelayedPivoting<T>::try_static(Front const& front, ThresholdPivots& found)
    -> Attempt {
    CblkId const k = front.k;
    found = try_diagonal(front);
    if (found.stats.replaced > 0 || found.stats.zero_column >= 0) return Attempt::diagonal_failed;
    Index const width = factor_.cblk(k).width();
    if (found.eliminated < width) return Attempt::postponed;
    auto const most = static_cast<Real<T>>(rules_.growth);
    std::atomic<bool> is_bounded = true;
    auto const solve = [&](Index first, Index count, Index counted) {
        if (!(kernels_.solve_rows_of_l(k, first, count, counted) <= most)) is_bounded = false;
    };
    if (form_.has_d()) {
        front.for_all_rows([&](Index first, Index count) { solve(first, count, front.rows - first); });
    } else {
        LuBackup<T>& backup = front.saved.backup;
        MatrixView<T const> const below = factor_.below(k);
        backup.bound_rows(factor_.diagonal(k));
        front.for_all_rows([&](Index first, Index count) {
            for_each_row_block<T>(count, [&](Index at, Index rows) { // while they are in the cache
                bool const may_grow = backup.save_rows(below, first + at, rows, most);
                solve(first + at, rows, may_grow ? front.rows - first - at : 0);
            });
            kernels_.solve_rows_of_u(k, first, count);
        });
    }
    return is_bounded ? Attempt::accepted : Attempt::rows_failed;
}

// The panel has the columns of the cblk only.
template <class T> PivotStats DelayedPivoting<T>::delay_in_place(Front const& front, Attempt attempt,
                                                                 ThresholdPivots const& found,
                                                                 DelayedPanel<T>& panel) const {
    CblkId const k = front.k;
    panel.clear_numbers();
    assembly_.number_own(k, panel);
    if (attempt == Attempt::postponed) {
        SummedPivots<T>& pivots = front.saved.pivots;
        auto const perm = std::as_const(factor_).perm(k);
        pivots.perm.assign(perm.begin(), perm.end());
        std::ranges::copy(std::as_const(factor_).off_diagonal(k), panel.all_off_diagonal().begin());
        front.pivots.after_leading(panel, found, pivots);
        if (eliminate_rows(front, panel)) return front.pivots.finish(panel, pivots);
    }
    restore(front, attempt, found.eliminated);
    return front.pivots.from_all_rows(panel);
}

// The panel also has columns that arrive.
template <class T>
PivotStats DelayedPivoting<T>::delay_in_larger(Front const& front, DelayedPanel<T>& panel) const {
    assembly_.assemble_summed(front.k, front.workspace, panel);
    if (!can_restart(form_, front.rows)) {
        assembly_.add_own_rows(front.k, panel);
        return front.pivots.eliminate_all(panel, front.division);
    }
    if (front.pivots.from_summed_rows(panel, front.division, front.saved.pivots) &&
        eliminate_rows(front, panel))
        return front.pivots.finish(panel, front.saved.pivots);
    assembly_.assemble_summed(front.k, front.workspace, panel);
    assembly_.add_own_rows(front.k, panel);
    return front.pivots.from_all_rows(panel);
}

// Assembles and eliminates the rows below, block by block while they are in the cache. Returns false if L is
// not bounded.
template <class T> bool DelayedPivoting<T>::eliminate_rows(Front const& front, DelayedPanel<T>& panel) const {
    SummedPivots<T> const& pivots = front.saved.pivots;
    auto& moves = front.saved.moves;
    Index const own = assembly_.num_own(front.k, panel);
    std::vector<std::int32_t> in_order(form_.has_d() ? 0 : panel.columns());
    std::iota(in_order.begin(), in_order.end(), 0);
    column_moves(form_.has_d() ? pivots.perm : in_order, own, moves);
    std::atomic<bool> is_bounded = true;
    front.for_all_rows([&](Index first, Index count) {
        for_each_row_block<T>(count, [&](Index at, Index rows) {
            assembly_.place_rows_of_l(front.k, moves, first + at, rows, panel);
            if (!front.pivots.eliminate_rows_of_l(panel, pivots, first + at, rows)) is_bounded = false;
        });
    });
    if (!is_bounded || !form_.has_upper()) return is_bounded;
    column_moves(pivots.perm, own, moves);
    front.for_all_rows([&](Index first, Index count) {
        for_each_row_block<T>(count, [&](Index at, Index rows) {
            assembly_.place_rows_of_u(front.k, moves, first + at, rows, panel);
            front.pivots.eliminate_rows_of_u(panel, first + at, rows);
        });
    });
    return true;
}

// Restores the panel after an attempt that has failed, and has eliminated `pivots` columns.
template <class T> void DelayedPivoting<T>::restore(Front const& front, Attempt attempt, Index pivots) const {
    CblkId const k = front.k;
    bool const has_rows = attempt != Attempt::diagonal_failed; // they were overwritten
    if (form_.has_d()) return multiply_back(front, pivots, has_rows);
    front.saved.backup.restore(factor_.lower(k), factor_.upper(k), std::as_const(factor_).perm(k), has_rows);
}

// The columns of the panel before an attempt of ldl, whose pivoting bounds L in the diagonal block. S is what
// remains of the columns without a pivot:
//
//     [P^T  0] [L11  0] [D  0 ] [L11  0]^H
//     [ 0   I] [L21  I] [0  S1] [L21  I]   P,   without the last row if the attempt has not changed the rows
//     below
//              [L31 S3]
template <class T>
void DelayedPivoting<T>::multiply_back(Front const& front, Index pivots, bool has_rows) const {
    CblkId const k = front.k;
    MatrixView<T> const diagonal = factor_.diagonal(k), below = factor_.below(k);
    Index const width = diagonal.cols, rest = width - pivots, rows = width + (has_rows ? below.rows : 0);
    auto const perm = std::as_const(factor_).perm(k);
    auto const off_diagonal = std::as_const(factor_).off_diagonal(k).first(pivots);
    auto& memory = front.workspace.scaled;
    memory.resize(std::max<std::size_t>(memory.size(), (rows + width) * width));
    MatrixView<T> const scaled{memory.data(), rows, width, rows},
        l{scaled.data + rows * width, width, width, width};
    for (Index j = 0; j < width; ++j)
        for (Index i = 0; i < width; ++i)
            l(perm[i], j) = i > j && j < pivots ? diagonal(i, j) : T(i == j ? 1 : 0);
    MatrixView<T> const d = diagonal.block(0, 0, pivots, pivots);
    multiply_by_d<T>(form_.conjugate(), d, off_diagonal, l.block(0, 0, width, pivots), scaled);
    for (Index j = pivots; j < width; ++j)
        for (Index i = 0; i < width; ++i)
            scaled(perm[i], j) = i < pivots ? T(0)
                                 : i < j    ? conj_if(form_.conjugate(), diagonal(j, i))
                                            : diagonal(i, j);
    Op const op = form_.conjugate() ? Op::adjoint : Op::transpose;
    if (has_rows) {
        MatrixView<T> const scaled_below = scaled.block(width, 0, below.rows, width);
        multiply_by_d<T>(form_.conjugate(), d, off_diagonal, below.block(0, 0, below.rows, pivots),
                         scaled_below);
        copy_panel<T>(below.block(0, pivots, below.rows, rest), true,
                      scaled_below.block(0, pivots, below.rows, rest));
        assign_product<T>(op, scaled_below, l, below);
    }
    assign_product<T>(op, scaled.block(0, 0, width, width), l, diagonal);
}

template <class T> auto DelayedPivoting<T>::in_place(CblkId k) const -> Panel {
    MatrixView<T> const lower = factor_.lower(k);
    return std::make_unique<DelayedPanel<T>>(lower.cols, factor_.cblk(k).rows_below(), form_.has_upper(),
                                             lower.data);
}

template <class T> auto DelayedPivoting<T>::larger(CblkId k, WorkerId worker, Index columns) -> Panel {
    Index const rows_below = factor_.cblk(k).rows_below();
    auto const entries = DelayedPanel<T>::entries(columns, rows_below, form_.has_upper());
    auto const bytes = static_cast<std::uint64_t>(entries) * sizeof(T);
    std::uint64_t const panels = bytes_ += bytes;
    require_memory(panels + received_bytes_, bytes);
    T* const memory = factor_.delayed_memory(worker).template take<T>(entries);
    return std::make_unique<DelayedPanel<T>>(columns, rows_below, form_.has_upper(), memory);
}

// Throws Error{out_of_memory} if delayed columns may not have `bytes`, of which `more` must be allocated.
template <class T> void DelayedPivoting<T>::require_memory(std::uint64_t bytes, std::uint64_t more) const {
    bool const exceeds_limit = bytes > rules_.most_bytes;
    if (exceeds_limit || (more >= large_panel && more > available_memory_bytes()))
        throw Error(
            Status::out_of_memory,
            fmt::format("panels with delayed columns need {} bytes or more{}, {}; static pivots need none",
                        bytes, structure_.is_part() ? " in a process" : "",
                        exceeds_limit ? fmt::format("and the limit leaves {} for them", rules_.most_bytes)
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
