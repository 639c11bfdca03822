// Products of two matrices of any size, the main operation of all factorizations. BLAS packs its operands and
// takes locks, which pays only from some tens of rows and columns on. Register tiles that read memory
// directly are several times faster for smaller sizes, and as fast for larger ones with the widest vectors.
#pragma once

#include "kernels/blas.hpp"
#include "kernels/instruction_set.hpp"

namespace espalier {

/// C -= A op(B). A is m x k, op(B) is k x n; C is m x n and overlaps neither. The choice between register
/// tiles and gemm depends only on the sizes and the processor.
template <class T>
void subtract_product(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c);

/// C = A op(B). C is not read.
template <class T>
void assign_product(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c);

/// The lower trapezoid of C -= A op(B), for C with at least as many rows as columns. Entries above the
/// diagonal may be overwritten with arbitrary values.
template <class T>
void subtract_product_lower(Op op_b, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c);

/// C -= A op(B) by register tiles without blocking, for tests and measurements. The processor must support
/// the given instructions.
template <class T> void subtract_small_product(InstructionSet instructions, Op op_b, MatrixView<T const> a,
                                               MatrixView<T const> b, MatrixView<T> c);

} // namespace espalier
