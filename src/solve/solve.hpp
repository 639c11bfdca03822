// Triangular solves with the factor: x = A^-1 b for any number of right-hand sides, by the branches of the
// factorization's plan, in parallel and always in the same order of summation.
//
// Forward, a branch subtracts its contributions to its own later rows directly and sums those to rows above
// it in an outbox, one row for each row below its root; a cblk above the cut first collects from the
// outboxes of the branches that face it. Backward needs no such care: every row above is final.
#pragma once

#include "factor/factor.hpp"
#include "schedule/factor_plan.hpp"

namespace espalier {

/// Solve in place: x is n x nrhs, column-major without gaps, in the order of the caller's rows on entry
/// (right-hand sides) and on return (solutions).
template <class T>
void solve(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x, WorkerTeam& team);

/// Bytes of workspace of a solve with one right-hand side.
std::uint64_t solve_workspace_bytes(BlockStructure const& structure, FactorPlan const& plan,
                                    std::size_t scalar_bytes);

} // namespace espalier
