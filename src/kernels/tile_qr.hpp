// The four kernels of a tiled QR factorization by Householder reflections, in double precision (Buttari,
// Langou, Kurzak, Dongarra 2009). They call LAPACK 3.4 or later with checked sizes.
//
// Reflections form inner blocks of ib = t.rows columns, which are applied as I - V T V^T. The triangles T are
// stored side by side in an array with ib rows and a column for each reflection.
#pragma once

#include <span>

#include "kernels/blas.hpp"

namespace espalier {

/// The required size of `work` for operands of at most `cols` columns.
constexpr Index tile_qr_workspace(Index ib, Index cols) {
    return ib * cols;
}

/// A = Q R for at least as many rows as columns; R on and above the diagonal, V below it.
void geqrt(MatrixView<double> a, MatrixView<double> t, std::span<double> work);

/// C := Q^T C (Op::transpose) or Q C (Op::none) for the Q of geqrt() in `v` and `t`. Reads V only below the
/// diagonal, so R may change at the same time.
void unmqr(Op op, MatrixView<double const> v, MatrixView<double const> t, MatrixView<double> c,
           std::span<double> work);

/// [R; A] = Q [R'; 0] for a triangle R and any number of rows of A. Reads and writes R only on and above its
/// diagonal; V replaces A.
void tsqrt(MatrixView<double> r, MatrixView<double> a, MatrixView<double> t, std::span<double> work);

/// [C1; C2] := Q^T [C1; C2] or Q [C1; C2] for the Q of tsqrt(). C1 has a row for each column of V.
void tsmqr(Op op, MatrixView<double const> v, MatrixView<double const> t, MatrixView<double> c1,
           MatrixView<double> c2, std::span<double> work);

} // namespace espalier
