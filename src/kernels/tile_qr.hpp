// The four kernels of a tiled QR factorization by Householder reflections, in double precision (Buttari,
// Langou, Kurzak, Dongarra 2009). LAPACK has them since 3.4: thin wrappers, with checked sizes.
//
// Reflections come in inner blocks of `ib` columns, each applied at once as I - V T V^T. Their triangles T
// stand side by side in an array of ib rows, and a column for each reflection; ib = t.rows.
#pragma once

#include <span>

#include "kernels/blas.hpp"

namespace espalier {

/// Coefficients that `work` must have, for operands of at most `cols` columns.
constexpr Index tile_qr_workspace(Index ib, Index cols) {
    return ib * cols;
}

/// A = Q R, at least as many rows as columns: R on and above the diagonal, V below it.
void geqrt(MatrixView<double> a, MatrixView<double> t, std::span<double> work);

/// C := Q^T C (Op::transpose) or Q C (Op::none), Q as geqrt left it in `v` and `t`. Reads V only below the
/// diagonal, so that R may change meanwhile.
void unmqr(Op op, MatrixView<double const> v, MatrixView<double const> t, MatrixView<double> c,
           std::span<double> work);

/// [R; A] = Q [R'; 0]: a triangle on top of a square, any rows of A. Reads and writes R on and above its
/// diagonal only; V takes the place of A.
void tsqrt(MatrixView<double> r, MatrixView<double> a, MatrixView<double> t, std::span<double> work);

/// [C1; C2] := Q^T [C1; C2] or Q [C1; C2], Q as tsqrt left it. C1 has a row for each column of V.
void tsmqr(Op op, MatrixView<double const> v, MatrixView<double const> t, MatrixView<double> c1,
           MatrixView<double> c2, std::span<double> work);

} // namespace espalier
