// Products and triangular solves with a few vectors, as forward and backward substitution need them.
//
// The vectors x_1 .. x_r of length n, together X (n x r), are the rows of a matrix Z (r x n): Z = X^T, or X^H
// where a block is `conjugated`. So the r entries of an unknown lie side by side: rows of X are gathered and
// scattered by plain copies, and the vectors of the processor run along them. For one vector, Z is just it.
#pragma once

#include <span>

#include "kernels/blas.hpp"

namespace espalier {

template <class T> struct RowBlock {
    MatrixView<T> z; ///< r x n without gaps: z.ld == r.
    bool conjugated = false;

    [[nodiscard]] Index vectors() const { return z.rows; }
    [[nodiscard]] Index length() const { return z.cols; }
    /// Entries [first, first + count) of every vector.
    [[nodiscard]] RowBlock entries(Index first, Index count) const {
        return {z.block(0, first, z.rows, count), conjugated};
    }
    operator RowBlock<T const>() const { return {z, conjugated}; }
};

/// Y = A X, whatever Y held before. X and Y are both conjugated or both not.
template <class T> void multiply(MatrixView<T const> a, RowBlock<T const> x, RowBlock<T> y);

/// X -= op(A) Y, where op is the transpose, or the adjoint. Several vectors are conjugated exactly when it is
/// the adjoint, and one vector never is.
template <class T> void subtract_multiply(Op op, MatrixView<T const> a, RowBlock<T const> y, RowBlock<T> x);

/// X := op(A)^-1 X for a triangle of A; conjugation as above where op is not Op::none.
template <class T> void solve_triangular(Uplo uplo, Op op, Diag diag, MatrixView<T const> a, RowBlock<T> x);

/// X := D^-1 X, D as factor_ldl left it (kernels/panel.hpp). Several vectors are conjugated exactly when D is
/// Hermitian (`conjugate`), and one vector never is.
template <class T>
void solve_d(bool conjugate, MatrixView<T const> diagonal, std::span<T const> off_diagonal, RowBlock<T> x);

} // namespace espalier
