// Products and triangular solves with a few vectors for forward and backward substitution.
//
// The vectors x_1 .. x_r of length n, together X (n x r), are stored as the rows of a matrix Z (r x n): Z =
// X^T, or X^H if the block is `conjugated`. The r entries of an unknown are contiguous, so rows of X are
// gathered and scattered by copies, and vector instructions work along them. A single vector is stored as it
// is.
#pragma once

#include <span>

#include "kernels/blas.hpp"

namespace espalier {

/// A block of vectors.
template <class T> struct RowBlock {
    MatrixView<T> z;         ///< r x n with z.ld == r.
    bool conjugated = false; ///< Whether Z = X^H.

    /// Number of vectors.
    [[nodiscard]] Index vectors() const { return z.rows; }
    /// Length of each vector.
    [[nodiscard]] Index length() const { return z.cols; }
    /// The entries of a block with a single vector.
    [[nodiscard]] std::span<T> only() const { return {z.data, z.data + z.cols}; }
    /// Entries [first, first + count) of every vector.
    [[nodiscard]] RowBlock entries(Index first, Index count) const {
        return {z.block(0, first, z.rows, count), conjugated};
    }
    operator RowBlock<T const>() const { return {z, conjugated}; }
};

/// Y = A X. Y is not read. X and Y must both be conjugated or both not.
template <class T> void multiply(MatrixView<T const> a, RowBlock<T const> x, RowBlock<T> y);

/// X -= op(A) Y for the transpose or the adjoint. Blocks of several vectors must be conjugated exactly if op
/// is the adjoint; a single vector is never conjugated.
template <class T> void subtract_multiply(Op op, MatrixView<T const> a, RowBlock<T const> y, RowBlock<T> x);

/// X := op(A)^-1 X for a triangle of A, with the same rule of conjugation unless op is Op::none.
template <class T> void solve_triangular(Uplo uplo, Op op, Diag diag, MatrixView<T const> a, RowBlock<T> x);

/// X := D^-1 X for the D of factor_ldl() (kernels/panel.hpp). A block of several vectors must be conjugated
/// exactly if D is Hermitian (`conjugate`); a single vector is never conjugated.
template <class T>
void solve_d(bool conjugate, MatrixView<T const> diagonal, std::span<T const> off_diagonal, RowBlock<T> x);

/// to += from, or to -= from, for `count` consecutive entries.
template <class T> void add_entries(T const* from, T* to, Index count);
template <class T> void subtract_entries(T const* from, T* to, Index count);

} // namespace espalier
