#include "factor/delayed_pivoting.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "factor/panel_pivots.hpp"
#include "kernels/pivot_search.hpp"
#include "kernels/product.hpp"
#include "kernels/threshold.hpp"
#include "runtime/process_limits.hpp"

namespace espalier {

namespace {

// The available memory is checked for panels from this size on, because asking the system takes some
// microseconds.
constexpr std::uint64_t large_panel = std::uint64_t{16} << 20;

// Copies the lower trapezoid, or all entries if `whole`.
template <class T> void copy_panel(MatrixView<T const> from, bool whole, MatrixView<T> to) {
    for (Index j = 0; j < from.cols; ++j) {
        Index const first = whole ? 0 : j;
        std::copy(from.column(j) + first, from.column(j) + from.rows, to.column(j) + first);
    }
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
      threshold_(threshold), first_child_(structure_.cblks.size(), no_cblk),
      next_sibling_(structure_.cblks.size(), no_cblk), saved_(workers),
      received_(structure_.is_part() ? structure_.cblks.size() : 0) {
    for (CblkId k = structure_.num_cblks() - 1; k >= 0; --k)
        if (CblkId const parent = factor.cblk(k).parent; parent != no_cblk)
            next_sibling_[k] = std::exchange(first_child_[parent], k);
    for (CblkId k = 0; k < structure_.num_cblks(); ++k)
        if (factor.has_panel(k))
            most_saved_ = std::max(most_saved_, overwritten(k).rows * overwritten(k).cols * sizeof(T));
}

template <class T>
PivotStats DelayedPivoting<T>::factorize(CblkId k, WorkerId worker, UpdateWorkspace<T>& workspace,
                                         BlockDivision const* division, Solve const& solve) {
    Index const from_children = num_left_by_children(k), arriving = from_children + num_received(k);
    Index const rows = rows_of_interior(k), width = factor_.cblk(k).width();
    MatrixView<T> from = factor_.lower(k);
    // LDL interchanges rows and columns anyway. LU first interchanges only rows, so that a column of zeros
    // takes the row of another column.
    bool const may_restart = rows > 0 || form_.has_upper();
    auto attempt = Attempt::diagonal_failed;
    ThresholdPivots found;
    if (arriving == 0) {
        if (!may_restart) {
            PivotStats const stats = kernels_.factorize_diagonal(k, threshold_, division);
            solve(&KernelFamily<T>::solve_rows);
            return stats;
        }
        Saved& saved = saved_[worker];
        save(k, saved);
        attempt = try_static(k, rows, division, solve, found);
        if (attempt == Attempt::accepted) return found.stats;
        from = saved.panel;
    }
    auto panel = allocate(k, worker, width + arriving);
    auto const assemble = [&] {
        panel->clear(width);
        // for ldl only the diagonal block was saved
        MatrixView<T> const own = form_.has_d() ? factor_.lower(k) : from;
        add_diagonal(k, from.block(0, 0, width, width), *panel);
        if (attempt == Attempt::rows_failed && form_.has_d())
            restore_rows(k, workspace, *panel);
        else
            add_rows(k, own.block(width, 0, own.rows - width, width), *panel);
        add_children(k, width, workspace, *panel);
        add_received(k, width + from_children, *panel);
    };
    PanelPivots<T> const pivots(form_, rules_, threshold_, rows);
    // A failed attempt would fail again. Only divided attempts of LDL do not skip the columns for which they fail.
    bool const tries_summed_rows =
        arriving > 0 || (attempt == Attempt::diagonal_failed && form_.has_d() && division != nullptr);
    PivotStats stats;
    bool done = false;
    if (attempt == Attempt::postponed) {
        copy_attempt(k, *panel);
        done = pivots.after_leading(*panel, found, factor_.perm(k), stats);
    } else if (tries_summed_rows && may_restart) {
        assemble();
        done = pivots.from_summed_rows(*panel, stats);
    }
    if (!done) {
        assemble();
        stats = may_restart ? pivots.from_all_rows(*panel) : pivots.eliminate_all(*panel);
    }
    forget_received(k);
    factor_.set_delayed(k, std::move(panel), worker);
    require_pivots(factor_, k, stats);
    return stats;
}

template <class T> std::vector<CblkId> DelayedPivoting<T>::children(CblkId k) const {
    std::vector<CblkId> all;
    for (CblkId child = first_child_[k]; child != no_cblk; child = next_sibling_[child]) all.push_back(child);
    return all;
}

template <class T> Index DelayedPivoting<T>::num_left_by_children(CblkId k) const {
    Index sum = 0;
    for (CblkId child = first_child_[k]; child != no_cblk; child = next_sibling_[child])
        if (DelayedPanel<T> const* const panel = factor_.delayed(child)) sum += panel->left();
    return sum;
}

template <class T> Index DelayedPivoting<T>::num_received(CblkId k) const {
    Index sum = 0;
    if (!received_.empty())
        for (Received const& one : received_[k]) sum += one.columns.count();
    return sum;
}

// The number of rows below cblk k that will be eliminated. They come before those of a Schur complement. If
// there are none, no ancestor can eliminate delayed columns.
template <class T> Index DelayedPivoting<T>::rows_of_interior(CblkId k) const {
    Index rows = 0;
    for (Blok const& blok : structure_.bloks_below(factor_.cblk(k)))
        if (!structure_.is_kept(blok.facing_cblk)) rows += blok.height();
    return rows;
}

template <class T> MatrixView<T> DelayedPivoting<T>::overwritten(CblkId k) const {
    return form_.has_upper() ? factor_.lower(k) : factor_.diagonal(k);
}

template <class T> void DelayedPivoting<T>::save(CblkId k, Saved& saved) const {
    MatrixView<T> const lower = overwritten(k);
    if (saved.memory.empty()) saved.memory = Arena(most_saved_, Allocation::local);
    saved.panel = {saved.memory.template as<T>().data(), lower.rows, lower.cols, lower.rows};
    copy_panel<T>(lower, form_.has_upper(), saved.panel);
}

// For ldl, columns without a pivot are postponed, so that the work on the others is not lost if there are any. Without
// such columns the result is that of static pivots.
template <class T> ThresholdPivots DelayedPivoting<T>::try_diagonal(CblkId k, BlockDivision const* division) {
    if (form_.has_d() && !division)
        return factor_ldl_leading<T>(form_.conjugate(), factor_.diagonal(k), factor_.perm(k), factor_.off_diagonal(k),
                                     threshold_);
    return {kernels_.try_diagonal(k, threshold_, division), factor_.cblk(k).width()};
}

// Tries pivots from the diagonal block, and checks L in the first `rows` rows below.
template <class T> auto DelayedPivoting<T>::try_static(CblkId k, Index rows, BlockDivision const* division,
                                                       Solve const& solve, ThresholdPivots& found) -> Attempt {
    found = try_diagonal(k, division);
    if (found.stats.replaced > 0 || found.stats.zero_column >= 0) return Attempt::diagonal_failed;
    if (found.eliminated < factor_.cblk(k).width()) return Attempt::postponed;
    solve(&KernelFamily<T>::solve_rows_of_l);
    MatrixView<T> const below = factor_.below(k);
    auto const most = static_cast<Real<T>>(rules_.growth);
    for (Index j = 0; j < below.cols; ++j)
        if (!(largest_size(below.column(j), rows) <= most)) return Attempt::rows_failed;
    solve(&KernelFamily<T>::solve_rows_of_u);
    return Attempt::accepted;
}

template <class T> std::unique_ptr<DelayedPanel<T>> DelayedPivoting<T>::allocate(CblkId k, WorkerId worker, Index columns) {
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
        throw Error(Status::out_of_memory,
                    fmt::format("panels with delayed columns need {} bytes or more{}, {}; static pivots need none",
                                bytes, structure_.is_part() ? " in a process" : "",
                                exceeds_limit
                                    ? fmt::format("and the limit leaves {} for them", rules_.most_bytes)
                                    : "which are not available"));
}

// Adds the diagonal block. The columns of the cblk itself come first.
template <class T> void DelayedPivoting<T>::add_diagonal(CblkId k, MatrixView<T const> diagonal,
                                                         DelayedPanel<T>& panel) const {
    copy_panel<T>(diagonal, form_.has_upper(), panel.lower().block(0, 0, diagonal.rows, diagonal.cols));
    for (Index col = factor_.cblk(k).first_col; col < factor_.cblk(k).end_col; ++col) panel.append(col, col);
}

template <class T>
void DelayedPivoting<T>::add_rows(CblkId k, MatrixView<T const> below, DelayedPanel<T>& panel) const {
    copy_panel<T>(below, true, panel.lower().block(panel.columns(), 0, below.rows, below.cols));
    if (form_.has_upper())
        copy_panel<T>(factor_.upper(k), true, panel.whole_upper().block(0, 0, below.rows, below.cols));
}

// Copies the results of an attempt that has postponed columns, and the rows below, which it does not change.
template <class T> void DelayedPivoting<T>::copy_attempt(CblkId k, DelayedPanel<T>& panel) const {
    MatrixView<T> const own = factor_.lower(k);
    panel.clear(own.cols);
    add_diagonal(k, factor_.diagonal(k), panel);
    add_rows(k, own.block(own.cols, 0, own.rows - own.cols, own.cols), panel);
    std::ranges::copy(std::as_const(factor_).off_diagonal(k), panel.all_off_diagonal().begin());
}

// Restores A21 = L21 D L11^H P (or L11^T) after an attempt. Row perm[j] of L11^H P is row j of L11.
template <class T> void DelayedPivoting<T>::restore_rows(CblkId k, UpdateWorkspace<T>& workspace,
                                                         DelayedPanel<T>& panel) const {
    MatrixView<T> const diagonal = factor_.diagonal(k), below = factor_.below(k);
    Index const width = diagonal.cols;
    auto const perm = std::as_const(factor_).perm(k);
    workspace.scaled.resize(std::max<std::size_t>(workspace.scaled.size(), (below.rows + width) * width));
    MatrixView<T> const scaled{workspace.scaled.data(), below.rows, width, std::max<Index>(1, below.rows)};
    MatrixView<T> const l{scaled.data + below.rows * width, width, width, width};
    for (Index j = 0; j < width; ++j)
        for (Index i = 0; i < width; ++i) l(perm[i], j) = i > j ? diagonal(i, j) : T(i == j ? 1 : 0);
    multiply_by_d<T>(form_.conjugate(), diagonal, std::as_const(factor_).off_diagonal(k), below, scaled);
    assign_product<T>(form_.conjugate() ? Op::adjoint : Op::transpose, scaled, l,
                      panel.lower().block(panel.columns(), 0, below.rows, width));
}

// Inserts columns left over as the columns from `at` on. `runs` are their rows below as rows of cblk k.
template <class T>
void DelayedPivoting<T>::add_columns(CblkId k, LeftOver<T> const& from, std::span<RowRun const> runs, Index at,
                                     DelayedPanel<T>& panel) const {
    Index const width = factor_.cblk(k).width(), left = from.square.cols;
    MatrixView<T> const to = panel.lower();
    copy_panel<T>(from.square, form_.has_upper(), to.block(at, at, left, left));
    for (Index j = 0; j < left; ++j) {
        T const* const column = from.below.column(j);
        T const* const row = form_.has_upper() ? from.upper.column(j) : nullptr;
        for (RowRun const& run : runs)
            for (Index i = 0; i < run.height; ++i) {
                Index const source = run.source_row + i, target = run.target_row + i;
                if (target >= width) {
                    to(panel.columns() + target - width, at + j) = column[source];
                    if (row) panel.whole_upper()(target - width, at + j) = row[source];
                } else if (row) {
                    to(target, at + j) = column[source];
                    to(at + j, target) = row[source];
                } else {
                    to(at + j, target) = conj_if(form_.conjugate(), column[source]);
                }
            }
    }
}

template <class T>
void DelayedPivoting<T>::add_children(CblkId k, Index at, UpdateWorkspace<T>& workspace,
                                      DelayedPanel<T>& panel) const {
    for (CblkId child = first_child_[k]; child != no_cblk; child = next_sibling_[child]) {
        DelayedPanel<T> const* const from = factor_.delayed(child);
        if (!from || from->left() == 0) continue;
        add_columns(k, from->left_over(), rows_in_parent(structure_, child, workspace), at, panel);
        for (Index j = from->pivots(); j < from->columns(); ++j)
            panel.append(from->row_numbers()[j], from->column_numbers()[j]);
        at += from->left();
    }
}

template <class T> void DelayedPivoting<T>::add_received(CblkId k, Index at, DelayedPanel<T>& panel) const {
    if (received_.empty()) return;
    for (Received const& one : received_[k]) {
        for (auto const& source : one.columns.sources()) {
            add_columns(k, source.columns, source.runs, at, panel);
            at += source.columns.square.cols;
        }
        for (Index i = 0; i < one.columns.count(); ++i) panel.append(one.first_number + i, one.first_number + i);
    }
}

template <class T> void DelayedPivoting<T>::forget_received(CblkId k) {
    if (received_.empty()) return;
    for (Received const& one : std::exchange(received_[k], {})) received_bytes_ -= one.columns.bytes();
}

template <class T>
Block DelayedPivoting<T>::complete(CblkId ghost, Block&& sum, UpdateWorkspace<T>& workspace) const {
    if (num_left_by_children(ghost) == 0) return std::move(sum);
    std::vector<CblkId> const cblks = children(ghost);
    std::size_t const bytes = left_over_bytes(factor_, cblks, workspace);
    require_memory(bytes_ + received_bytes_ + bytes, bytes);
    return append_left_over(factor_, cblks, std::move(sum), bytes, workspace);
}

template <class T>
void DelayedPivoting<T>::receive(FanInBlock const& block, std::span<BlockRows const> rows,
                                 std::span<std::byte const> part) {
    if (part.empty()) return;
    std::uint64_t const received = received_bytes_ += part.size();
    require_memory(bytes_ + received, part.size());
    ReceivedColumns<T> columns(part, rows, form_.has_upper());
    Index const first = factor_.add_arrived(block.target, block.from, columns.unknowns());
    auto& all = received_[block.target];
    auto const place = std::ranges::upper_bound(all, block.from, {}, &Received::from);
    all.insert(place, {block.from, first, std::move(columns)});
}

ESPALIER_INSTANTIATE_CLASS(DelayedPivoting)

} // namespace espalier
