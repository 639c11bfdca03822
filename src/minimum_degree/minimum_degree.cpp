#include "minimum_degree/minimum_degree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "minimum_degree/balance_weights.hpp"
#include "minimum_degree/band.hpp"
#include "minimum_degree/quotient_graph.hpp"

namespace espalier {

namespace {

// The lists of all vertices, and the free room of QuotientGraph, have 32-bit positions up to here.
constexpr std::size_t most_short_entries = std::size_t{1} << 30;

// The cost of eliminating n rows of a full band in their order.
EliminationCost cost_of_band(Index n, Index width) {
    EliminationCost cost;
    auto const add_columns = [&](Index columns, Index rows) {
        cost.nnz_lower += columns * rows;
        auto const below = static_cast<double>(rows);
        cost.flops += static_cast<double>(columns) * below * (1 + 2 * below);
    };
    add_columns(n - width, width);
    for (Index rows = 0; rows < width; ++rows) add_columns(1, rows);
    return cost;
}

template <class Position> std::optional<EliminationCost>
order_symmetric_pattern(SquarePattern const& a, std::span<std::int32_t> order, double most_flops) {
    auto const n = static_cast<std::int32_t>(order.size());
    std::vector<std::int32_t> length(n);
    for (std::int32_t j = 0; j < n; ++j) length[j] = a.ptr[j + 1] - a.ptr[j];
    QuotientGraph<Position> graph({}, length);
    for (std::int32_t j = 0; j < n; ++j)
        for (std::int32_t p = a.ptr[j]; p < a.ptr[j + 1]; ++p)
            if (a.ind[p] != j) graph.add(j, a.ind[p]);
    return graph.run(order, most_flops);
}

template <class Position> std::optional<EliminationCost>
order_pattern(SquarePattern const& a, std::span<std::int32_t> order, double most_flops) {
    auto const n = static_cast<std::int32_t>(order.size());
    auto const for_each_edge = [&](auto const& body) {
        for (std::int32_t j = 0; j < n; ++j)
            for (std::int32_t p = a.ptr[j]; p < a.ptr[j + 1]; ++p)
                if (a.ind[p] != j) body(a.ind[p], j);
    };
    std::vector<std::int32_t> length(n, 0);
    for_each_edge([&](std::int32_t i, std::int32_t j) {
        ++length[i];
        ++length[j];
    });
    QuotientGraph<Position> graph({}, length);
    for_each_edge([&](std::int32_t i, std::int32_t j) {
        graph.add(i, j);
        graph.add(j, i);
    });
    graph.drop_repeated();
    return graph.run(order, most_flops);
}

template <class Position> std::optional<EliminationCost>
order_columns(SquarePattern const& a, std::span<std::int32_t> order, double most_flops) {
    return a.is_symmetric ? order_symmetric_pattern<Position>(a, order, most_flops)
                          : order_pattern<Position>(a, order, most_flops);
}

template <class Position> void order_graph(Graph const& graph, std::vector<std::int32_t> const& weights,
                                           std::span<std::int32_t> order) {
    std::vector<std::int32_t> length(order.size());
    for (std::size_t v = 0; v < length.size(); ++v) length[v] = static_cast<std::int32_t>(graph.degree(v));
    QuotientGraph<Position> quotient(weights, length);
    for (std::int32_t v = 0; v < std::ssize(order); ++v)
        for (Index const w : graph.neighbors(v)) quotient.add(v, static_cast<std::int32_t>(w));
    quotient.run(order, infinity);
}

} // namespace

Index dense_degree(Index num_vertices) {
    return std::max<Index>(16, static_cast<Index>(10 * std::sqrt(static_cast<double>(num_vertices))));
}

std::optional<EliminationCost> minimum_degree(SquarePattern const& a, std::span<std::int32_t> order,
                                              double most_flops) {
    if (auto const width = narrow_bandwidth(a.ptr, a.ind, false)) {
        EliminationCost const cost = cost_of_band(std::ssize(order), *width);
        if (cost.flops > most_flops) return std::nullopt;
        std::iota(order.begin(), order.end(), 0);
        return cost;
    }
    return 2 * a.ind.size() + order.size() < most_short_entries
               ? order_columns<std::int32_t>(a, order, most_flops)
               : order_columns<std::int64_t>(a, order, most_flops);
}

std::vector<Index> minimum_degree(Graph const& graph) {
    constexpr Index most_weight = Index{1} << 30; // for all vertices together; degrees are sums of weights
    if (graph.num_vertices >= most_weight)
        throw Error(Status::unsupported,
                    fmt::format("the ordering 'amd' needs a graph of fewer than 2^30 vertices (it has {})",
                                graph.num_vertices));
    double sum = 0;
    Index least = 1;
    for (Index const weight : graph.weight) {
        sum += static_cast<double>(weight);
        least = std::min(least, weight);
    }
    // The degrees index an array, so weights with a sum far above the number of vertices are scaled; negative
    // or zero ones, too.
    bool const is_balanced =
        least > 0 && sum < std::min<double>(most_weight, 64.0 * static_cast<double>(graph.num_vertices));
    auto const balanced = is_balanced ? graph.weight : balance_weights(graph, most_weight);
    std::vector<std::int32_t> const weights(balanced.begin(), balanced.end());
    std::vector<std::int32_t> order(graph.num_vertices);
    if (graph.adj.size() + order.size() < most_short_entries)
        order_graph<std::int32_t>(graph, weights, order);
    else
        order_graph<std::int64_t>(graph, weights, order);
    return {order.begin(), order.end()};
}

} // namespace espalier
