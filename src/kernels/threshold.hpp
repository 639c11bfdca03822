// Threshold partial pivoting in a whole panel, for factorizations that delay columns. The panel has fully
// summed columns, whose rows come first, and rows below them. A pivot is chosen from the fully summed rows
// and columns, but its column of L, rows below included, must satisfy |L| <= 1/u (Duff, Reid 1983; Duff,
// Hogg, Lopez 2020). Columns without such a pivot are left over: they are updated by all pivots, and a panel
// higher in the tree, with more fully summed rows, eliminates them.
//
//        e   m - e           e pivots, in the leading block; m - e columns left over
//     +-----+-----+
//     | L D |     |  e       fully summed rows
//     +-----+-----+
//     |  L  |  S  |  m - e   S: what remains of the columns left over
//     +-----+-----+
//     |  L  |  S  |  r       rows below
//     +-----+-----+
#pragma once

#include "kernels/panel.hpp"

namespace espalier {

/// When a pivot is accepted.
template <class T> struct PivotRule {
    Real<T> u = 0;         ///< Least modulus relative to the other entries of its column: |L| <= 1/u.
    Real<T> threshold = 0; ///< A pivot is replaced if its whole column (lu: and its whole row) is smaller.
    Index rows = 0;        ///< The number of rows below that count, from the first one on.
};

/// The result of threshold pivoting.
struct ThresholdPivots {
    PivotStats stats;
    Index eliminated = 0; ///< Number of pivots.
};

/// factor_ldl() without replaced pivots. Columns that lead to a pivot below `threshold` when their turn comes
/// change places with the last column that was not tried, and remain at the end of perm. L has their rows,
/// and the lower triangle of their block is what remains of them.
template <class T> ThresholdPivots factor_ldl_leading(bool conjugate, MatrixView<T> a,
                                                      std::span<std::int32_t> perm, std::span<T> off_diagonal,
                                                      Real<T> threshold,
                                                      BlockDivision const* division = nullptr);

/// factor_lu() without replaced pivots: A(p, q) = L U in the leading block. Columns that lead to a zero pivot
/// or one below `threshold` when their turn comes remain at the end of column_perm. U has them in the rows of
/// the pivots, L has the rows that remain, and their block is what remains of both.
template <class T> ThresholdPivots factor_lu_leading(MatrixView<T> a, std::span<std::int32_t> row_perm,
                                                     std::span<std::int32_t> column_perm, Real<T> threshold,
                                                     BlockDivision const* division = nullptr);

/// A(p, p) = L D L^H (conjugate) or L D L^T for the panel `a`, (m + r) x m, of which the lower trapezoid is
/// read. Results as of factor_ldl(), in the columns before `eliminated`; every 2x2 pivot of a Hermitian or
/// real matrix is indefinite. perm and off_diagonal have m entries. S is stored in the lower triangle.
template <class T> ThresholdPivots factor_ldl_threshold(bool conjugate, MatrixView<T> a,
                                                        std::span<std::int32_t> perm,
                                                        std::span<T> off_diagonal, PivotRule<T> const& rule);

/// A(p, q) = L U for the panel `lower`, (m + r) x m, and the rows of U right of it: `upper`, s x m, stored
/// transposed. U is not bounded. row_perm[new] = old and column_perm[new] = old have m entries. In `upper`,
/// too, columns from `eliminated` on are what remains of the rows left over. With rule.rows = 0 all columns
/// are eliminated, unless entries are not finite or zeros are not replaced.
template <class T> ThresholdPivots factor_lu_threshold(MatrixView<T> lower, MatrixView<T> upper,
                                                       std::span<std::int32_t> row_perm,
                                                       std::span<std::int32_t> column_perm,
                                                       PivotRule<T> const& rule);

} // namespace espalier
