#include "solve/selected_inverse.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/blas.hpp"
#include "kernels/panel.hpp"
#include "kernels/product.hpp"
#include "policies/nas_policy.hpp"
#include "solve/solve.hpp"

namespace espalier {

namespace {

// Idle workers compute pieces of a product with at least this many columns and this many multiplications.
constexpr Index columns_of_piece = 32;
constexpr double flops_of_piece = 2e6;

// The rows below a cblk that face one other cblk.
struct FacingRows {
    CblkId facing = no_cblk;
    std::span<Blok const> bloks; // from the first of these rows on, to the end of the panel
    Index first = 0;             // counted from the first row below the diagonal block
    Index count = 0;
};

// Calls visit(rows) for the rows below cblk c, by facing cblks.
template <class Visit>
void for_each_facing(BlockStructure const& structure, Cblk const& c, Visit const& visit) {
    auto const bloks = structure.bloks_below(c);
    for (std::size_t b = 0; b < bloks.size();) {
        FacingRows rows{bloks[b].facing_cblk, bloks.subspan(b), bloks[b].panel_row - c.width(), 0};
        for (; b < bloks.size() && bloks[b].facing_cblk == rows.facing; ++b) rows.count += bloks[b].height();
        visit(rows);
    }
}

struct InverseWorkspace {
    Index rows = 0;   // the most rows below a cblk
    Index square = 0; // the most columns of a cblk, squared
    Index panel = 0;  // the largest product of rows below and columns
    Index block = 0;  // the largest product of rows below a cblk and columns of a cblk that it faces
};

InverseWorkspace workspace_for(BlockStructure const& structure) {
    InverseWorkspace most;
    for (Cblk const& c : structure.cblks) {
        most.rows = std::max(most.rows, c.rows_below());
        most.square = std::max(most.square, c.width() * c.width());
        most.panel = std::max(most.panel, c.rows_below() * c.width());
        for_each_facing(structure, c, [&](FacingRows const& rows) {
            most.block = std::max(most.block, (c.rows_below() - rows.first) * rows.count);
        });
    }
    return most;
}

Index entries_of(InverseWorkspace const& most, FactorForm form) {
    Index const sides = form.has_upper() ? 2 : 1;
    return sides * (most.panel + most.block) + most.square;
}

// The task of a cblk follows that of its parent.
TaskGraph top_down_tasks(BlockStructure const& structure) {
    CblkId const last = structure.num_cblks() - 1; // tasks are numbered from the root down
    TaskGraph graph;
    std::vector<TaskEdge> edges;
    graph.cost.resize(structure.cblks.size());
    for (CblkId k = 0; k <= last; ++k) {
        Cblk const& c = structure.cblk(k);
        graph.cost[last - k] = static_cast<double>(c.stride) * static_cast<double>(c.stride * c.width());
        if (c.parent != no_cblk) edges.push_back({last - c.parent, last - k});
    }
    std::ranges::sort(edges, {}, &TaskEdge::to);
    connect_tasks(graph, last + 1, edges);
    graph.priority = longest_paths(graph);
    return graph;
}

template <class T> class Inversion {
  public:
    Inversion(Factor<T> const& factor, Factor<T> const& inverse, WorkerTeam& team, Interrupt* interrupt)
        : factor_(factor), inverse_(inverse), structure_(factor.structure()), form_(factor.form()),
          op_(form_.conjugate() ? Op::adjoint : Op::transpose), team_(team), interrupt_(interrupt),
          most_(workspace_for(structure_)), memory_(team.size()) {}

    void run() {
        TaskGraph const graph = top_down_tasks(structure_);
        NasPolicy policy(graph, PolicyMachine(team_.node_of_worker()));
        RunOptions options;
        options.interrupt = interrupt_;
        team_.for_each_worker([this](WorkerId worker) {
            memory_[worker] = std::make_unique_for_overwrite<T[]>(entries_of(most_, form_));
        });
        CblkId const last = structure_.num_cblks() - 1;
        team_.run(graph, policy, [&](TaskId task, WorkerId worker) { invert(last - task, worker); }, options);
    }

  private:
    // The workspace of a worker: S, for lu also S of the upper panel, a square, and blocks of Z_RR.
    T* panel_at(WorkerId worker, int side) const { return memory_[worker].get() + side * most_.panel; }
    T* square_at(WorkerId worker) const { return panel_at(worker, form_.has_upper() ? 2 : 1); }
    T* block_at(WorkerId worker, int side) const {
        return square_at(worker) + most_.square + side * most_.block;
    }
    static MatrixView<T> copy(MatrixView<T const> from, T* to) {
        for (Index j = 0; j < from.cols; ++j) std::copy_n(from.column(j), from.rows, to + j * from.rows);
        return {to, from.rows, from.cols, std::max<Index>(1, from.rows)};
    }

    void invert(CblkId k, WorkerId worker) {
        Diag const diag = form_.has_d() || form_.has_upper() ? Diag::unit : Diag::non_unit;
        MatrixView<T const> const own = factor_.diagonal(k);
        MatrixView<T> const z = inverse_.diagonal(k), below = inverse_.below(k);
        MatrixView<T> const s = copy(factor_.below(k), panel_at(worker, 0));
        trsm<T>(Side::right, Uplo::lower, Op::none, diag, T(1), own, s);
        set_to_negative_product(k, s, below, false, worker);
        invert_diagonal(k, diag, z);
        if (form_.has_upper()) {
            MatrixView<T> const across = inverse_.upper(k); // Z_CR^T
            MatrixView<T> const s_upper = copy(factor_.upper(k), panel_at(worker, 1));
            trsm<T>(Side::right, Uplo::upper, Op::transpose, Diag::non_unit, T(1), own, s_upper);
            set_to_negative_product(k, s_upper, across, true, worker);
            gemm<T>(Op::transpose, Op::none, T(-1), across, s, T(1), z);
        } else {
            gemm<T>(op_, Op::none, T(-1), s, below, T(1), z);
        }
        undo_pivots(k, worker);
    }

    // z = (L L^op)^-1, (L D L^op)^-1 or (L U)^-1 with the diagonal blocks of the factors.
    void invert_diagonal(CblkId k, Diag diag, MatrixView<T> z) const {
        MatrixView<T const> const own = factor_.diagonal(k);
        for (Index j = 0; j < z.cols; ++j) {
            std::fill_n(z.column(j), z.rows, T(0));
            z(j, j) = T(1);
        }
        trsm<T>(Side::left, Uplo::lower, Op::none, diag, T(1), own, z);
        if (form_.has_upper())
            return trsm<T>(Side::left, Uplo::upper, Op::none, Diag::non_unit, T(1), own, z);
        if (form_.has_d()) solve_d<T>(form_.conjugate(), own, factor_.off_diagonal(k), z);
        trsm<T>(Side::left, Uplo::lower, op_, diag, T(1), own, z);
    }

    // z = -Z_RR s, or -Z_RR^T s if `transposed`. Idle workers compute pieces of columns of a large product.
    void set_to_negative_product(CblkId k, MatrixView<T const> s, MatrixView<T> z, bool transposed,
                                 WorkerId worker) const {
        double const flops = static_cast<double>(s.rows) * static_cast<double>(s.rows * s.cols);
        Index const most = std::min<Index>(std::max<Index>(1, s.cols / columns_of_piece), team_.size());
        auto const pieces =
            static_cast<int>(std::clamp<Index>(static_cast<Index>(flops / flops_of_piece), 1, most));
        auto const piece = [&](int p, WorkerId by) {
            Index const first = s.cols * p / pieces, end = s.cols * (p + 1) / pieces;
            for (Index j = first; j < end; ++j) std::fill_n(z.column(j), z.rows, T(0));
            multiply(k, s.block(0, first, s.rows, end - first), z.block(0, first, z.rows, end - first),
                     transposed, by);
        };
        if (pieces == 1) return piece(0, worker);
        team_.share(worker, {0, team_.size()}, pieces, piece);
    }

    // Subtracts from z the products with the columns of Z_RR, one facing cblk after the other. The panel of a
    // cblk has the lower part of its columns, which is used both as it is and transposed.
    void multiply(CblkId k, MatrixView<T const> s, MatrixView<T> z, bool transposed, WorkerId worker) const {
        for_each_facing(structure_, factor_.cblk(k), [&](FacingRows const& rows) {
            check(interrupt_);
            Index const end = rows.first + rows.count, beyond = s.rows - end;
            MatrixView<T> const lower = gather(rows, block_at(worker, 0), s.rows - rows.first, false);
            auto const own = s.block(rows.first, 0, rows.count, s.cols),
                       later = s.block(end, 0, beyond, s.cols);
            auto const z_own = z.block(rows.first, 0, rows.count, z.cols),
                       z_later = z.block(end, 0, beyond, z.cols);
            auto const square = lower.block(0, 0, rows.count, rows.count);
            MatrixView<T> down = lower.block(rows.count, 0, beyond, rows.count), across = down;
            if (form_.has_upper()) {
                across = gather(rows, block_at(worker, 1), s.rows - rows.first, true)
                             .block(rows.count, 0, beyond, rows.count);
                if (transposed) std::swap(down, across);
            }
            gemm<T>(transposed ? Op::transpose : Op::none, Op::none, T(-1), square, own, T(1), z_own);
            if (beyond == 0) return;
            subtract_product<T>(Op::none, down, own, z_later);
            gemm<T>(op_, Op::none, T(-1), across, later, T(1), z_own);
        });
    }

    // Copies these rows and all later ones from the panel of a facing cblk, in the columns of `rows`. With
    // `upper`, copies from the upper panel, which lacks the rows of the diagonal block.
    MatrixView<T> gather(FacingRows const& rows, T* to, Index height, bool upper) const {
        Cblk const& facing = structure_.cblk(rows.facing);
        MatrixView<T const> const from = upper ? inverse_.upper(rows.facing) : inverse_.lower(rows.facing);
        MatrixView<T> const block{to, height, rows.count, height};
        Index const above = upper ? facing.width() : 0; // rows of the diagonal block, which `from` lacks
        auto const own = rows.bloks.first(count_facing(rows));
        Index row = 0;
        auto landing = structure_.bloks_of(facing).begin();
        for (Blok const& blok : rows.bloks)
            for (Index first = blok.first_row, end; first < blok.end_row; row += end - first, first = end) {
                while (landing->end_row <= first) ++landing;
                end = std::min(blok.end_row, landing->end_row);
                Index const source = landing->panel_row + (first - landing->first_row) - above;
                if (source < 0) continue;
                Index column = 0;
                for (Blok const& columns : own)
                    for (Index j = columns.first_row; j < columns.end_row; ++j, ++column)
                        std::copy_n(from.column(j - facing.first_col) + source, end - first,
                                    block.column(column) + row);
            }
        return block;
    }
    static std::size_t count_facing(FacingRows const& rows) {
        return static_cast<std::size_t>(
            std::ranges::find_if(rows.bloks, [&](Blok const& b) { return b.facing_cblk != rows.facing; }) -
            rows.bloks.begin());
    }

    // Column i of the results is column perm[i] of Z. With D, the rows of Z_CC are permuted likewise.
    void undo_pivots(CblkId k, WorkerId worker) const {
        if (!form_.has_d() && !form_.has_upper()) return;
        auto const perm = factor_.perm(k);
        Index identical = 0;
        while (identical < std::ssize(perm) && perm[identical] == identical) ++identical;
        if (identical == std::ssize(perm)) return;
        MatrixView<T> const below = inverse_.below(k), z = inverse_.diagonal(k);
        MatrixView<T const> const old_below = copy(below, panel_at(worker, 0)); // S is no longer needed
        MatrixView<T const> const old = copy(z, square_at(worker));
        for (Index j = 0; j < z.cols; ++j) {
            std::copy_n(old_below.column(j), below.rows, below.column(perm[j]));
            for (Index i = 0; i < z.rows; ++i) z(form_.has_d() ? perm[i] : i, perm[j]) = old(i, j);
        }
    }

    Factor<T> const& factor_;
    Factor<T> const& inverse_;
    BlockStructure const& structure_;
    FactorForm form_;
    Op op_;
    WorkerTeam& team_;
    Interrupt* interrupt_;
    InverseWorkspace most_;
    std::vector<std::unique_ptr<T[]>> memory_; // by worker
};

} // namespace

template <class T> SelectedInverse<T>::SelectedInverse(Factor<T> const& factor, FactorPlan const& plan,
                                                       WorkerTeam& team, Interrupt* interrupt)
    : structure_(&factor.structure()), panels_(*structure_) {
    require_all_eliminated(*structure_);
    if (factor.has_delayed())
        throw Error(Status::unsupported,
                    "the selected inverse by column blocks does not support delayed columns");
    panels_.allocate(factor.form(), plan.owner_of_cblk, factor.allocation(), team, interrupt);
    Inversion<T>(factor, panels_, team, interrupt).run();
}

template <class T> std::optional<T> SelectedInverse<T>::entry(Index i, Index j) const {
    CblkId const row_cblk = structure_->cblk_of_col[i], column_cblk = structure_->cblk_of_col[j];
    CblkId const k = std::min(row_cblk, column_cblk);
    bool const is_above = row_cblk < column_cblk;
    Index const row = is_above ? j : i, column = (is_above ? i : j) - structure_->cblk(k).first_col;
    auto const bloks = structure_->bloks_of(structure_->cblk(k));
    auto const blok = std::ranges::partition_point(bloks, [&](Blok const& b) { return b.end_row <= row; });
    if (blok == bloks.end() || row < blok->first_row) return std::nullopt;
    Index const at = blok->panel_row + row - blok->first_row;
    FactorForm const form = panels_.form();
    if (is_above && form.has_upper()) return panels_.upper(k)(at - structure_->cblk(k).width(), column);
    T const value = panels_.lower(k)(at, column);
    if (i == j && form.conjugate()) return T(real_part(value));
    return conj_if(is_above && form.conjugate(), value);
}

template <class T>
std::uint64_t SelectedInverse<T>::bytes(BlockStructure const& structure, FactorForm form, int workers) {
    auto const of_worker = static_cast<std::uint64_t>(entries_of(workspace_for(structure), form)) * sizeof(T);
    return panel_bytes(structure, form, sizeof(T)) + static_cast<std::uint64_t>(workers) * of_worker;
}

ESPALIER_INSTANTIATE_CLASS(SelectedInverse)

} // namespace espalier
