#include "factor/kernel_family.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/triangular.hpp"

namespace espalier {

namespace {

// Names the unknown of a column of cblk k in messages.
template <class T> std::string describe_unknown(Factor<T> const& factor, CblkId k, Index column) {
    DelayedPanel<T> const* const delayed = factor.delayed(k);
    Index number = factor.cblk(k).first_col + column;
    if (delayed)
        number = delayed->column_numbers()[column];
    else if (factor.form().has_d())
        number = factor.cblk(k).first_col + factor.perm(k)[column];
    return fmt::format("row and column {} of the matrix (counted from 1)", factor.unknown_of(number) + 1);
}

} // namespace

template <class T> void require_pivots(Factor<T> const& factor, CblkId k, PivotStats const& stats) {
    Index const column = stats.zero_column;
    if (column < 0) return;
    std::string const where = describe_unknown(factor, k, column);
    bool const is_coupled = factor.form().has_d() && !is_finite(factor.off_diagonal(k)[column]);
    if (is_finite(factor.diagonal(k)(column, column)) && !is_coupled)
        throw Error(Status::singular, fmt::format("the matrix is singular: zero pivot at {}", where));
    throw Error(Status::inaccurate,
                fmt::format("the factorization overflows: the pivot at {} is not finite; scale the matrix{}",
                            where, sizeof(Real<T>) < sizeof(double) ? " or use double precision" : ""));
}

template <class T>
PivotStats KernelFamily<T>::factorize_diagonal(CblkId k, Real<T> threshold, BlockDivision const* division) {
    PivotStats const stats = try_diagonal(k, threshold, division);
    require_pivots(factor_, k, stats);
    return stats;
}

template <class T> PivotStats KernelFamily<T>::factorize_panel(CblkId k, Real<T> threshold) {
    PivotStats const stats = factorize_diagonal(k, threshold);
    solve_rows(k, 0, factor_.cblk(k).rows_below());
    return stats;
}

template <class T>
void KernelFamily<T>::update(FacingGroup const& group, UpdateWorkspace<T>& workspace, RowWindow window) {
    if (factor_.below(group.source).cols == 0) return; // all columns of the source are delayed
    UpdateTarget<T> target{{factor_.lower(group.target), 0}, {}};
    if (factor_.form().has_upper())
        target.upper = {factor_.upper(group.target), factor_.cblk(group.target).width()};
    update(group, workspace, window, target);
}

template <class T> void KernelFamily<T>::update_all(CblkId k, CblkId last_target,
                                                    UpdateWorkspace<T>& workspace, Interrupt* interrupt) {
    BlockStructure const& structure = factor_.structure();
    Cblk const& cblk = factor_.cblk(k);
    for (BlokId b = cblk.first_blok + 1; b < cblk.end_blok;) {
        FacingGroup const group = facing_group(structure, k, b);
        if (group.target > last_target) return;
        check(interrupt);
        update(group, workspace);
        b = group.end;
    }
}

namespace {

template <class T> MatrixView<T> rows_of(MatrixView<T> view, Index first, Index count) {
    return view.block(first, 0, count, view.cols);
}

template <class T> PanelRows<T const> panel_rows(MatrixView<T> view, Index first_row = 0) {
    return {view, first_row};
}

// A = L L^H or L L^T.
template <class T> class CholeskyFamily final : public KernelFamily<T> {
  public:
    using KernelFamily<T>::KernelFamily, KernelFamily<T>::conjugate_, KernelFamily<T>::factor_,
        KernelFamily<T>::op_;

    PivotStats try_diagonal(CblkId k, Real<T>, BlockDivision const* division) override {
        Index const failed = factor_cholesky<T>(conjugate_, factor_.diagonal(k), division);
        if (failed >= 0)
            throw Error(
                Status::not_positive_definite,
                fmt::format(
                    "the matrix is not positive definite: {} meets a pivot that is not positive at {}",
                    to_string(factor_.form().kind), describe_unknown(factor_, k, failed)));
        return {};
    }

    // L21 = A21 L11^-H
    Real<T> solve_rows_of_l(CblkId k, Index first, Index count, Index) override {
        solve_right<T>(op_, Diag::non_unit, factor_.diagonal(k), rows_of(factor_.below(k), first, count));
        return 0;
    }

    // A(r, c) -= L(r, k) L(c, k)^H
    void update(FacingGroup const& group, UpdateWorkspace<T>& workspace, RowWindow window,
                UpdateTarget<T> const& target) override {
        if (!find_row_runs(factor_.structure(), group, window, workspace)) return;
        auto const source = panel_rows<T>(factor_.below(group.source), factor_.cblk(group.source).width());
        subtract_contribution<T>(factor_.structure(), group, source, source, op_, RowsFrom::column,
                                 target.lower, workspace);
    }
};

// P A P^T = L D L^H or L D L^T, P local to each diagonal block.
template <class T> class LdlFamily final : public KernelFamily<T> {
  public:
    using KernelFamily<T>::KernelFamily, KernelFamily<T>::conjugate_, KernelFamily<T>::factor_,
        KernelFamily<T>::op_;

    PivotStats try_diagonal(CblkId k, Real<T> threshold, BlockDivision const* division) override {
        return factor_ldl<T>(conjugate_, factor_.diagonal(k), factor_.perm(k), factor_.off_diagonal(k),
                             threshold, division);
    }

    // L21 = A21 P^T L11^-H D^-1
    Real<T> solve_rows_of_l(CblkId k, Index first, Index count, Index counted) override {
        return solve_panel_ldl<T>(conjugate_, factor_.diagonal(k), factor_.perm(k), factor_.off_diagonal(k),
                                  rows_of(factor_.below(k), first, count), counted);
    }

    // A(r, c) -= L(r, k) (L(c, k) D)^H
    void update(FacingGroup const& group, UpdateWorkspace<T>& workspace, RowWindow window,
                UpdateTarget<T> const& target) override {
        if (!find_row_runs(factor_.structure(), group, window, workspace)) return;
        auto const source = factor_.below(group.source);
        Index const width = factor_.cblk(group.source).width();
        Blok const& last = factor_.structure().blok(group.end - 1);
        Index const first_row = factor_.structure().blok(group.first).panel_row;
        Index const rows = last.panel_row + last.height() - first_row;
        if (std::ssize(workspace.scaled) < rows * source.cols) workspace.scaled.resize(rows * source.cols);
        MatrixView<T> const scaled{workspace.scaled.data(), rows, source.cols, rows};
        multiply_by_d<T>(conjugate_, factor_.diagonal(group.source),
                         std::as_const(factor_).off_diagonal(group.source),
                         rows_of(source, first_row - width, rows), scaled);
        subtract_contribution<T>(factor_.structure(), group, panel_rows<T>(source, width),
                                 panel_rows<T>(scaled, first_row), op_, RowsFrom::column, target.lower,
                                 workspace);
    }
};

// P A = L U, P local to each diagonal block; the rest of U is stored transposed.
template <class T> class LuFamily final : public KernelFamily<T> {
  public:
    using KernelFamily<T>::KernelFamily, KernelFamily<T>::factor_;

    PivotStats try_diagonal(CblkId k, Real<T> threshold, BlockDivision const* division) override {
        PivotStats const stats = factor_lu<T>(factor_.diagonal(k), factor_.perm(k), threshold, division);
        factor_.pack_upper(k);
        return stats;
    }

    // L21 = A21 U11^-1 and U12^T = (P A12)^T L11^-T
    Real<T> solve_rows_of_l(CblkId k, Index first, Index count, Index counted) override {
        return solve_panel_lu<T>(factor_.diagonal(k), rows_of(factor_.below(k), first, count), counted);
    }
    void solve_rows_of_u(CblkId k, Index first, Index count) override {
        auto const upper = rows_of(factor_.upper(k), first, count);
        permute_columns<T>(upper, factor_.perm(k));
        solve_right<T>(Op::transpose, Diag::unit, factor_.diagonal(k), upper);
    }

    // A(r, c) -= L(r, k) U(k, c) and, transposed, A(c, r)^T -= U(k, r)^T L(c, k)^T
    void update(FacingGroup const& group, UpdateWorkspace<T>& workspace, RowWindow window,
                UpdateTarget<T> const& target) override {
        if (!find_row_runs(factor_.structure(), group, window, workspace)) return;
        Index const width = factor_.cblk(group.source).width();
        auto const lower = panel_rows<T>(factor_.below(group.source), width);
        auto const upper = panel_rows<T>(factor_.upper(group.source), width);
        subtract_contribution<T>(factor_.structure(), group, lower, upper, Op::transpose,
                                 RowsFrom::group_begin, target.lower, workspace);
        subtract_contribution<T>(factor_.structure(), group, upper, lower, Op::transpose, RowsFrom::group_end,
                                 target.upper, workspace);
    }
};

} // namespace

template <class T> std::unique_ptr<KernelFamily<T>> make_kernel_family(Factor<T>& factor) {
    if (factor.form().has_upper()) return std::make_unique<LuFamily<T>>(factor);
    if (factor.form().has_d()) return std::make_unique<LdlFamily<T>>(factor);
    return std::make_unique<CholeskyFamily<T>>(factor);
}

ESPALIER_INSTANTIATE_CLASS(KernelFamily)
ESPALIER_INSTANTIATE_FUNCTION(require_pivots)
ESPALIER_INSTANTIATE_FUNCTION(make_kernel_family)

} // namespace espalier
