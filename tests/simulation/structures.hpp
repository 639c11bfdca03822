// Block structures over a given tree, for tests.
#pragma once

#include <random>
#include <vector>

#include "mapping/trees.hpp"
#include "simulation/schedule.hpp"

namespace espalier {

/// A structure over the postordered forest `parent`: cblk k is `width[k]` columns wide and faces its parent
/// and some of those that its parent faces, with all their columns.
inline BlockStructure structure_of(std::vector<CblkId> const& parent, std::vector<Index> const& width,
                                   unsigned seed) {
    std::mt19937 engine(seed);
    BlockStructure structure = tree_of(parent);
    std::size_t const count = parent.size();
    for (std::size_t k = 0; k < count; ++k) {
        structure.cblks[k].first_col = structure.n;
        structure.n += width[k];
        structure.cblks[k].end_col = structure.n;
    }
    std::vector<std::vector<CblkId>> rows(count);
    for (std::size_t k = count; k-- > 0;) {
        if (parent[k] == no_cblk) continue;
        rows[k].push_back(parent[k]);
        for (CblkId const above : rows[parent[k]])
            if (engine() % 3 > 0) rows[k].push_back(above);
    }
    std::vector<std::vector<BlokId>> facing(count);
    for (std::size_t k = 0; k < count; ++k) {
        Cblk& cblk = structure.cblks[k];
        cblk.first_blok = structure.num_bloks();
        auto const add = [&](CblkId to) {
            Cblk const& target = structure.cblks[to];
            structure.bloks.push_back({target.first_col, target.end_col, to, cblk.stride});
            structure.owner_of_blok.push_back(static_cast<CblkId>(k));
            cblk.stride += target.width();
        };
        add(static_cast<CblkId>(k));
        for (CblkId const above : rows[k]) {
            facing[above].push_back(structure.num_bloks());
            add(above);
        }
        cblk.end_blok = structure.num_bloks();
    }
    structure.facing_ptr.assign(1, 0);
    for (auto const& list : facing) {
        structure.facing.insert(structure.facing.end(), list.begin(), list.end());
        structure.facing_ptr.push_back(static_cast<Offset>(structure.facing.size()));
    }
    return structure;
}

/// Panels of at least `width` columns are cut into groups of at least `rows` rows.
inline ScheduleOptions two_d(Index width, Index rows) {
    ScheduleOptions options;
    options.splitting = Splitting::two_d;
    options.split_width = width;
    options.split_rows = rows;
    return options;
}

inline BlockStructure random_structure(int size, unsigned seed) {
    std::mt19937 engine(seed + 1000);
    std::vector<Index> width(size);
    for (Index& w : width) w = 1 + static_cast<Index>(engine() % 60);
    return structure_of(random_forest(size, seed), width, seed);
}

} // namespace espalier
