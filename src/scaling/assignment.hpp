// The linear assignment problem on a sparse square matrix of costs: match every column to a row of its own
// such that the sum of the matched costs is least. In: costs by column; out: a matching, and the dual
// variables that prove it optimal. Duff and Koster 2001, after Derigs and Metz 1986.
#pragma once

#include <vector>

#include "core/interrupt.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// Costs of the entries that may be matched, compressed by column; each finite.
struct SparseCosts {
    Index n = 0;
    std::vector<Offset> col_ptr{0};
    std::vector<Index> row_ind;
    std::vector<double> cost;
};

/// A matching of the largest possible size, and duals with
///     row_dual[i] + column_dual[j] <= cost(i, j), equal where column j is matched to row i
/// (up to rounding). So no matching of the same rows and columns costs less.
struct Assignment {
    std::vector<Index> row_of_column; ///< -1 where a column is not matched.
    std::vector<double> row_dual;     ///< As large as the columns allow where a row is not matched.
    std::vector<double> column_dual;  ///< As large as the rows allow. Duals of empty rows and columns are 0.
    Index size = 0;                   ///< Matched columns: the structural rank.
};

/// Near-linear in practice; n searches of the whole matrix at worst. Memory is linear. No recursion.
/// Error{cancelled} by `interrupt`.
Assignment solve_assignment(SparseCosts const& costs, Interrupt* interrupt = nullptr);

} // namespace espalier
