// Products of two matrices into a third, at all sizes: the update at the heart of every factorization here.
// BLAS packs its operands and takes locks, which pays only from some tens of rows and columns on; a product
// of register tiles straight from memory is several times faster below, and as fast above where the
// processor's widest vectors are used.
#pragma once

#include "kernels/blas.hpp"
#include "kernels/instruction_set.hpp"

namespace espalier {

/// C -= A op(B). A is m x k, op(B) is k x n, C is m x n and overlaps neither. Chooses between register tiles
/// and gemm by the sizes and the processor; the same arguments always make the same choice.
template <class T>
void subtract_product(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c);

/// C = A op(B), for a buffer: what was in C does not matter.
template <class T>
void assign_product(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c);

/// The lower trapezoid of C -= A op(B), for C with at least as many rows as columns. Entries above the
/// diagonal may be overwritten with anything.
template <class T>
void subtract_product_lower(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c);

/// C -= A op(B) by register tiles, all of it in one piece, with the instructions given, which must be ones
/// that the processor has: for tests and measurements.
template <class T> void subtract_small_product(InstructionSet instructions, Op op_b, MatrixView<T const> a,
                                               MatrixView<T const> b, MatrixView<T> c);

} // namespace espalier
