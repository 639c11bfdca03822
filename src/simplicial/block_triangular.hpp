// Permutation to block upper triangular form. Input: the pattern of a square matrix; output: an order of its
// rows and one of its columns with entries on the whole diagonal (if there are such orders), in which the
// diagonal blocks cannot be divided further. Only these blocks need a factorization.
//
// The rows come from a maximum matching of rows and columns by disjoint augmenting paths with lookahead
// (Pothen and Fan 1990; with alternating directions: Duff, Kaya and Uçar 2011), and by shortest paths if
// these are slow (Hopcroft and Karp 1973). The blocks are the strongly connected components of the graph of
// the matched matrix (Tarjan 1972; Duff and Reid 1978). Those of a symmetric pattern with a full diagonal are
// its connected components, which are found faster by joining sets (Galler and Fischer 1964).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

/// The columns of a square pattern, n at most 2^31 - 1. It refers to the arrays of a CscMatrix.
struct PatternView {
    std::span<Offset const> ptr; ///< n + 1 positions.
    std::span<Index const> ind;  ///< The row of each entry.

    [[nodiscard]] std::int32_t order() const { return static_cast<std::int32_t>(std::ssize(ptr) - 1); }
};

/// Row row[k] and column column[k] come to position k. Entries of block b are at positions start[b] ..
/// start[b + 1] - 1 of rows and columns; the columns of a block have all other entries in rows of earlier
/// blocks.
struct BlockTriangularForm {
    std::vector<std::int32_t> row, column, start;
    Index structural_rank = 0; ///< If it is less than n, some diagonal entries are missing.
    bool is_symmetric = false; ///< The pattern was found to be symmetric with all entries on the diagonal.

    [[nodiscard]] Index num_blocks() const { return std::ssize(start) - 1; }
};

/// A maximum matching: the row of each column, or -1. Entries of the diagonal are matched first. Returns
/// nothing if searches would visit more than `most_passes` times the entries and columns. Matrices of
/// applications need a few passes, hard ones with random patterns up to a few hundred.
std::optional<std::vector<std::int32_t>> maximum_matching(PatternView const& pattern,
                                                          double most_passes = 100);

/// The block triangular form, or nothing if the matching needs more passes. Without a full matching,
/// unmatched rows and columns are paired in ascending order. Linear time after the matching.
std::optional<BlockTriangularForm> block_triangular_form(PatternView const& pattern,
                                                         double most_passes = 100);

} // namespace espalier
