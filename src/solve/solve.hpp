// Solves with the factor: op(A) x = b for any number of right-hand sides, by the branches of the
// factorization's plan, in parallel and always in the same order of summation (sweep.hpp).
//
// With a Schur complement (BlockStructure::first_kept_cblk) only the interior unknowns i are eliminated. What
// a solve does is then cut in two, and what happens to the kept unknowns s in between is the caller's matter:
//
//     condense   y_i = forward substitution with b_i;     b_s - A_si A_ii^-1 b_i
//     expand     x_i = backward substitution with y_i and x_s
#pragma once

#include "core/interrupt.hpp"
#include "factor/factor.hpp"
#include "simulation/factor_plan.hpp"

namespace espalier {

struct SolveOptions {
    MatrixOp op = MatrixOp::none;
    Interrupt* interrupt = nullptr; ///< Error{cancelled} some milliseconds after a request; may be null.
};

/// Solve op(A) X = B in place: x is n x nrhs, x.ld >= n, in the order of the caller's rows on entry
/// (right-hand sides) and on return (solutions). After an exception the contents of x are undefined.
/// Error{usage} when x has another number of rows, or when the factor has a Schur complement.
template <class T> void solve(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x,
                              WorkerTeam& team, SolveOptions const& options = {});

/// Forward elimination of the interior unknowns. x is n x nrhs as for solve(). On return its kept rows hold
/// b_s - A_si A_ii^-1 b_i (with op(A) for A), and its interior rows a state that expand() goes on from: they
/// are to be left alone, and mean nothing else. Without kept unknowns this is the forward half of solve().
template <class T> void condense(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x,
                                 WorkerTeam& team, SolveOptions const& options = {});

/// The rest: x as condense() left it, for the same options.op, with the kept rows overwritten by the unknowns
/// x_s. On return the interior rows hold x_i = A_ii^-1 (b_i - A_is x_s); the kept ones are as they were.
template <class T> void expand(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x,
                               WorkerTeam& team, SolveOptions const& options = {});

/// Bytes of workspace of a solve with one right-hand side.
std::uint64_t solve_workspace_bytes(BlockStructure const& structure, FactorPlan const& plan,
                                    std::size_t scalar_bytes);

} // namespace espalier
