#include "ordering/multilevel_cut.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace espalier {

namespace {

constexpr Vertex coarsest = 120;    // vertices of a graph that is cut directly
constexpr Vertex middle_share = 12; // the middle level has at most this part of the vertices
constexpr Vertex large = 5000;      // graphs with more vertices are cut several times from the middle level
constexpr int tries_of_large = 3;   // number of these cuts, which cost little for large graphs
constexpr std::int32_t taken = std::numeric_limits<std::int32_t>::max(); // weight that no vertex reaches
constexpr double worth_refining =
    1.6; // a level may still win if its separator is at most this many times heavier
constexpr double worth_trying =
    2.5; // the parts try such levels only if it is at most this many times heavier

// The effort for a cut may take as much time as it saves later, at 30 Gflop/s.
double seconds_of_work(Cut const& cut) {
    return estimated_work(cut) / 30e9;
}

// The number of further cuts to try. Each lowers the work by about 0.25 % on average, mostly where the first
// one is bad by chance, and takes 40 ns for each edge.
int further_cuts(CutGraph const& graph, Cut const& cut) {
    double const cut_s = 40e-9 * static_cast<double>(graph.adj.size());
    return static_cast<int>(std::min(3.0, 0.0025 * seconds_of_work(cut) / cut_s));
}

// Whether to try separators in addition to bisections. They lower the work by about 5 % and take 16 ns for
// each edge.
bool may_pay_separators(CutGraph const& graph, Cut const& cut) {
    return !cut.divides() || 0.05 * seconds_of_work(cut) > 16e-9 * static_cast<double>(graph.adj.size());
}

} // namespace

// Close to the operations for regular meshes in the plane and in space.
double estimated_work(Cut const& cut) {
    return 12 * std::pow(static_cast<double>(cut.weight[2]), 3);
}

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
            return !cut.divides() ||
                   (candidate_.divides() &&
                    static_cast<double>(candidate_.weight[2]) <= factor * static_cast<double>(cut.weight[2]));
        };
        settings.tries_levels = is_within(worth_trying);
        if (is_within(worth_refining)) {
            refinement_.refine(graph, candidate_);
            consider();
        }
    }
    return cut.divides();
}

// Contracts the graph to a middle level, and starts there several times, with bisections and, if that may
// pay, with separators on all levels. Bisections find straight cuts of lattices, separators the best cuts of
// many other graphs. The prices on the middle level do not show which of the two is better in the end.
void MultilevelCut::find_multilevel(CutGraph const& graph, Visits visits, Cut& cut) {
    std::size_t const middle = coarsen_to_middle(graph, visits);
    bisect_from(graph, middle, visits, halves_);
    separate_halves(graph, middle, cut);
    if (!may_pay_separators(graph, cut)) return project(graph, middle, 0, cut);
    separate_from(graph, middle, visits, other_);
    int const tries = graph.num_vertices() > large ? tries_of_large : 1;
    for (int k = 1; k < tries; ++k) {
        bisect_from(graph, middle, Visits::shuffled, other_halves_);
        if (other_halves_.cut_edges < halves_.cut_edges) std::swap(other_halves_, halves_);
        separate_from(graph, middle, Visits::shuffled, attempt_);
        if (attempt_.price() < other_.price()) std::swap(attempt_, other_);
    }
    if (tries > 1) separate_halves(graph, middle, cut);
    project(graph, middle, 0, cut);
    project(graph, middle, 0, other_);
    if (other_.price() < cut.price()) std::swap(other_, cut);
}

bool MultilevelCut::find_quickly(CutGraph const& graph, Cut& cut) {
    random_ = SplitMix64(1);
    std::size_t const middle = coarsen_to_middle(graph, Visits::in_order);
    bisect_from(graph, middle, Visits::in_order, halves_);
    separate_halves(graph, middle, cut);
    project(graph, middle, 0, cut);
    return cut.divides();
}

std::size_t MultilevelCut::coarsen_to_middle(CutGraph const& graph, Visits visits) {
    largest_ = static_cast<std::int32_t>(std::max<std::int64_t>(2, 3 * graph.total / (2 * coarsest)));
    return coarsen(graph, 0, std::max(graph.num_vertices() / middle_share, 3 * coarsest), visits);
}

// Contracts level `depth` until at most `size` vertices are left. Returns the depth reached.
std::size_t MultilevelCut::coarsen(CutGraph const& graph, std::size_t depth, Vertex size, Visits visits) {
    while (level(graph, depth).num_vertices() > size) {
        if (levels_.size() == depth) levels_.emplace_back();
        CutGraph const& fine = level(graph, depth);
        Vertex const count = match(fine, largest_, visits, levels_[depth].number);
        if (count > 0.95 * fine.num_vertices()) break;
        contract(fine, levels_[depth].number, count, levels_[depth].graph);
        ++depth;
    }
    return depth;
}

// A separator of level `depth`, found by further contraction.
void MultilevelCut::separate_from(CutGraph const& graph, std::size_t depth, Visits visits, Cut& cut) {
    std::size_t const bottom = coarsen(graph, depth, coarsest, visits);
    refinement_.grow(level(graph, bottom), any_vertex(level(graph, bottom)), cut);
    refinement_.refine(level(graph, bottom), cut);
    project(graph, bottom, depth, cut);
}

// A separator of level `depth` from the bisection in halves_.
void MultilevelCut::separate_halves(CutGraph const& graph, std::size_t depth, Cut& cut) {
    bisection_.separate(level(graph, depth), halves_, cut);
    refinement_.refine(level(graph, depth), cut);
}

// A bisection of level `depth`, found by further contraction.
void MultilevelCut::bisect_from(CutGraph const& graph, std::size_t depth, Visits visits, Halves& halves) {
    std::size_t bottom = coarsen(graph, depth, coarsest, visits);
    bisection_.grow(level(graph, bottom), any_vertex(level(graph, bottom)), halves);
    bisection_.refine(level(graph, bottom), halves);
    while (bottom-- > depth) {
        refine_parts(graph, bottom, halves.part);
        bisection_.refine(level(graph, bottom), halves);
    }
}

// Turns the parts of the vertices of level `depth` + 1 into those of level `depth`.
void MultilevelCut::refine_parts(CutGraph const& graph, std::size_t depth, std::vector<std::uint8_t>& part) {
    auto const& number = levels_[depth].number;
    part_.resize(level(graph, depth).num_vertices());
    for (std::size_t v = 0; v < part_.size(); ++v) part_[v] = part[number[v]];
    part.swap(part_);
}

// Turns a cut of level `from` into one of the finer level `to`.
void MultilevelCut::project(CutGraph const& graph, std::size_t from, std::size_t to, Cut& cut) {
    while (from-- > to) {
        refine_parts(graph, from, cut.part);
        refinement_.refine(level(graph, from), cut);
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

// Each vertex with the neighbor of the heaviest edge, and among those with the lightest. Visits in order
// keep the structure of a lattice.
void MultilevelCut::match_by_weight(CutGraph const& graph, std::int32_t largest, Visits visits) {
    Vertex const n = graph.num_vertices();
    mate_.assign(n, -1);
    free_weight_.assign(graph.weight.begin(), graph.weight.end());
    auto const visit = [&](Vertex v) {
        if (mate_[v] >= 0) return;
        std::int32_t const room = largest - graph.weight[v];
        // Compares edge weights, and vertex weights if they are equal.
        std::int64_t highest = 0;
        Vertex best = v;
        auto const consider = [&](Vertex w, std::int64_t edge) {
            std::int32_t const weight = free_weight_[w];
            std::int64_t const rank = weight <= room ? (edge << 32) - weight : 0;
            best = rank > highest ? w : best;
            highest = std::max(rank, highest);
        };
        auto const neighbors = graph.neighbors(v);
        if (graph.edge_weight.empty())
            for (Vertex const w : neighbors) consider(w, 1);
        else
            for (Offset e = graph.ptr[v]; Vertex const w : neighbors) consider(w, graph.edge_weight[e++]);
        mate_[v] = best;
        mate_[best] = v;
        free_weight_[v] = free_weight_[best] = taken;
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

// On irregular graphs many vertices have no free neighbor. They are paired with others that have the same
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
    result.ptr.reserve(coarse + 1);
    result.weight.clear();
    result.weight.reserve(coarse);
    // The lists of a contracted graph from an earlier call may be longer than its edges.
    if (std::ssize(result.adj) < graph.ptr.back() + 1) {
        result.adj.resize(graph.ptr.back() + 1);
        result.edge_weight.resize(graph.ptr.back() + 1);
    }
    auto const merge = [&](auto& place_of) {
        place_of.assign(coarse, -1);
        if (graph.edge_weight.empty())
            merge_lists(graph, number, place_of, result, [](Offset) { return 1; });
        else
            merge_lists(graph, number, place_of, result,
                        [weight = graph.edge_weight.data()](Offset e) { return weight[e]; });
    };
    if (graph.ptr.back() < std::numeric_limits<std::int32_t>::max())
        merge(place_); // half of the cache
    else
        merge(wide_place_);
}

// Writes the lists of a contracted graph. The time of the ordering depends on the inner loop: it has no
// branches, because no processor can predict which neighbors of a pair are the same.
template <class Place, class WeightOfEdge>
void MultilevelCut::merge_lists(CutGraph const& graph, std::vector<Vertex> const& number,
                                std::vector<Place>& place_of, CutGraph& result,
                                WeightOfEdge const& weight_of_edge) {
    Vertex const* const numbers = number.data();
    Vertex const* const neighbors = graph.adj.data();
    Vertex* const adj = result.adj.data();
    std::int32_t* const edge_weight = result.edge_weight.data();
    Place* const places = place_of.data();
    auto const inside =
        static_cast<Place>(graph.ptr.back()); // takes the edges inside of pairs, behind all lists
    Place end = 0;
    for (Vertex v = 0; v < graph.num_vertices(); ++v) {
        Vertex const mate = mate_[v];
        if (mate < v) continue;
        Place const begin = end; // neighbors whose place is before it are new
        places[numbers[v]] = inside;
        edge_weight[inside] = 0;
        auto const add = [&](Vertex member) {
            for (Offset e = graph.ptr[member], last = graph.ptr[member + 1]; e < last; ++e) {
                Vertex const w = numbers[neighbors[e]];
                Place const known = places[w];
                Place const is_new = known < begin ? 1 : 0;
                Place const place = known + (-is_new & (end - known));
                std::int32_t const before = edge_weight[place] & static_cast<std::int32_t>(is_new - 1);
                edge_weight[place] = before + weight_of_edge(e);
                adj[place] = w;
                places[w] = place;
                end += is_new;
            }
        };
        add(v);
        if (mate != v) add(mate);
        places[numbers[v]] = -1;
        result.ptr.push_back(end);
        result.weight.push_back(graph.weight[v] + (mate != v ? graph.weight[mate] : 0));
    }
}

// Distances from root; queue_ receives the vertices that are reached. Returns the largest distance.
Vertex MultilevelCut::search(CutGraph const& graph, Vertex root) {
    distance_.assign(graph.num_vertices(), -1);
    queue_.assign(1, root);
    distance_[root] = 0;
    for (std::size_t k = 0; k < queue_.size(); ++k)
        for (Vertex const w : graph.neighbors(queue_[k]))
            if (distance_[w] < 0) {
                distance_[w] = distance_[queue_[k]] + 1;
                queue_.push_back(w);
            }
    return distance_[queue_.back()];
}

// The best level of a search from a vertex that is far from another one. On a lattice these levels are
// slanted planes, which have fewer vertices than planes along the axes. Searches for vertices that are
// farther apart cost more than they gain.
void MultilevelCut::cut_at_level(CutGraph const& graph, Cut& cut) {
    Vertex const farthest = search(graph, any_vertex(graph));
    auto const degree = [&](Vertex v) { return graph.ptr[v + 1] - graph.ptr[v]; };
    Vertex root = queue_.back();
    for (std::size_t q = queue_.size(); q-- > 0 && distance_[queue_[q]] == farthest;)
        if (degree(queue_[q]) < degree(root)) root = queue_[q];
    Vertex const depth = search(graph, root);
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
