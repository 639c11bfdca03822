// Chooses the method, and keeps from the libraries what none of them needs to see: vertices without
// neighbours are numbered first, nearly dense ones last.
#include "ordering/ordering.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ordering/methods.hpp"
#include "ordering/permutation.hpp"

namespace espalier {

namespace {

// A vertex with this many neighbours fills its front whatever the order, and slows every method down; the
// bound is AMD's (Amestoy, Davis, Duff 2004, algorithm 837).
Offset dense_degree(Index n) {
    return std::max<Offset>(16, static_cast<Offset>(10 * std::sqrt(static_cast<double>(n))));
}

// The vertices in three classes, each in ascending order (dense ones by ascending degree). An isolated vertex
// has no neighbours but dense ones, so that the core has none.
struct Classes {
    std::vector<Index> isolated, core, dense;
};

Classes classify(Graph const& graph) {
    Classes classes;
    Offset const limit = dense_degree(graph.num_vertices);
    auto const is_dense = [&](Index v) { return graph.degree(v) > limit; };
    for (Index v = 0; v < graph.num_vertices; ++v) {
        auto const first = graph.adj.begin() + graph.ptr[v];
        if (is_dense(v))
            classes.dense.push_back(v);
        else if (std::all_of(first, first + graph.degree(v), is_dense))
            classes.isolated.push_back(v);
        else
            classes.core.push_back(v);
    }
    std::stable_sort(classes.dense.begin(), classes.dense.end(),
                     [&](Index a, Index b) { return graph.degree(a) < graph.degree(b); });
    return classes;
}

Graph subgraph(Graph const& graph, std::vector<Index> const& vertices) {
    std::vector<Index> local(graph.num_vertices, -1);
    for (std::size_t k = 0; k < vertices.size(); ++k) local[vertices[k]] = static_cast<Index>(k);
    Graph result;
    result.num_vertices = static_cast<Index>(vertices.size());
    for (Index const v : vertices) {
        for (Offset e = graph.ptr[v]; e < graph.ptr[v + 1]; ++e)
            if (Index const w = local[graph.adj[e]]; w >= 0) result.adj.push_back(w);
        result.ptr.push_back(static_cast<Offset>(result.adj.size()));
        if (!graph.weight.empty()) result.weight.push_back(graph.weight[v]);
    }
    return result;
}

std::vector<Index> identity(Index n) {
    std::vector<Index> perm(n);
    std::iota(perm.begin(), perm.end(), Index(0));
    return perm;
}

std::vector<Index> order_core(Graph const& graph, OrderingOptions const& options) {
    if (graph.adj.empty()) return identity(graph.num_vertices);
    switch (options.method) {
    case OrderingMethod::metis:
        return order_by_metis(graph);
    case OrderingMethod::amd:
        return order_by_amd(graph);
    default:
        break;
    }
    if (options.scotch_strategy.empty()) return order_by_scotch(graph, options.threads, options.interrupt);
    return order_by_scotch_strategy(graph, options.scotch_strategy, options.threads, options.deterministic);
}

std::vector<Index> fill_reducing(Graph const& graph, OrderingOptions const& options) {
    auto const classes = classify(graph);
    if (classes.core.size() == static_cast<std::size_t>(graph.num_vertices))
        return order_core(graph, options);
    auto const core = order_core(subgraph(graph, classes.core), options);
    auto const after_isolated = static_cast<Index>(classes.isolated.size());
    auto const after_core = after_isolated + static_cast<Index>(classes.core.size());
    std::vector<Index> perm(graph.num_vertices);
    for (std::size_t k = 0; k < classes.isolated.size(); ++k)
        perm[classes.isolated[k]] = static_cast<Index>(k);
    for (std::size_t k = 0; k < classes.core.size(); ++k) perm[classes.core[k]] = after_isolated + core[k];
    for (std::size_t k = 0; k < classes.dense.size(); ++k)
        perm[classes.dense[k]] = after_core + static_cast<Index>(k);
    return perm;
}

void check_shape(Graph const& graph) {
    auto const n = static_cast<std::size_t>(graph.num_vertices);
    if (graph.num_vertices < 0 || graph.ptr.size() != n + 1 || graph.ptr.front() != 0 ||
        graph.ptr.back() != static_cast<Offset>(graph.adj.size()) ||
        (!graph.weight.empty() && graph.weight.size() != n))
        throw Error(Status::internal, "the arrays of the graph to order have inconsistent sizes");
}

void require_rows(Graph const& graph, OrderingMethod method) {
    if (std::any_of(graph.weight.begin(), graph.weight.end(), [](Index w) { return w != 1; }))
        throw Error(Status::usage, std::string("the ordering '") + to_string(method) +
                                       "' is over matrix rows and cannot be applied to a compressed graph");
}

std::vector<Index> const& checked_positions(std::vector<Index> const& positions, Index n) {
    if (static_cast<Index>(positions.size()) != n)
        throw Error(Status::usage, "the ordering has " + std::to_string(positions.size()) +
                                       " positions, the matrix " + std::to_string(n) + " rows");
    std::vector<Index> row_at(positions.size(), -1);
    for (std::size_t row = 0; row < positions.size(); ++row) {
        Index const position = positions[row];
        if (position < 0 || position >= n)
            throw Error(Status::usage, "position " + std::to_string(position) + " of row " +
                                           std::to_string(row) + " in the ordering is not between 0 and " +
                                           std::to_string(n - 1));
        Index& other = row_at[position];
        if (other >= 0)
            throw Error(Status::usage, "rows " + std::to_string(other) + " and " + std::to_string(row) +
                                           " have the same position " + std::to_string(position) +
                                           " in the ordering");
        other = static_cast<Index>(row);
    }
    return positions;
}

} // namespace

std::vector<Index> balance_weights(Graph const& graph, Index limit) {
    auto const& weight = graph.weight;
    if (weight.empty() || std::all_of(weight.begin(), weight.end(), [&](Index w) { return w == weight[0]; }))
        return {};
    double sum = 0;
    for (Index const w : weight) sum += static_cast<double>(std::max<Index>(1, w));
    auto const n = static_cast<double>(graph.num_vertices);
    // Heavy as they may be, on average they become 8; rounding up to 1 may add n to the scaled sum.
    double const room = (static_cast<double>(limit) - n) * (1 - 1e-6);
    double const scale = std::min({1.0, 8 * n / sum, room / sum});
    std::vector<Index> scaled(weight.size());
    for (std::size_t v = 0; v < weight.size(); ++v)
        scaled[v] = static_cast<Index>(std::clamp(scale * static_cast<double>(weight[v]), 1.0, 64.0));
    return scaled;
}

Ordering compute_ordering(Graph const& graph, OrderingOptions const& options) {
    check_shape(graph);
    Ordering ordering;
    switch (options.method) {
    case OrderingMethod::natural:
        require_rows(graph, options.method);
        ordering.perm = identity(graph.num_vertices);
        break;
    case OrderingMethod::user:
        require_rows(graph, options.method);
        ordering.perm = options.user_positions.empty()
                            ? read_permutation(options.user_file, graph.num_vertices)
                            : checked_positions(options.user_positions, graph.num_vertices);
        break;
    default:
        ordering.perm = fill_reducing(graph, options);
    }
    if (ordering.perm.size() != static_cast<std::size_t>(graph.num_vertices))
        throw Error(Status::internal,
                    std::string(to_string(options.method)) + " returned an order of the wrong length");
    ordering.inverse = invert_permutation(ordering.perm, to_string(options.method));
    return ordering;
}

} // namespace espalier
