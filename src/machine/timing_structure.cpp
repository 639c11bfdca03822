#include "machine/timing_structure.hpp"

#include <algorithm>
#include <cmath>

#include "symbolic/symbolic.hpp"

namespace espalier {

namespace {

// The graph of n x n x layers points with `unknowns` each: neighbors along the axes, or all around.
Graph lattice(Index n, Index layers, Index unknowns, bool with_corners) {
    Graph graph;
    graph.num_vertices = n * n * layers * unknowns;
    auto const each = [](Index i, Index points, auto const& body) {
        for (Index j = std::max<Index>(i - 1, 0); j <= std::min(i + 1, points - 1); ++j) body(j);
    };
    auto const add_neighbors = [&](Index x, Index y, Index z, Index self) {
        each(z, layers, [&](Index c) {
            each(y, n, [&](Index b) {
                each(x, n, [&](Index a) {
                    if (!with_corners && (a != x) + (b != y) + (c != z) > 1) return;
                    for (Index u = 0; u < unknowns; ++u) {
                        Index const other = ((c * n + b) * n + a) * unknowns + u;
                        if (other != self) graph.adj.push_back(other);
                    }
                });
            });
        });
    };
    for (Index v = 0; v < graph.num_vertices; ++v) {
        Index const point = v / unknowns;
        add_neighbors(point % n, point / n % n, point / (n * n), v);
        graph.ptr.push_back(std::ssize(graph.adj));
    }
    return graph;
}

// Panels grow with the fourth power of n, and operations with the sixth.
Index points(TimingLimits const& limits, double bytes_of_24, double operations_of_24) {
    double const n = 24 * std::min(std::pow(limits.bytes / bytes_of_24, 1.0 / 4),
                                   std::pow(limits.operations / operations_of_24, 1.0 / 6));
    return std::clamp<Index>(static_cast<Index>(n), 6, 48);
}

BlockStructure structure_of(Graph graph) {
    CompressedGraph const compressed = compress(std::move(graph));
    return symbolic_factorization(compressed, compute_ordering(compressed, OrderingOptions{}),
                                  SymbolicOptions{});
}

} // namespace

std::vector<BlockStructure> timing_structures(FactorForm form, std::size_t scalar_bytes,
                                              TimingLimits const& limits) {
    double const sides = form.has_upper() ? 2 : 1;
    double const entry = static_cast<double>(scalar_bytes) * sides;
    std::vector<BlockStructure> structures;
    Index const scalars = points(limits, 2.1e6 * entry, 0.33e9 * sides);
    Index const triples = points(limits, 40e6 * entry, 2.5e10 * sides);
    structures.push_back(structure_of(lattice(scalars, scalars, 1, false)));
    structures.push_back(structure_of(lattice(triples, triples, 3, true)));
    // A plane has many cblks with few rows, whose updates have few runs. It needs up to 80 entries for a
    // point.
    Index const side = std::min(8 * scalars, static_cast<Index>(std::sqrt(limits.bytes / (80 * entry))));
    structures.push_back(structure_of(lattice(std::max<Index>(side, 6), 1, 1, true)));
    return structures;
}

} // namespace espalier
