// Approximate minimum degree (Amestoy, Davis and Duff 1996). Input: a symmetric pattern; output: an order of
// its vertices in which elimination causes little fill, and bounds of the entries and operations of the
// factors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/graph.hpp"
#include "core/scalar.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// A vertex with more neighbors has a dense front in every order and slows all methods down, so it comes
/// last (the bound of AMD: Amestoy, Davis, Duff 2004, algorithm 837).
Index dense_degree(Index num_vertices);

/// The cost of an LU factorization in this order with all pivots on the diagonal: entries of L below the
/// diagonal (as many as of U above it), and operations. These are upper bounds, which are nearly sharp.
struct EliminationCost {
    Offset nnz_lower = 0;
    double flops = 0;
};

/// The columns of a square pattern with their rows in any order, with or without diagonal.
struct SquarePattern {
    std::span<std::int32_t const> ptr, ind;
    bool is_symmetric = false; ///< The pattern is known to be symmetric, which saves time.
};

/// Orders the pattern A + A^T: order[new] = old. Takes little more than linear time on sparse graphs. Returns
/// nothing, and writes no order, once it expects more than `most_flops` operations. Narrow bands
/// (minimum_degree/band.hpp) keep their order.
std::optional<EliminationCost> minimum_degree(SquarePattern const& a, std::span<std::int32_t> order,
                                              double most_flops = infinity);

/// Orders the vertices of a graph with their weights, which are scaled by balance_weights() if they are far
/// from 1: order[new] = old. Error{unsupported} for 2^30 vertices or more.
std::vector<Index> minimum_degree(Graph const& graph);

} // namespace espalier
