// Sequential factorization of a diagonal block by Cholesky (llh, llt), LDL (ldlt, ldlh) or LU, and the
// triangular solves for the rest of its panel.
//
// Small pivots are replaced: |pivot| < threshold becomes threshold with the sign or phase of the pivot, or
// +threshold if the pivot is zero; the number of replacements is returned. threshold = 0 disables this; zero
// pivots are then reported in `zero_column`.
//
// With a BlockDivision, the parts of a wide block are executed by several workers: solves and updates of the
// halves of Cholesky and LU, and updates to the right of the panels of LDL. Pivots are chosen by the caller.
// The order of the operations on an entry remains, so results differ at most by the rounding in kernels of
// other sizes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/block_division.hpp"
#include "core/scalar.hpp"
#include "kernels/blas.hpp"

namespace espalier {

/// The moduli of pivots. By default that of no pivot.
struct PivotRange {
    double smallest = infinity;
    double largest = 0;
    PivotRange& operator+=(PivotRange const& other) {
        smallest = std::min(smallest, other.smallest);
        largest = std::max(largest, other.largest);
        return *this;
    }
};

/// Statistics of the pivots of a block.
struct PivotStats {
    /// Number of replaced pivots.
    Index replaced = 0;
    /// First local column with a zero, NaN or Inf pivot that was not replaced; -1 if none.
    Index zero_column = -1;
    /// Number of negative eigenvalues of a real D of LDL; each 2x2 pivot is indefinite and has one.
    Index negative = 0;
    /// Columns that a panel has left over for its parent (factorizations that delay columns).
    Index delayed = 0;
    /// The range of the pivots of factorized panels; kernels of diagonal blocks do not set it.
    PivotRange range{};
    /// Adds counts; keeps the first zero_column.
    PivotStats& operator+=(PivotStats const& other);
};

/// A = L L^H (conjugate) or L L^T in place. Only the lower triangle is read and written. Returns the first
/// column with an invalid pivot, or -1. A pivot is invalid if it is not finite, not positive (conjugate or
/// real), or zero (complex without conjugation). No pivot is replaced.
template <class T>
Index factor_cholesky(bool conjugate, MatrixView<T> a, BlockDivision const* division = nullptr);

/// A(p, p) = L D L^H (conjugate) or L D L^T in place by rook pivoting with 1x1 and 2x2 pivots, which bounds
/// the entries of L by about 3. Only the lower triangle is read; the strict upper triangle is overwritten. On
/// return the strict lower triangle of `a` contains the unit lower triangular L of the permuted matrix, and
/// the diagonal contains that of D. off_diagonal[k] = D(k + 1, k) if columns k, k + 1 are a 2x2 pivot (L(k +
/// 1, k) is then stored as 0), else 0. perm[new] = old with local numbers. Spans have a.cols entries. The
/// diagonal of a Hermitian D is real; imaginary parts of the diagonal of A are ignored.
template <class T> PivotStats factor_ldl(bool conjugate, MatrixView<T> a, std::span<std::int32_t> perm,
                                         std::span<T> off_diagonal, Real<T> threshold,
                                         BlockDivision const* division = nullptr);

/// A(p, :) = L U in place with partial pivoting: unit lower triangular L below the diagonal, U on and above
/// it. perm[new] = old.
template <class T> PivotStats factor_lu(MatrixView<T> a, std::span<std::int32_t> perm, Real<T> threshold,
                                        BlockDivision const* division = nullptr);

/// Calls body(first, count) for blocks of `rows` rows from 0 on. A block of a panel stays in the second-level
/// cache, so that several steps can work on it.
template <class T, class Body> void for_each_row_block(Index rows, Body const& body) {
    constexpr Index block_rows = is_complex<T> ? 128 : 256;
    for (Index first = 0; first < rows; first += block_rows) body(first, std::min(block_rows, rows - first));
}

/// B(:, new) = B(:, perm[new]) in place.
template <class T> void permute_columns(MatrixView<T> b, std::span<std::int32_t const> perm);

/// The rows below an LDL diagonal block: B := B(:, p) L^-H D^-1 (or L^-T), which is L21. An empty p permutes
/// nothing. Returns the largest |Re| + |Im| in the first `counted` rows of L21.
template <class T>
Real<T> solve_panel_ldl(bool conjugate, MatrixView<T const> diagonal, std::span<std::int32_t const> perm,
                        std::span<T const> off_diagonal, MatrixView<T> b, Index counted = 0);

/// The rows below an LU diagonal block: B := B U^-1, which is L21. Returns the same as solve_panel_ldl().
template <class T> Real<T> solve_panel_lu(MatrixView<T const> diagonal, MatrixView<T> b, Index counted = 0);

/// W = B D for the D of factor_ldl(), with its diagonal in `diagonal` and its 2x2 couplings in off_diagonal.
template <class T> void multiply_by_d(bool conjugate, MatrixView<T const> diagonal,
                                      std::span<T const> off_diagonal, MatrixView<T const> b,
                                      MatrixView<T> w);

/// B := B D^-1.
template <class T> void divide_by_d(bool conjugate, MatrixView<T const> diagonal,
                                    std::span<T const> off_diagonal, MatrixView<T> b);

/// X := D^-1 X, the diagonal solve of LDL.
template <class T>
void solve_d(bool conjugate, MatrixView<T const> diagonal, std::span<T const> off_diagonal, MatrixView<T> x);

} // namespace espalier
