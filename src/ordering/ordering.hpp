// Fill-reducing orderings. Input: a weighted graph. Output: a permutation of its vertices.
#pragma once

#include <string>
#include <vector>

#include "core/graph.hpp"
#include "core/interrupt.hpp"

namespace espalier {

struct OrderingOptions {
    OrderingMethod method = OrderingMethod::scotch;
    std::vector<Index> user_positions; ///< For OrderingMethod::user: perm[old] = new; empty: from the file.
    std::string user_file;             ///< See read_permutation.
    int threads = 1;                   ///< Threads a library may use; the result does not depend on it ...
    bool deterministic = true;         ///< ... unless this is false (matters with scotch_strategy only).
    /// SCOTCH ordering strategy string; empty for the default of Espalier. SCOTCH runs it as it is, without
    /// weights, and may crash: 7.0.3 always does with the edge separation method `e`, and its own leaf
    /// methods `d` and `f` do, or never end, on some irregular graphs.
    std::string scotch_strategy;
    Interrupt* interrupt = nullptr; ///< Looked at between the cuts of `scotch`: Error{cancelled}.
};

struct Ordering {
    std::vector<Index> perm;    ///< perm[old] = new.
    std::vector<Index> inverse; ///< inverse[new] = old.
};

/// Orders the vertices of `graph` (which may be empty, disconnected, or have vertices of any degree). The
/// same graph and options give the same order each time; calls from several threads are safe. For scotch and
/// metis the weights say how much a vertex counts in the balance of a dissection. `natural` and `user` speak
/// of matrix rows: the graph must not be compressed (n = rows, all weights 1), else Error{usage}. Also throws
/// Error{unsupported} when the graph is too large for the library's integers, Error{usage} for a bad strategy
/// string, and what read_permutation throws.
Ordering compute_ordering(Graph const& graph, OrderingOptions const& options);

} // namespace espalier
