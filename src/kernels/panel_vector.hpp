// Substitution with one vector in a whole panel: the diagonal block and the rows below it in one pass, for panels whose
// part of the vector fits in the first-level cache.
#pragma once

#include <span>

#include "kernels/blas.hpp"
#include "kernels/instruction_set.hpp"

namespace espalier {

/// The most rows of a panel for which one pass pays.
template <class T> inline constexpr Index most_rows_of_one_pass = 8192 / Index{sizeof(T)};

/// With the panel [L; M], whose first rows are the lower triangle L, and w = [x; y], of as many entries as the panel has
/// rows: x := L^-1 x, then y -= M x. The strictly upper triangle is not read.
template <class T> void solve_panel_with_vector(Diag diag, MatrixView<T const> panel, std::span<T> w);

/// For Op::transpose or Op::adjoint: x := op(L)^-1 (x - op(M) y).
template <class T>
void solve_transposed_panel_with_vector(Op op, Diag diag, MatrixView<T const> panel, std::span<T> w);

/// For tests: both functions with the given instructions, which the processor must support.
template <class T> void solve_panel_with_vector(InstructionSet instructions, Diag diag, MatrixView<T const> panel,
                                                std::span<T> w);
template <class T> void solve_transposed_panel_with_vector(InstructionSet instructions, Op op, Diag diag,
                                                           MatrixView<T const> panel, std::span<T> w);

} // namespace espalier
