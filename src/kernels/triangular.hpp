// Triangular solves from the right, B := B op(T)^-1, for the panel below a factored diagonal block. They use
// tiles of a few columns in registers, and subtract_product() between the parts of a wide triangle.
#pragma once

#include "kernels/product.hpp"

namespace espalier {

/// B := B op(T)^-1, where op(T) is upper triangular: T itself for Op::none (its upper triangle is read), or
/// the transpose or adjoint of a lower triangular T (its lower triangle is read). B is m x n, T is n x n.
///
///     panel of Cholesky  B L^-H: solve_right(Op::adjoint, Diag::non_unit, L, B)
///     L panel of LU      B U^-1: solve_right(Op::none, Diag::non_unit, LU, B)
///     U panel of LU, stored transposed, B L^-T: solve_right(Op::transpose, Diag::unit, LU, B)
template <class T> void solve_right(Op op, Diag diag, MatrixView<T const> t, MatrixView<T> b);

/// Solves with the given instructions, which the processor must support.
template <class T>
void solve_right(InstructionSet instructions, Op op, Diag diag, MatrixView<T const> t, MatrixView<T> b);

} // namespace espalier
