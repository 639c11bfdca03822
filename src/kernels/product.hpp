// C -= A op(B), the update at the heart of every factorization here, at all sizes. BLAS packs its operands
// and takes locks, which pays only from some tens of rows and columns on; below, a product of register
// tiles straight from memory is several times faster.
#pragma once

#include "kernels/blas.hpp"
#include "kernels/instruction_set.hpp"

namespace espalier {

/// C -= A op(B). A is m x k, op(B) is k x n, C is m x n and overlaps neither. Chooses between
/// subtract_small_product and gemm by the sizes.
template <class T> void subtract_product(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c);

/// The lower trapezoid of C -= A op(B), for C with at least as many rows as columns. Entries above the
/// diagonal may be overwritten with anything.
template <class T> void subtract_product_lower(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c);

/// C -= A op(B) by register tiles without packing: for a small depth k. `instructions` must be ones that the
/// processor has.
template <class T> void subtract_small_product(InstructionSet instructions, Op op_b, MatrixView<T const> a,
                                               MatrixView<T const> b, MatrixView<T> c);

} // namespace espalier
