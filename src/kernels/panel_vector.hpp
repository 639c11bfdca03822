// Substitution with one vector in a whole panel: the diagonal block and the rows below it in one pass, for
// panels whose part of the vector takes little of the second-level cache. The panel is read in the order of
// memory then.
#pragma once

#include <span>

#include "kernels/blas.hpp"
#include "kernels/instruction_set.hpp"

namespace espalier {

/// The most rows of a panel for which one pass pays.
template <class T> inline constexpr Index most_rows_of_one_pass = 32768 / Index{sizeof(T)};

/// With the panel [L; M], whose first rows are the lower triangle L, and w = [x; y], of as many entries as
/// the panel has rows: x := L^-1 x, then y -= M x. The strictly upper triangle is not read. `gap`: number of
/// entries in memory between this panel and the one that is used next, whose first entries are fetched
/// meanwhile.
template <class T>
void solve_panel_with_vector(Diag diag, MatrixView<T const> panel, std::span<T> w, Index gap = 0);

/// For Op::transpose or Op::adjoint: x := op(L)^-1 (x - op(M) y).
template <class T>
void solve_transposed_panel_with_vector(Op op, Diag diag, MatrixView<T const> panel, std::span<T> w);

/// x -= U^T y for the rows U of an upper factor, stored transposed as a panel, and fetches the upper triangle
/// of the diagonal block, which is needed next. `gap` separates the panel from the one before it.
template <class T> void subtract_upper_panel_with_vector(MatrixView<T const> panel,
                                                         MatrixView<T const> diagonal, std::span<T const> y,
                                                         std::span<T> x, Index gap);

/// For tests: the functions with the given instructions, which the processor must support.
template <class T> void solve_panel_with_vector(InstructionSet instructions, Diag diag,
                                                MatrixView<T const> panel, std::span<T> w, Index gap = 0);
template <class T> void subtract_upper_panel_with_vector(InstructionSet instructions,
                                                         MatrixView<T const> panel,
                                                         MatrixView<T const> diagonal, std::span<T const> y,
                                                         std::span<T> x, Index gap);
template <class T> void solve_transposed_panel_with_vector(InstructionSet instructions, Op op, Diag diag,
                                                           MatrixView<T const> panel, std::span<T> w);

} // namespace espalier
