#include "solve/solve.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "solve/checks.hpp"
#include "solve/sweep.hpp"

namespace espalier {

namespace {

template <class T> void sweep_dense(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x,
                                    WorkerTeam& team, SolveOptions const& options, SweepPart part) {
    require_shape(factor.structure(), x.rows, x.cols, x.ld);
    if (x.rows == 0 || x.cols == 0) return;
    Index const vectors = std::min(x.cols, Sweep<T>::max_vectors);
    Sweep<T> sweep(factor, plan, options.op, vectors, team, options.interrupt);
    std::vector<T*> columns(x.cols);
    for (Index j = 0; j < x.cols; ++j) columns[j] = x.column(j);
    for (std::span<T* const> rest = columns; !rest.empty();) {
        auto const block = rest.first(std::min(rest.size(), static_cast<std::size_t>(vectors)));
        sweep.run(block, part);
        rest = rest.subspan(block.size());
    }
}

} // namespace

template <class T> void solve(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x,
                              WorkerTeam& team, SolveOptions const& options) {
    require_all_eliminated(factor.structure());
    sweep_dense(factor, plan, x, team, options, SweepPart::whole);
}

template <class T> void condense(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x,
                                 WorkerTeam& team, SolveOptions const& options) {
    sweep_dense(factor, plan, x, team, options, SweepPart::forward);
}

template <class T> void expand(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x,
                               WorkerTeam& team, SolveOptions const& options) {
    sweep_dense(factor, plan, x, team, options, SweepPart::backward);
}

void require_all_eliminated(BlockStructure const& structure) {
    if (structure.first_kept_cblk < structure.num_cblks())
        throw Error(Status::usage, "the factor ends in a Schur complement: condense and expand go with it");
}

void require_shape(BlockStructure const& structure, Index rows, Index cols, Index ld) {
    if (rows != structure.n || cols < 0 || ld < rows)
        throw Error(Status::usage, "right-hand sides of " + std::to_string(rows) + " rows and " +
                                       std::to_string(cols) + " columns (" + std::to_string(ld) +
                                       " apart) for a matrix of " + std::to_string(structure.n) + " rows");
}

std::uint64_t solve_workspace_bytes(BlockStructure const& structure, FactorPlan const& plan,
                                    std::size_t scalar_bytes) {
    Offset entries = structure.n;
    for (Branch const& branch : plan.partition.branches) entries += structure.cblks[branch.root].rows_below();
    Index largest = 0;
    for (Cblk const& cblk : structure.cblks) largest = std::max({largest, cblk.rows_below(), cblk.width()});
    entries += largest * static_cast<Offset>(plan.factor_schedule.lists.size());
    return static_cast<std::uint64_t>(entries) * scalar_bytes;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void solve<T>(Factor<T> const&, FactorPlan const&, MatrixView<T>, WorkerTeam&,                  \
                           SolveOptions const&);                                                             \
    template void condense<T>(Factor<T> const&, FactorPlan const&, MatrixView<T>, WorkerTeam&,               \
                              SolveOptions const&);                                                          \
    template void expand<T>(Factor<T> const&, FactorPlan const&, MatrixView<T>, WorkerTeam&,                 \
                            SolveOptions const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
