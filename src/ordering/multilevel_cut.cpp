#include "ordering/multilevel_cut.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace espalier {

namespace {

constexpr Vertex coarsest = 120;       // vertices of a graph that is cut directly
constexpr int growths = 6;             // cuts of that graph to choose from
constexpr double worth_refining = 1.6; // a level with a separator so many times heavier may still win
constexpr double hopeless = 2.5;       // and one that is heavier than this is far from any good cut

// Further cuts to try. They lower the work by about 2 % each, and may take as much time as that saves: the
// work is 12 times the cube of the separator's weight, at 30 Gflop/s, and a cut takes 40 ns for each edge.
int further_cuts(CutGraph const& graph, Cut const& cut) {
    double const saved_s = 0.02 * 12 * std::pow(static_cast<double>(cut.weight[2]), 3) / 30e9;
    double const cut_s = 40e-9 * static_cast<double>(graph.adj.size());
    return static_cast<int>(std::min(3.0, saved_s / cut_s));
}

} // namespace

bool MultilevelCut::find(CutGraph const& graph, Settings& settings, Cut& cut) {
    random_ = SplitMix64(settings.seed);
    find_multilevel(graph, Visits::in_order, cut);
    auto const consider = [&] {
        if (candidate_.price() < cut.price()) std::swap(candidate_, cut);
    };
    for (int further = cut.divides() ? further_cuts(graph, cut) : 0; further > 0; --further) {
        find_multilevel(graph, Visits::shuffled, candidate_);
        consider();
    }
    if (settings.tries_levels) {
        cut_at_level(graph, candidate_);
        auto const is_within = [&](double factor) {
            return !cut.divides() || (candidate_.divides() && static_cast<double>(candidate_.weight[2]) <=
                                                                  factor * static_cast<double>(cut.weight[2]));
        };
        settings.tries_levels = is_within(hopeless);
        if (is_within(worth_refining)) {
            refinement_.refine(graph, candidate_);
            consider();
        }
    }
    return cut.divides();
}

void MultilevelCut::find_multilevel(CutGraph const& graph, Visits visits, Cut& cut) {
    auto const largest =
        static_cast<std::int32_t>(std::max<std::int64_t>(2, 3 * graph.total / (2 * coarsest)));
    std::size_t depth = 0;
    while (level(graph, depth).num_vertices() > coarsest) {
        if (levels_.size() == depth) levels_.emplace_back();
        CutGraph const& fine = level(graph, depth);
        Vertex const count = match(fine, largest, visits, levels_[depth].number);
        if (count > 0.95 * fine.num_vertices()) break;
        contract(fine, levels_[depth].number, count, levels_[depth].graph);
        ++depth;
    }
    cut_coarsest(level(graph, depth), cut);
    while (depth-- > 0) {
        CutGraph const& fine = level(graph, depth);
        part_.resize(fine.num_vertices());
        auto const& number = levels_[depth].number;
        for (Vertex v = 0; v < fine.num_vertices(); ++v) part_[v] = cut.part[number[v]];
        cut.part.swap(part_);
        refinement_.refine(fine, cut);
    }
}

// Pairs of vertices, which become one. number[v] becomes the pair of v, in the order of their first vertices.
// Returns the number of pairs.
Vertex MultilevelCut::match(CutGraph const& graph, std::int32_t largest, Visits visits,
                            std::vector<Vertex>& number) {
    match_by_weight(graph, largest, visits);
    match_at_distance_two(graph, largest);
    number.resize(graph.num_vertices());
    Vertex count = 0;
    for (Vertex v = 0; v < graph.num_vertices(); ++v)
        if (mate_[v] >= v) number[v] = number[mate_[v]] = count++;
    return count;
}

// Each vertex with the neighbour of the heaviest edge, and among those with the lightest. Visits in order keep
// the structure of a lattice.
void MultilevelCut::match_by_weight(CutGraph const& graph, std::int32_t largest, Visits visits) {
    Vertex const n = graph.num_vertices();
    mate_.assign(n, -1);
    auto const visit = [&](Vertex v) {
        if (mate_[v] >= 0) return;
        Vertex best = v;
        std::int32_t heaviest = 0;
        for (Offset e = graph.ptr[v]; e < graph.ptr[v + 1]; ++e) {
            Vertex const w = graph.adj[e];
            if (mate_[w] >= 0 || graph.weight[v] + graph.weight[w] > largest) continue;
            std::int32_t const weight = graph.weight_of_edge(e);
            if (weight < heaviest || (weight == heaviest && graph.weight[w] >= graph.weight[best])) continue;
            best = w;
            heaviest = weight;
        }
        mate_[v] = best;
        mate_[best] = v;
    };
    if (visits == Visits::in_order) {
        for (Vertex v = 0; v < n; ++v) visit(v);
        return;
    }
    visits_.resize(n);
    std::iota(visits_.begin(), visits_.end(), 0);
    for (Vertex k = n; k-- > 1;) std::swap(visits_[k], visits_[random_.below(k + 1)]);
    for (Vertex const v : visits_) visit(v);
}

// On irregular graphs many vertices have no free neighbour. They are paired with others that have the same
// heaviest edge, and vertices without edges with each other.
void MultilevelCut::match_at_distance_two(CutGraph const& graph, std::int32_t largest) {
    Vertex const n = graph.num_vertices();
    Vertex single = 0;
    for (Vertex v = 0; v < n; ++v) single += mate_[v] == v;
    if (single <= n / 10) return;
    waiting_.assign(n + 1, -1);
    for (Vertex v = 0; v < n; ++v) {
        if (mate_[v] != v) continue;
        Vertex between = n;
        std::int32_t heaviest = 0;
        for (Offset e = graph.ptr[v]; e < graph.ptr[v + 1]; ++e)
            if (graph.weight_of_edge(e) > heaviest) {
                heaviest = graph.weight_of_edge(e);
                between = graph.adj[e];
            }
        Vertex& other = waiting_[between];
        if (other < 0 || graph.weight[other] + graph.weight[v] > largest) {
            other = v;
            continue;
        }
        mate_[v] = other;
        mate_[other] = v;
        other = -1;
    }
}

void MultilevelCut::contract(CutGraph const& graph, std::vector<Vertex> const& number, Vertex coarse,
                             CutGraph& result) {
    result.total = graph.total;
    result.ptr.assign(1, 0);
    result.weight.clear();
    if (result.adj.size() < graph.adj.size()) {
        result.adj.resize(graph.adj.size());
        result.edge_weight.resize(graph.adj.size());
    }
    place_.assign(coarse, -1);
    Offset end = 0;
    for (Vertex v = 0; v < graph.num_vertices(); ++v) {
        if (mate_[v] < v) continue;
        Offset const begin = end;
        Vertex const merged = number[v];
        auto const add = [&](Vertex member) {
            for (Offset e = graph.ptr[member]; e < graph.ptr[member + 1]; ++e) {
                Vertex const w = number[graph.adj[e]];
                if (w == merged) continue;
                if (place_[w] < begin) {
                    place_[w] = end;
                    result.adj[end] = w;
                    result.edge_weight[end++] = graph.weight_of_edge(e);
                } else {
                    result.edge_weight[place_[w]] += graph.weight_of_edge(e);
                }
            }
        };
        add(v);
        if (mate_[v] != v) add(mate_[v]);
        result.ptr.push_back(end);
        result.weight.push_back(graph.weight[v] + (mate_[v] != v ? graph.weight[mate_[v]] : 0));
    }
}

void MultilevelCut::cut_coarsest(CutGraph const& graph, Cut& cut) {
    cut.weight = {}; // divides nothing
    Cut grown;
    for (int k = 0; k < growths; ++k) {
        refinement_.grow(graph, static_cast<Vertex>(random_.below(graph.num_vertices())), grown);
        refinement_.refine(graph, grown);
        if (k == 0 || grown.price() < cut.price()) std::swap(grown, cut);
    }
}

// Distances from root; queue_ receives the vertices that are reached. Returns the largest distance.
Vertex MultilevelCut::search(CutGraph const& graph, Vertex root) {
    distance_.assign(graph.num_vertices(), -1);
    queue_.assign(1, root);
    distance_[root] = 0;
    for (std::size_t k = 0; k < queue_.size(); ++k)
        for (Vertex const w : graph.neighbours(queue_[k]))
            if (distance_[w] < 0) {
                distance_[w] = distance_[queue_[k]] + 1;
                queue_.push_back(w);
            }
    return distance_[queue_.back()];
}

// The best level of a search from a vertex that is far from another one. On a lattice these levels are
// slanted planes, which have fewer vertices than planes along the axes.
void MultilevelCut::cut_at_level(CutGraph const& graph, Cut& cut) {
    auto root = static_cast<Vertex>(random_.below(graph.num_vertices()));
    Vertex depth = search(graph, root);
    auto const degree = [&](Vertex v) { return graph.ptr[v + 1] - graph.ptr[v]; };
    for (int k = 0; k < 3; ++k) {
        root = queue_.back();
        for (std::size_t q = queue_.size(); q-- > 0 && distance_[queue_[q]] == depth;)
            if (degree(queue_[q]) < degree(root)) root = queue_[q];
        if (Vertex const deeper = search(graph, root); std::exchange(depth, deeper) >= deeper) break;
    }
    std::vector<std::int64_t> weight(depth + 1, 0);
    for (Vertex const v : queue_) weight[distance_[v]] += graph.weight[v];
    double lowest = std::numeric_limits<double>::infinity();
    Vertex best = 0;
    std::int64_t below = 0;
    for (Vertex l = 0; l <= depth; below += weight[l++]) {
        Cut at_level{{}, {below, graph.total - below - weight[l], weight[l]}};
        auto const larger = static_cast<double>(std::max(at_level.weight[0], at_level.weight[1]));
        if (larger > largest_part * static_cast<double>(graph.total) || at_level.price() >= lowest) continue;
        lowest = at_level.price();
        best = l;
    }
    cut.part.resize(graph.num_vertices());
    for (Vertex v = 0; v < graph.num_vertices(); ++v)
        cut.part[v] = distance_[v] < 0 || distance_[v] > best ? 1 : distance_[v] == best ? 2 : 0;
    cut.set_weights(graph);
}

} // namespace espalier
