// The row structure of each supernode: the vertices below its columns. Input: the lower pattern and a
// partition into supernodes; output: lists of rows, and their inverse, grouped by the supernodes that own the
// rows as columns. Time and memory are linear in the edges plus the output.
#pragma once

#include <span>
#include <vector>

#include "symbolic/supernodes.hpp"

namespace espalier {

struct RowStructure {
    std::vector<Offset> ptr{0}; ///< Number of supernodes + 1 entries.
    std::vector<Vertex> rows;   ///< Rows below supernode s, unordered: rows[ptr[s] .. ptr[s + 1]).

    [[nodiscard]] std::span<Vertex const> rows_of(SupernodeId s) const {
        return {rows.data() + ptr[s], rows.data() + ptr[s + 1]};
    }
};

/// rows(s) is the union of A(:, columns of s) and rows(c) for all children c of s, without the columns of s.
RowStructure row_structure(LowerPattern const& pattern, Supernodes const& supernodes);

/// Rows of supernode `owner` that are columns of supernode j: elements [begin, end) of FacingSets::elements.
struct FacingSet {
    SupernodeId owner = no_supernode; ///< The supernode with these rows.
    Offset begin = 0;                 ///< First element.
    Offset end = 0;                   ///< One past the last element.
    [[nodiscard]] Offset size() const { return end - begin; }
};

/// For each supernode j the rows of its descendants that face it.
struct FacingSets {
    std::vector<Offset> set_ptr{0}; ///< Sets that face j, by owner: sets[set_ptr[j] .. set_ptr[j + 1]).
    std::vector<FacingSet> sets;    ///< All sets.
    std::vector<Vertex> elements;   ///< Positions among the members of j, unordered within a set.

    [[nodiscard]] std::span<FacingSet const> facing(SupernodeId j) const {
        return {sets.data() + set_ptr[j], sets.data() + set_ptr[j + 1]};
    }
    [[nodiscard]] std::span<Vertex const> of(FacingSet const& set) const {
        return {elements.data() + set.begin, elements.data() + set.end};
    }
};

/// Groups the rows of all supernodes by the supernodes that own them as columns.
FacingSets facing_sets(RowStructure const& structure, Supernodes const& supernodes);

/// Permutes the members inside each supernode and renumbers the elements of `sets` accordingly.
void reorder_columns(Supernodes& supernodes, FacingSets& sets);

} // namespace espalier
