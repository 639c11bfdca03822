// The row structure of each supernode: the vertices below its columns. In: the lower pattern and a partition
// into supernodes. Out: row lists, and the same seen from the supernodes that own the rows as columns.
// Time and space are linear in the edges plus the output.
#pragma once

#include <span>
#include <vector>

#include "symbolic/supernodes.hpp"

namespace espalier {

struct RowStructure {
    std::vector<Offset> ptr{0}; ///< One entry a supernode, and one.
    std::vector<Vertex> rows;   ///< Rows below supernode s, in no order: rows[ptr[s] .. ptr[s + 1]).

    [[nodiscard]] std::span<Vertex const> rows_of(SupernodeId s) const {
        return {rows.data() + ptr[s], rows.data() + ptr[s + 1]};
    }
};

/// rows(s) = (A(:, columns of s) united with rows(c) for the children c of s) without the columns of s.
RowStructure row_structure(LowerPattern const& pattern, Supernodes const& supernodes);

/// Rows of supernode `owner` that are columns of supernode j: elements [begin, end) of FacingSets::elements.
struct FacingSet {
    SupernodeId owner = no_supernode;
    Offset begin = 0;
    Offset end = 0;
    [[nodiscard]] Offset size() const { return end - begin; }
};

/// For each supernode j the rows of its descendants that face it.
struct FacingSets {
    std::vector<Offset> set_ptr{0}; ///< Sets that face j, by owner: sets[set_ptr[j] .. set_ptr[j + 1]).
    std::vector<FacingSet> sets;
    std::vector<Vertex> elements; ///< Positions among the members of j, in no order within a set.

    [[nodiscard]] std::span<FacingSet const> facing(SupernodeId j) const {
        return {sets.data() + set_ptr[j], sets.data() + set_ptr[j + 1]};
    }
    [[nodiscard]] std::span<Vertex const> of(FacingSet const& set) const {
        return {elements.data() + set.begin, elements.data() + set.end};
    }
};

FacingSets facing_sets(RowStructure const& structure, Supernodes const& supernodes);

} // namespace espalier
