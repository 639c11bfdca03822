// Pairs of rows and columns for 2 x 2 pivots: what a matching says about a symmetric matrix, which must keep
// its rows and columns in the same order. In: a matching; out: disjoint pairs of indices to be eliminated
// together. Duff and Pralet 2005.
#pragma once

#include <utility>
#include <vector>

#include "scaling/matching.hpp"

namespace espalier {

/// The matching as a permutation falls apart into cycles (and, where the matrix is structurally singular,
/// paths). Of a longer cycle, neighbours are paired: of the two ways to do so in a cycle of even length, the
/// one whose scaled 2 x 2 blocks have the larger product of |determinants|; one of odd length first loses
/// the index with the largest scaled diagonal. Each pair is (smaller, larger) and has a matched entry off
/// the diagonal; an index in no pair stands alone. Error{usage} when the sizes do not agree.
template <class T>
std::vector<std::pair<Index, Index>> matched_pairs(Matching const& matching, CscMatrix<T> const& a);

} // namespace espalier
