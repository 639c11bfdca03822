// Solves with the factor: op(A) x = b for any number of right-hand sides, by the branches of the
// factorization's plan, in parallel and always in the same order of summation (sweep.hpp).
//
// Vectors have structure.vector_rows() rows: with one process all n rows in the order of the matrix, with
// several the rows that this process owns, in the order of structure.unknowns. All functions are collective.
//
// With a Schur complement (BlockStructure::first_kept_cblk) only the interior unknowns i are eliminated. A
// solve is then divided in two, and the caller solves for the kept unknowns s in between:
//
//     condense   y_i = forward substitution with b_i;     b_s - A_si A_ii^-1 b_i
//     expand     x_i = backward substitution with y_i and x_s
#pragma once

#include "comm/message_run.hpp"
#include "core/interrupt.hpp"
#include "factor/factor.hpp"
#include "runtime/workspace.hpp"
#include "simulation/factor_plan.hpp"

namespace espalier {

struct SolveOptions {
    MatrixOp op = MatrixOp::none;
    Interrupt* interrupt = nullptr; ///< Error{cancelled} some milliseconds after a request; may be null.
    /// Exchanges messages with the other processes of the plan; null with one process.
    Messaging const* messaging = nullptr;
    /// Memory that is kept between solves, whose pages need not be touched again; may be null.
    Workspace* memory = nullptr;
};

/// Solve op(A) X = B in place: x is vector_rows x nrhs, x.ld >= vector_rows; it holds right-hand sides on
/// entry and solutions on return. With several processes nrhs is the same on all. After an exception, which
/// is the same on all processes, the contents of x are undefined. Error{usage} if x has another number of
/// rows or the factor has a Schur complement.
template <class T> void solve(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x,
                              WorkerTeam& team, SolveOptions const& options = {});

/// Forward elimination of the interior unknowns. x is as for solve(). On return its kept rows hold
/// b_s - A_si A_ii^-1 b_i (with op(A) for A), and its interior rows an intermediate state for expand(), which
/// the caller leaves unchanged. Without kept unknowns this is the forward half of solve().
template <class T> void condense(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x,
                                 WorkerTeam& team, SolveOptions const& options = {});

/// Backward substitution after condense() with the same options.op: on entry the kept rows of x hold the
/// unknowns x_s. On return the interior rows hold x_i = A_ii^-1 (b_i - A_is x_s); the kept ones are
/// unchanged.
template <class T> void expand(Factor<T> const& factor, FactorPlan const& plan, MatrixView<T> x,
                               WorkerTeam& team, SolveOptions const& options = {});

/// Bytes of workspace of a process for a solve with one right-hand side.
std::uint64_t solve_workspace_bytes(BlockStructure const& structure, LocalPlan const& plan,
                                    std::size_t scalar_bytes);

/// Error{usage} if the factor has kept cblks.
void require_all_eliminated(BlockStructure const& structure);
/// Error{usage} unless `rows` is structure.vector_rows() and ld >= rows.
void require_shape(BlockStructure const& structure, Index rows, Index cols, Index ld);

} // namespace espalier
