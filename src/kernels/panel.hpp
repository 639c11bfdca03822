// Factorization of a diagonal block, and the triangular solves that make the rest of its panel. Sequential.
// Three families: Cholesky (llh, llt), LDL (ldlt, ldlh), LU.
//
// Pivots too small to divide by are replaced: |pivot| < threshold becomes threshold (with the pivot's sign
// or phase; +threshold when it is zero), and the number of replacements is returned. threshold = 0 turns
// that off except for exact zeros, which then are reported by `zero_column`.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/blas.hpp"

namespace espalier {

struct PivotStats {
    /// Pivots replaced by +-threshold.
    Index replaced = 0;
    /// First local column whose pivot could neither be divided by nor replaced: zero, NaN or Inf; -1 if none.
    Index zero_column = -1;
    /// LDL with real D: negative eigenvalues of D (a 2x2 pivot is indefinite and counts one).
    Index negative = 0;
    PivotStats& operator+=(PivotStats const& other);
};

/// A = L L^H (conjugate) or L L^T, lower triangle in place, blocked. Only the lower triangle is read and
/// written. Returns the first column whose pivot is not positive (conjugate or real), not finite or exactly
/// zero (llt on complex numbers, which has no sign to look at), or -1. Nothing is replaced.
template <class T> Index factor_cholesky(bool conjugate, MatrixView<T> a);

/// A(p, p) = L D L^H (conjugate) or L D L^T by rook pivoting with 1x1 and 2x2 pivots, which keeps the entries
/// of L below 3 or so, blocked, lower triangle in place. Only the lower triangle is read; the strict upper
/// triangle is used as scratch and left with anything.
/// On return the strict lower triangle of `a` holds unit lower L (rows permuted consistently: the whole L
/// belongs to the permuted matrix), the diagonal holds D, and off_diagonal[k] = D(k + 1, k) where columns
/// k, k + 1 are a 2x2 pivot (then L(k + 1, k) is stored as 0), else 0. perm[new] = old, both local.
/// Spans have a.cols entries. The diagonal of a Hermitian D is real; imaginary parts on A's are ignored.
template <class T> PivotStats factor_ldl(bool conjugate, MatrixView<T> a, std::span<std::int32_t> perm,
                                         std::span<T> off_diagonal, Real<T> threshold);

/// A(p, :) = L U with partial pivoting, recursive, in place: unit lower L below the diagonal, U on and above.
template <class T> PivotStats factor_lu(MatrixView<T> a, std::span<std::int32_t> perm, Real<T> threshold);

/// B(:, new) = B(:, perm[new]) in place.
template <class T> void permute_columns(MatrixView<T> b, std::span<std::int32_t const> perm);

/// The rows below an LDL diagonal block: B := B(:, p) L^-H D^-1 (or L^-T), so that B is the final L21.
template <class T> void solve_panel_ldl(bool conjugate, MatrixView<T const> diagonal,
                                        std::span<std::int32_t const> perm, std::span<T const> off_diagonal,
                                        MatrixView<T> b);

/// W = B D, where D is as factor_ldl left it (diagonal in `diagonal`, 2x2 couplings in off_diagonal).
template <class T> void multiply_by_d(bool conjugate, MatrixView<T const> diagonal,
                                      std::span<T const> off_diagonal, MatrixView<T const> b,
                                      MatrixView<T> w);

/// X := D^-1 X in place, for the diagonal solve of LDL.
template <class T>
void solve_d(bool conjugate, MatrixView<T const> diagonal, std::span<T const> off_diagonal, MatrixView<T> x);

} // namespace espalier
