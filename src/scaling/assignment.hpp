// The linear assignment problem for a sparse square matrix of integer costs: match each column to a distinct
// row such that the sum of the matched costs is minimal. Input: costs by column; output: a matching, and dual
// variables that prove it optimal. Follows Duff and Koster 2001, after Derigs and Metz 1986.
#pragma once

#include <cstdint>
#include <vector>

#include "core/interrupt.hpp"
#include "espalier/range.hpp"

namespace espalier {

/// Costs of the entries that may be matched, in compressed columns.
struct SparseCosts {
    Index n = 0;                    ///< Number of rows and of columns.
    std::vector<Offset> col_ptr{0}; ///< n + 1 positions.
    std::vector<Index> row_ind;     ///< Row of each entry.
    std::vector<std::int32_t> cost; ///< Cost of each entry.

    [[nodiscard]] IndexRange entries_of(Index j) const { return {col_ptr[j], col_ptr[j + 1]}; }
};

/// A matching of the largest possible size, and duals that satisfy
///     row_dual[i] + column_dual[j] <= cost(i, j), with equality if column j is matched to row i.
/// Hence no matching of the same rows and columns costs less.
struct Assignment {
    std::vector<Index> row_of_column; ///< The row matched to each column, or -1.
    std::vector<Offset> row_dual;     ///< Maximal for unmatched rows; 0 for empty rows.
    std::vector<Offset> column_dual;  ///< Maximal for unmatched columns; 0 for empty columns.
    Index size = 0;                   ///< Number of matched columns, the structural rank.
};

/// Solves the assignment problem in near-linear time in practice, in the worst case with n searches of the
/// whole matrix. It is fastest if many costs are equal. Entries of the diagonal are preferred to others of
/// equal cost at the beginning. Memory is linear. Throws Error{cancelled} if `interrupt` is requested.
Assignment solve_assignment(SparseCosts const& costs, Interrupt* interrupt = nullptr);

} // namespace espalier
