// Pairs of rows and columns for 2 x 2 pivots of a symmetric matrix, whose rows and columns must be permuted
// alike. Input: a matching; output: disjoint pairs of indices to be eliminated together. Follows Duff and
// Pralet 2005.
#pragma once

#include <utility>
#include <vector>

#include "scaling/matching.hpp"

namespace espalier {

/// Splits the cycles of the matching, seen as a permutation, into pairs of neighbours. A structurally
/// singular matrix also has paths. A cycle of even length can be split in two ways; the one whose scaled 2 x
/// 2 blocks have the larger product of |determinants| is taken. A cycle of odd length first drops the index
/// with the largest scaled diagonal. Each pair is (smaller, larger) and has a matched off-diagonal entry.
/// Throws Error{usage} if the sizes of the matching and the matrix differ.
template <class T>
std::vector<std::pair<Index, Index>> matched_pairs(Matching const& matching, CscMatrix<T> const& a);

} // namespace espalier
