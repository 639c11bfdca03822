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

/// A packed upper triangle consists of strips of so many columns (the last one may have fewer), one after the
/// other: the rows from the first to that of the last diagonal entry of the strip, in column-major order.
inline constexpr Index packed_columns = 8;
/// The number of entries of a packed triangle of this order.
constexpr Index packed_upper_size(Index order) {
    Index const strips = order / packed_columns, rest = order % packed_columns;
    return packed_columns * packed_columns * strips * (strips + 1) / 2 + order * rest;
}
/// Copies the upper triangle, diagonal included, of a square matrix.
template <class T> void pack_upper(MatrixView<T const> diagonal, T* packed);

/// x := D^-1 (x - U^T y) for the rows U of an upper factor, stored transposed as a panel, and the packed
/// upper triangle D, which is in memory right before the panel. `gap`: number of entries in memory between D
/// and the panel that is used next.
template <class T> void solve_upper_panel_with_vector(MatrixView<T const> panel, T const* triangle,
                                                      std::span<T const> y, std::span<T> x, Index gap);

/// For tests: the functions with the given instructions, which the processor must support.
template <class T> void solve_panel_with_vector(InstructionSet instructions, Diag diag,
                                                MatrixView<T const> panel, std::span<T> w, Index gap = 0);
template <class T> void solve_upper_panel_with_vector(InstructionSet instructions, MatrixView<T const> panel,
                                                      T const* triangle, std::span<T const> y, std::span<T> x,
                                                      Index gap);
template <class T> void solve_transposed_panel_with_vector(InstructionSet instructions, Op op, Diag diag,
                                                           MatrixView<T const> panel, std::span<T> w);

} // namespace espalier
