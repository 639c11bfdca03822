// Calls the selected method. Isolated vertices are numbered first and nearly dense vertices last, without it.
#include "ordering/ordering.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/counted.hpp"
#include "minimum_degree/minimum_degree.hpp"
#include "ordering/induced_subgraph.hpp"
#include "ordering/methods.hpp"
#include "ordering/permutation.hpp"
#include "ordering/rcm.hpp"

namespace espalier {

namespace {

// The vertices in three classes. An isolated vertex has only dense neighbors, so the core has no vertices
// without neighbors.
struct Classes {
    std::vector<Index> isolated, core; // ascending
    std::vector<Index> dense;          // by ascending degree
};

Classes classify(Graph const& graph) {
    Classes classes;
    Offset const limit = dense_degree(graph.num_vertices);
    auto const is_dense = [&](Index v) { return graph.degree(v) > limit; };
    for (Index v = 0; v < graph.num_vertices; ++v) {
        auto const neighbors = graph.neighbors(v);
        if (is_dense(v))
            classes.dense.push_back(v);
        else if (std::all_of(neighbors.begin(), neighbors.end(), is_dense))
            classes.isolated.push_back(v);
        else
            classes.core.push_back(v);
    }
    std::stable_sort(classes.dense.begin(), classes.dense.end(),
                     [&](Index a, Index b) { return graph.degree(a) < graph.degree(b); });
    return classes;
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
        return invert_permutation(minimum_degree(graph), "minimum degree");
    case OrderingMethod::scotch:
        if (options.scotch_strategy.empty())
            return order_by_scotch(graph, options.threads, options.interrupt);
        return order_by_scotch_strategy(graph, options.scotch_strategy, options.threads,
                                        options.deterministic);
    default:
        return order_by_dissection(graph, options.threads, options.interrupt);
    }
}

std::vector<Index> fill_reducing(Graph const& graph, OrderingOptions const& options) {
    auto const classes = classify(graph);
    if (std::ssize(classes.core) == graph.num_vertices) return order_core(graph, options);
    auto const core = order_core(induced_subgraph(graph, classes.core), options);
    Index const num_isolated = std::ssize(classes.isolated);
    std::vector<Index> perm(graph.num_vertices);
    Index position = 0;
    for (Index const v : classes.isolated) perm[v] = position++;
    for (Index k = 0; k < std::ssize(core); ++k, ++position) perm[classes.core[k]] = num_isolated + core[k];
    for (Index const v : classes.dense) perm[v] = position++;
    return perm;
}

void check_shape(Graph const& graph) {
    Index const n = graph.num_vertices;
    if (n < 0 || std::ssize(graph.ptr) != n + 1 || graph.ptr.front() != 0 ||
        graph.ptr.back() != std::ssize(graph.adj) || (!graph.weight.empty() && std::ssize(graph.weight) != n))
        throw Error(Status::internal, "the arrays of the graph have inconsistent sizes");
}

void require_rows(Graph const& graph, OrderingMethod method) {
    if (std::any_of(graph.weight.begin(), graph.weight.end(), [](Index w) { return w != 1; }))
        throw Error(Status::usage,
                    fmt::format("the ordering '{}' orders matrix rows and cannot be applied to a "
                                "compressed graph",
                                to_string(method)));
}

std::vector<Index> const& checked_positions(std::vector<Index> const& positions, Index n) {
    if (std::ssize(positions) != n)
        throw Error(Status::usage,
                    fmt::format("the ordering has {}; the matrix has {}",
                                counted(std::ssize(positions), "position"), counted(n, "row")));
    std::vector<Index> row_at(n, -1);
    for (Index row = 0; row < n; ++row) {
        Index const position = positions[row];
        if (position < 0 || position >= n)
            throw Error(Status::usage,
                        fmt::format("position {} of row {} in the ordering is not between 0 and {}", position,
                                    row, n - 1));
        if (Index const other = std::exchange(row_at[position], row); other >= 0)
            throw Error(Status::usage, fmt::format("rows {} and {} have the same position {} in the ordering",
                                                   other, row, position));
    }
    return positions;
}

} // namespace

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
    case OrderingMethod::rcm:
        return order_by_rcm(graph);
    default:
        ordering.perm = fill_reducing(graph, options);
    }
    if (std::ssize(ordering.perm) != graph.num_vertices)
        throw Error(Status::internal,
                    fmt::format("{} returned an ordering of the wrong length", to_string(options.method)));
    ordering.inverse = invert_permutation(ordering.perm, to_string(options.method));
    return ordering;
}

Ordering compute_ordering(CompressedGraph const& compressed, OrderingOptions const& options) {
    auto const& [graph, vertex_of_row, last] = compressed;
    if (last.empty()) return compute_ordering(graph, options);
    std::vector<char> is_last(graph.num_vertices, 0);
    for (Index const v : last) is_last[v] = 1;
    auto const is_interior = [&](Index v) { return !is_last[v]; };
    std::vector<Index> inverse;
    if (options.method == OrderingMethod::natural || options.method == OrderingMethod::user) {
        inverse = compute_ordering(graph, options).inverse;
        std::stable_partition(inverse.begin(), inverse.end(), is_interior);
    } else {
        std::vector<Index> interior;
        std::ranges::copy_if(identity(graph.num_vertices), std::back_inserter(interior), is_interior);
        inverse = compute_ordering(induced_subgraph(graph, interior), options).inverse;
        for (Index& v : inverse) v = interior[v];
        inverse.insert(inverse.end(), last.begin(), last.end());
    }
    auto perm = invert_permutation(inverse, "the constrained ordering");
    return {std::move(perm), std::move(inverse)};
}

std::uint64_t ordering_bytes(Graph const& graph, OrderingOptions const& options) {
    struct Bytes {
        double of_vertex, of_edge; // cost of a directed edge
        double more;               // the share that many threads add
    };
    Bytes const bytes = [&]() -> Bytes {
        switch (options.method) {
        case OrderingMethod::dissection:
        case OrderingMethod::automatic:
            return {150, 60, 0.8};
        case OrderingMethod::scotch:
            return {250, 28, 0.4};
        case OrderingMethod::metis:
            return {250, 18, 0};
        default:
            return {250, 14, 0};
        }
    }();
    double const alone = bytes.of_vertex * static_cast<double>(graph.num_vertices) +
                         bytes.of_edge * static_cast<double>(std::ssize(graph.adj));
    return static_cast<std::uint64_t>(alone * (1 + bytes.more * (1 - 1.0 / std::max(1, options.threads))));
}

} // namespace espalier
