// Fill-reducing orderings. Input: a weighted graph. Output: a permutation of its vertices.
#pragma once

#include <string>
#include <vector>

#include "core/graph.hpp"
#include "core/progress.hpp"

namespace espalier {

struct OrderingOptions {
    OrderingMethod method = OrderingMethod::scotch;
    std::string user_file;    ///< For OrderingMethod::user: see read_permutation.
    int threads = 1;          ///< Threads a library may use; the result does not depend on it ...
    bool deterministic = true; ///< ... unless this is false.
    std::string scotch_strategy; ///< SCOTCH ordering strategy string; empty for the default of Espalier.
};

struct Ordering {
    std::vector<Index> perm;    ///< perm[old] = new.
    std::vector<Index> inverse; ///< inverse[new] = old.
};

Ordering compute_ordering(Graph const& graph, OrderingOptions const& options);

} // namespace espalier
