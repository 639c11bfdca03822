// Maximum-product matching of rows to columns, which moves large entries to the diagonal, and the scaling
// that belongs to it. Input: a square matrix; output: the row for the diagonal position of each column, and
// scales under which these entries have moduli near 1 and no entry is much larger. Follows Duff and Koster
// 2001 (MC64), with rounded moduli.
//
// Pairs of rows and columns for 2 x 2 pivots of a symmetric matrix, whose rows and columns must be permuted
// alike. Input: a matching; output: disjoint pairs of indices to be eliminated together. Follows Duff and
// Pralet 2005.
#pragma once

#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "espalier/matrix.hpp"
#include "scaling/scaled_value.hpp"

namespace espalier {

/// A matching and its scales r = row_scale and c = column_scale, all in 2^-1000 .. 2^1000. After moduli were
/// rounded to powers of s = 2^(1/steps), |r_i a_ij c_j| is at most sqrt(s) for all entries, and at least
/// 1 / sqrt(s) for the matched entries.
struct Matching {
    std::vector<Index> row_of_column; ///< The row matched to each column, or -1. No row appears twice.
    std::vector<double> row_scale;    ///< One scale per row.
    std::vector<double> column_scale; ///< One scale per column.
    Index structural_rank = 0;        ///< Number of matched columns, the maximum over all matchings.
};

/// Computes a matching that maximizes the product of the matched moduli, each rounded to a power of
/// 2^(1/steps) on a logarithmic scale. With one step, scales are powers of two, and the matching takes down
/// to a fifth of the time that it takes with many. Among equal moduli, those on the diagonal are preferred.
/// Explicit zeros are never matched. A matrix stored as a triangle is treated as the whole matrix. For a
/// structurally singular matrix, the matching has the largest possible size, and the maximal product among
/// matchings of the same rows and columns; the largest scaled entry of an unmatched row or column is near 1,
/// and empty rows and columns have scale 1. If a scale is clamped to its range, entries of its row or column
/// may be larger. Near-linear time in practice. Throws Error{bad_input} if the matrix is not square, or with
/// the position of a NaN or Inf; Error{cancelled}.
template <class T>
Matching maximum_product_matching(CscMatrix<T> const& a, int steps = 1, Interrupt* interrupt = nullptr);

/// s_i = sqrt(r_i c_i). For a symmetric or Hermitian matrix |s_i a_ij s_j| has the bounds of |r_i a_ij c_j|
/// (Duff and Pralet 2005).
std::vector<double> symmetric_scaling(Matching const& matching);

/// Splits the cycles of the matching, seen as a permutation, into pairs of neighbors. A structurally
/// singular matrix also has paths. A cycle of even length can be split in two ways; the one whose scaled 2 x
/// 2 blocks have the larger product of |determinants| is taken. A cycle of odd length first drops the index
/// with the largest scaled diagonal. Each pair is (smaller, larger) and has a matched off-diagonal entry.
/// Throws Error{usage} if the sizes of the matching and the matrix differ.
template <class T>
std::vector<std::pair<Index, Index>> matched_pairs(Matching const& matching, CscMatrix<T> const& a);

} // namespace espalier
