// Block structures that consist of a tree only, for tests.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "mapping/machine_model.hpp"
#include "symbolic/block_structure.hpp"

namespace espalier {

// A structure that has only a tree: `parent` is a postordered forest.
inline BlockStructure tree_of(std::vector<CblkId> const& parent) {
    BlockStructure structure;
    structure.cblks.resize(parent.size());
    structure.first_kept_cblk = static_cast<CblkId>(parent.size());
    for (std::size_t k = 0; k < parent.size(); ++k) {
        Cblk& cblk = structure.cblks[k];
        cblk.parent = parent[k];
        if (cblk.first_descendant == no_cblk) cblk.first_descendant = static_cast<CblkId>(k);
        if (parent[k] == no_cblk) continue;
        auto& above = structure.cblks[parent[k]];
        if (above.first_descendant == no_cblk) above.first_descendant = cblk.first_descendant;
    }
    return structure;
}

// Random postordered forest: each new node adopts some of the roots before it.
inline std::vector<CblkId> random_forest(int size, unsigned seed) {
    std::mt19937 engine(seed);
    std::vector<CblkId> parent(size, no_cblk);
    std::vector<CblkId> roots;
    for (CblkId k = 0; k < size; ++k) {
        auto adopted = std::min<std::size_t>(roots.size(), engine() % 4);
        for (; adopted > 0; --adopted) {
            parent[roots.back()] = k;
            roots.pop_back();
        }
        roots.push_back(k);
    }
    return parent;
}

/// A path from leaf 0 to its root.
inline std::vector<CblkId> chain(int size) {
    std::vector<CblkId> parent(size, no_cblk);
    for (CblkId k = 0; k + 1 < size; ++k) parent[k] = k + 1;
    return parent;
}

/// Leaves under one root.
inline std::vector<CblkId> star(int size) {
    std::vector<CblkId> parent(size, size - 1);
    parent.back() = no_cblk;
    return parent;
}

inline MachineModel machine_of(int processes, int threads) {
    MachineModel machine;
    machine.processes = processes;
    machine.threads = threads;
    machine.spare_cores = 2; // for communication threads, which then disturb no worker
    return machine;
}

} // namespace espalier
