#include "solve/solve.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "solve/sweep.hpp"

namespace espalier {

namespace {

template <class T> void sweep_dense(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x,
                                    WorkerTeam& team, SolveOptions const& options, SweepPart part) {
    Index const vectors = std::min(x.cols, Sweep<T>::max_vectors);
    std::optional<Sweep<T>> sweep;
    std::vector<T*> columns;
    all_succeed(options.messaging, [&] {
        require_shape(factor.structure(), x.rows, x.cols, x.ld);
        sweep.emplace(factor, plan, options.op, vectors, team, options.interrupt, options.messaging,
                      options.memory);
        columns.reserve(vectors);
    });
    for (Index first = 0; first < x.cols; first += vectors) {
        columns.clear();
        for (Index j = first; j < std::min(first + vectors, x.cols); ++j) columns.push_back(x.column(j));
        sweep->run(columns, part);
    }
}

} // namespace

template <class T> void solve(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x,
                              WorkerTeam& team, SolveOptions const& options) {
    all_succeed(options.messaging, [&] { require_all_eliminated(factor.structure()); });
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
        throw Error(Status::usage,
                    "the factor ends in a Schur complement: call condense and expand in place of solve");
}

void require_shape(BlockStructure const& structure, Index rows, Index cols, Index ld) {
    if (rows != structure.vector_rows() || cols < 0 || ld < rows)
        throw Error(Status::usage,
                    fmt::format("the vectors are {} x {} with leading dimension {}; expected {} rows", rows,
                                cols, ld, structure.vector_rows()));
}

std::uint64_t solve_workspace_bytes(BlockStructure const& structure, LocalPlan const& plan,
                                    std::size_t scalar_bytes) {
    Offset entries = structure.n;
    Index largest = 0;
    for (Branch const& branch : plan.partition.branches)
        if (plan.is_own(branch.root)) entries += structure.cblk(branch.root).rows_below();
    for (Cblk const& cblk : structure.cblks) largest = std::max(largest, cblk.stride);
    entries += largest * std::ssize(plan.factor_schedule.lists);
    return static_cast<std::uint64_t>(entries) * scalar_bytes;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void solve<T>(Factor<T> const&, FactorPlan const&, MatrixView<T>, WorkerTeam&,                  \
                           SolveOptions const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
ESPALIER_INSTANTIATE_FUNCTION(condense)
ESPALIER_INSTANTIATE_FUNCTION(expand)

} // namespace espalier
