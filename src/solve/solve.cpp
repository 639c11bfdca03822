#include "solve/solve.hpp"

#include <algorithm>

#include "kernels/level2.hpp"
#include "kernels/panel.hpp"
#include "runtime/static_policy.hpp"

namespace espalier {

namespace {

constexpr Index block_of_rhs = 64; // right-hand sides that go through the tree together

template <class T> class SolveRun {
  public:
    SolveRun(Factor<T> const& factor, FactorPlan const& plan, int workers)
        : factor_(factor), structure_(factor.structure()), plan_(plan), form_(factor.form()),
          outboxes_(plan.partition.branches.size()), workspaces_(static_cast<std::size_t>(workers)) {}

    // x: n x (at most block_of_rhs), permuted.
    void start(MatrixView<T> x) { x_ = x; }

    void execute(TaskId task, WorkerId worker) {
        auto const count = static_cast<TaskId>(plan_.partition.branches.size());
        if (task < count)
            forward_branch(task, workspaces_[static_cast<std::size_t>(worker)]);
        else
            backward_branch(task - count, workspaces_[static_cast<std::size_t>(worker)]);
    }

  private:
    struct alignas(64) Workspace {
        std::vector<T> rows;
    };

    MatrixView<T> reserve(std::vector<T>& memory, Index rows) const {
        auto const size = static_cast<std::size_t>(rows * x_.cols);
        if (memory.size() < size) memory.resize(size);
        return {memory.data(), rows, x_.cols, std::max<Index>(1, rows)};
    }

    void forward_branch(BranchId number, Workspace& workspace) {
        Branch const& branch = plan_.partition.branches[static_cast<std::size_t>(number)];
        Cblk const& root = factor_.cblk(branch.root);
        MatrixView<T> const outbox = reserve(outboxes_[static_cast<std::size_t>(number)], root.rows_below());
        if (branch.first == branch.root) {
            collect(branch.root);
            forward_diagonal(branch.root);
            multiply<T>(Op::none, T(-1), factor_.below(branch.root), rows_of(root), T(0), outbox);
            divide_by_d(branch.root);
            return;
        }
        std::fill_n(outbox.data, outbox.rows * outbox.cols, T(0));
        for (CblkId k = branch.first; k <= branch.root; ++k) {
            forward_diagonal(k);
            Cblk const& cblk = factor_.cblk(k);
            MatrixView<T> const product = reserve(workspace.rows, cblk.rows_below());
            multiply<T>(Op::none, T(1), factor_.below(k), rows_of(cblk), T(0), product);
            distribute(k, branch.root, product, outbox);
            divide_by_d(k);
        }
    }

    void backward_branch(BranchId number, Workspace& workspace) {
        Branch const& branch = plan_.partition.branches[static_cast<std::size_t>(number)];
        for (CblkId k = branch.root; k >= branch.first; --k) {
            Cblk const& cblk = factor_.cblk(k);
            MatrixView<T> const above = reserve(workspace.rows, cblk.rows_below());
            gather(cblk, above);
            // x_k -= L21^H x_above, or U12 x_above with U12 stored transposed
            MatrixView<T> const coupling = form_.has_upper() ? factor_.upper(k) : factor_.below(k);
            multiply<T>(backward_op(), T(-1), coupling, above, T(1), rows_of(cblk));
            backward_diagonal(k);
        }
    }

    [[nodiscard]] Op backward_op() const { return form_.conjugate() ? Op::adjoint : Op::transpose; }

    [[nodiscard]] MatrixView<T> rows_of(Cblk const& cblk) const {
        return x_.block(cblk.first_col, 0, cblk.width(), x_.cols);
    }

    void forward_diagonal(CblkId k) {
        MatrixView<T> const x = rows_of(factor_.cblk(k));
        bool const pivoted = form_.has_d() || form_.has_upper();
        if (pivoted) permute(factor_.perm(k), x, false);
        solve_triangular<T>(Uplo::lower, Op::none, pivoted ? Diag::unit : Diag::non_unit, factor_.diagonal(k),
                            x);
    }

    void divide_by_d(CblkId k) {
        if (form_.has_d())
            solve_d<T>(form_.conjugate(), factor_.diagonal(k), factor_.off_diagonal(k),
                       rows_of(factor_.cblk(k)));
    }

    void backward_diagonal(CblkId k) {
        MatrixView<T> const x = rows_of(factor_.cblk(k));
        if (form_.has_upper()) {
            solve_triangular<T>(Uplo::upper, Op::none, Diag::non_unit, factor_.diagonal(k), x);
            return;
        }
        solve_triangular<T>(Uplo::lower, backward_op(), form_.has_d() ? Diag::unit : Diag::non_unit,
                            factor_.diagonal(k), x);
        if (form_.has_d()) permute(factor_.perm(k), x, true);
    }

    // x(new) = x(perm[new]), or back.
    static void permute(std::span<std::int32_t const> perm, MatrixView<T> x, bool inverse) {
        std::vector<T> copy(perm.size());
        for (Index j = 0; j < x.cols; ++j) {
            T* const column = x.column(j);
            std::copy_n(column, perm.size(), copy.begin());
            for (std::size_t i = 0; i < perm.size(); ++i) {
                auto const p = static_cast<std::size_t>(perm[i]);
                if (inverse)
                    column[p] = copy[i];
                else
                    column[i] = copy[p];
            }
        }
    }

    static void subtract(MatrixView<T const> from, Index from_row, MatrixView<T> to, Index to_row,
                         Index height) {
        for (Index j = 0; j < to.cols; ++j) {
            T const* const source = from.column(j) + from_row;
            T* const target = to.column(j) + to_row;
            for (Index i = 0; i < height; ++i) target[i] -= source[i];
        }
    }

    // The contributions of cblk k: to rows of its own branch, and to the branch's outbox.
    void distribute(CblkId k, CblkId root, MatrixView<T const> product, MatrixView<T> outbox) {
        Cblk const& cblk = factor_.cblk(k);
        BlokId at = factor_.cblk(root).first_blok + 1;
        Index const root_width = factor_.cblk(root).width();
        for (BlokId b = cblk.first_blok + 1; b < cblk.end_blok; ++b) {
            Blok const& blok = structure_.bloks[static_cast<std::size_t>(b)];
            Index const from = blok.panel_row - cblk.width();
            if (blok.facing_cblk <= root) {
                subtract(product, from, x_, blok.first_row, blok.height());
                continue;
            }
            for (Index row = blok.first_row; row < blok.end_row;) {
                while (structure_.bloks[static_cast<std::size_t>(at)].end_row <= row) ++at;
                Blok const& landing = structure_.bloks[static_cast<std::size_t>(at)];
                Index const height = std::min(blok.end_row, landing.end_row) - row;
                subtract(product, from + (row - blok.first_row), outbox,
                         landing.panel_row - root_width + (row - landing.first_row), height);
                row += height;
            }
        }
    }

    // x_j += the outbox rows of every branch below that faces j, in ascending order of the branches.
    void collect(CblkId j) {
        for (Offset f = structure_.facing_ptr[static_cast<std::size_t>(j)];
             f < structure_.facing_ptr[static_cast<std::size_t>(j) + 1]; ++f) {
            auto const b = static_cast<std::size_t>(structure_.facing[static_cast<std::size_t>(f)]);
            CblkId const owner = structure_.owner_of_blok[b];
            BranchId const source = plan_.partition.branch_of_cblk[static_cast<std::size_t>(owner)];
            Branch const& branch = plan_.partition.branches[static_cast<std::size_t>(source)];
            if (owner != branch.root) continue; // summed up in the outbox of its root
            Cblk const& root = factor_.cblk(owner);
            MatrixView<T> const outbox =
                reserve(outboxes_[static_cast<std::size_t>(source)], root.rows_below());
            Blok const& blok = structure_.bloks[b];
            Index const from = blok.panel_row - root.width();
            add(outbox, from, x_, blok.first_row, blok.height());
        }
    }

    static void add(MatrixView<T const> from, Index from_row, MatrixView<T> to, Index to_row, Index height) {
        for (Index j = 0; j < to.cols; ++j)
            for (Index i = 0; i < height; ++i) to(to_row + i, j) += from(from_row + i, j);
    }

    void gather(Cblk const& cblk, MatrixView<T> rows) const {
        for (Index j = 0; j < rows.cols; ++j) {
            T* out = rows.column(j);
            for (BlokId b = cblk.first_blok + 1; b < cblk.end_blok; ++b) {
                Blok const& blok = structure_.bloks[static_cast<std::size_t>(b)];
                out = std::copy_n(x_.column(j) + blok.first_row, blok.height(), out);
            }
        }
    }

    Factor<T> const& factor_;
    BlockStructure const& structure_;
    FactorPlan const& plan_;
    FactorForm form_;
    MatrixView<T> x_;
    std::vector<std::vector<T>> outboxes_;
    std::vector<Workspace> workspaces_;
};

} // namespace

template <class T>
void solve(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x, WorkerTeam& team) {
    BlockStructure const& structure = factor.structure();
    if (structure.n == 0 || x.cols == 0) return;
    SolveRun<T> run(factor, plan, team.size());
    std::vector<T> permuted(static_cast<std::size_t>(structure.n * std::min(block_of_rhs, x.cols)));
    for (Index first = 0; first < x.cols; first += block_of_rhs) {
        MatrixView<T> const block{permuted.data(), structure.n, std::min(block_of_rhs, x.cols - first),
                                  structure.n};
        for (Index j = 0; j < block.cols; ++j)
            for (Index i = 0; i < structure.n; ++i)
                block(structure.perm[static_cast<std::size_t>(i)], j) = x(i, first + j);
        run.start(block);
        StaticPolicy policy(plan.solve_schedule.lists, plan.solve.num_tasks());
        team.run(plan.solve, policy, [&](TaskId task, WorkerId worker) { run.execute(task, worker); });
        for (Index j = 0; j < block.cols; ++j)
            for (Index i = 0; i < structure.n; ++i)
                x(i, first + j) = block(structure.perm[static_cast<std::size_t>(i)], j);
    }
}

std::uint64_t solve_workspace_bytes(BlockStructure const& structure, FactorPlan const& plan,
                                    std::size_t scalar_bytes) {
    Offset rows = structure.n;
    for (Branch const& branch : plan.partition.branches)
        rows += structure.cblks[static_cast<std::size_t>(branch.root)].rows_below();
    Index widest = 0;
    for (Cblk const& cblk : structure.cblks) widest = std::max(widest, cblk.rows_below());
    return static_cast<std::uint64_t>(rows +
                                      widest * static_cast<Offset>(plan.factor_schedule.lists.size())) *
           scalar_bytes;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void solve<T>(Factor<T> const&, FactorPlan const&, MatrixView<T>, WorkerTeam&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
