// Products and triangular solves with one vector, for substitution with one right-hand side. They are limited
// by memory bandwidth: a group of columns is fetched from memory while the previous group is in use.
#pragma once

#include <span>

#include "kernels/blas.hpp"
#include "kernels/instruction_set.hpp"

namespace espalier {

/// y += A x.
template <class T> void add_product_with_vector(MatrixView<T const> a, std::span<T const> x, std::span<T> y);

/// x -= A^T y or A^H y, for Op::transpose or Op::adjoint.
template <class T>
void subtract_product_with_vector(Op op, MatrixView<T const> a, std::span<T const> y, std::span<T> x);

/// x := op(A)^-1 x for a triangle of A. The other triangle is not read.
template <class T> void solve_with_vector(Uplo uplo, Op op, Diag diag, MatrixView<T const> a, std::span<T> x);

/// The first two by the given instructions, which the processor must support, for tests.
template <class T> void add_product_with_vector(InstructionSet instructions, MatrixView<T const> a,
                                                std::span<T const> x, std::span<T> y);
template <class T> void subtract_product_with_vector(InstructionSet instructions, Op op,
                                                     MatrixView<T const> a, std::span<T const> y,
                                                     std::span<T> x);

} // namespace espalier
