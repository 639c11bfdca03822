// Fill-reducing orderings. Input: a weighted graph; output: a permutation of its vertices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/interrupt.hpp"
#include "ordering/compress.hpp"

namespace espalier {

struct OrderingOptions {
    OrderingMethod method = OrderingMethod::dissection; ///< `automatic` is dissection.
    std::vector<Index> user_positions; ///< For OrderingMethod::user: perm[old] = new, or empty.
    std::string user_file;     ///< For OrderingMethod::user without positions: file for read_permutation().
    int threads = 1;
    bool deterministic = true; ///< If false, the result of scotch_strategy may depend on the threads.
    /// SCOTCH ordering strategy string; empty for the default of Espalier. SCOTCH uses it without weights and
    /// may crash: 7.0.3 does with the edge separation method `e`, and on some irregular graphs with the leaf
    /// methods `d` and `f`, which may also not end.
    std::string scotch_strategy;
    Interrupt* interrupt = nullptr; ///< Checked between the cuts of `scotch`; may be null.
};

struct Ordering {
    std::vector<Index> perm;    ///< perm[old] = new.
    std::vector<Index> inverse; ///< inverse[new] = old.
};

/// Orders the vertices of `graph`, which may be empty or disconnected. Equal graphs and options give equal
/// orderings; the function is thread-safe. scotch and metis use the weights to balance the parts of a
/// dissection. natural and user order matrix rows, so the graph must not be compressed. Throws Error{usage}
/// if it is, for an invalid strategy string and for invalid user_positions; Error{unsupported} if the graph
/// is too large for the integers of the library; Error{cancelled}; and the errors of read_permutation().
Ordering compute_ordering(Graph const& graph, OrderingOptions const& options);

/// Orders the interior of a compressed graph, the vertices that need not come last, likewise. The other
/// vertices follow in ascending order, or in their order in the user's ordering.
Ordering compute_ordering(CompressedGraph const& compressed, OrderingOptions const& options);

/// An upper estimate of the memory of compute_ordering() and of the symbolic factorization that follows, in
/// addition to the graph. It was fitted to the peaks of all methods on grids, chains and random graphs.
std::uint64_t ordering_bytes(Graph const& graph, OrderingOptions const& options);

} // namespace espalier
