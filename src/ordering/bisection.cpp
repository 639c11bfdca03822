#include "ordering/bisection.hpp"

#include <algorithm>

namespace espalier {

namespace {

// A part of a bisection may have this share of the weight.
constexpr double largest_half = 0.56;

void flip(CutGraph const& graph, Halves& halves, Vertex v) {
    int const from = halves.part[v];
    halves.part[v] = static_cast<std::uint8_t>(1 - from);
    halves.weight[from] -= graph.weight[v];
    halves.weight[1 - from] += graph.weight[v];
}

} // namespace

void Bisection::weigh(CutGraph const& graph, Halves const& halves, Vertex v) {
    std::int32_t gain = 0;
    for (Offset e = graph.ptr[v]; e < graph.ptr[v + 1]; ++e)
        gain +=
            halves.part[graph.adj[e]] != halves.part[v] ? graph.weight_of_edge(e) : -graph.weight_of_edge(e);
    gain_[v] = gain;
}

void Bisection::grow(CutGraph const& graph, Vertex seed, Halves& halves) {
    Vertex const n = graph.num_vertices();
    GainQueue& queue = queues_[0];
    queue.reserve(n);
    gain_.resize(std::max<std::size_t>(gain_.size(), n));
    halves.part.assign(n, 1);
    halves.weight = {0, graph.total};
    halves.cut_edges = 0;
    Vertex next = 0;
    while (2 * halves.weight[0] < graph.total) {
        Vertex v = seed;
        if (queue.empty()) {
            if (halves.part[seed] == 0) {
                while (halves.part[next] == 0) ++next;
                v = next;
            }
            weigh(graph, halves, v);
        } else {
            v = queue.top();
            queue.erase(v);
        }
        halves.part[v] = 0;
        halves.cut_edges -= gain_[v];
        halves.weight[0] += graph.weight[v];
        halves.weight[1] -= graph.weight[v];
        for (Offset e = graph.ptr[v]; e < graph.ptr[v + 1]; ++e) {
            Vertex const w = graph.adj[e];
            if (halves.part[w] == 0) continue;
            if (queue.contains(w)) {
                gain_[w] += 2 * graph.weight_of_edge(e);
                queue.update(w, gain_[w]);
            } else {
                weigh(graph, halves, w);
                queue.insert(w, gain_[w]);
            }
        }
    }
    queue.clear();
}

void Bisection::refine(CutGraph const& graph, Halves& halves, int passes) {
    Vertex const n = graph.num_vertices();
    for (GainQueue& queue : queues_) queue.reserve(n);
    gain_.resize(std::max<std::size_t>(gain_.size(), n));
    has_moved_.resize(std::max<std::size_t>(has_moved_.size(), n), 0);
    while (passes-- > 0 && pass(graph, halves)) {
    }
}

void Bisection::insert_boundary(CutGraph const& graph, Halves const& halves) {
    for (Vertex v = 0; v < graph.num_vertices(); ++v) {
        auto const neighbors = graph.neighbors(v);
        if (std::any_of(neighbors.begin(), neighbors.end(),
                        [&](Vertex w) { return halves.part[w] != halves.part[v]; })) {
            weigh(graph, halves, v);
            queues_[halves.part[v]].insert(v, gain_[v]);
        }
    }
}

// The part whose vertex has the larger gain, or the heavier part, unless that vertex does not fit into the
// other part.
int Bisection::choose_side(CutGraph const& graph, Halves const& halves, std::int64_t limit) const {
    if (queues_[0].empty() || queues_[1].empty()) return queues_[0].empty() ? 1 : 0;
    std::int32_t const gain[2] = {queues_[0].top_gain(), queues_[1].top_gain()};
    int const from =
        gain[0] != gain[1] ? (gain[1] > gain[0] ? 1 : 0) : (halves.weight[1] > halves.weight[0] ? 1 : 0);
    bool const fits = halves.weight[1 - from] + graph.weight[queues_[from].top()] <= limit;
    return fits ? from : 1 - from;
}

// v, which is in no queue any more, moves to the other part.
void Bisection::move(CutGraph const& graph, Halves& halves, Vertex v) {
    int const from = halves.part[v];
    halves.cut_edges -= gain_[v];
    flip(graph, halves, v);
    has_moved_[v] = 1;
    moves_.push_back(v);
    for (Offset e = graph.ptr[v]; e < graph.ptr[v + 1]; ++e) {
        Vertex const w = graph.adj[e];
        if (has_moved_[w] != 0) continue;
        GainQueue& queue = queues_[halves.part[w]];
        if (queue.contains(w)) {
            gain_[w] += (halves.part[w] == from ? 2 : -2) * graph.weight_of_edge(e);
            queue.update(w, gain_[w]);
        } else if (halves.part[w] == from) {
            weigh(graph, halves, w);
            queue.insert(w, gain_[w]);
        }
    }
}

// Takes moves back until `moves` are left. Does not change the weight of the cut edges.
void Bisection::undo(CutGraph const& graph, Halves& halves, std::size_t moves) {
    for (; moves_.size() > moves; moves_.pop_back()) flip(graph, halves, moves_.back());
}

bool Bisection::pass(CutGraph const& graph, Halves& halves) {
    insert_boundary(graph, halves);
    auto const limit = static_cast<std::int64_t>(largest_half * static_cast<double>(graph.total));
    auto const difference = [&] { return std::abs(halves.weight[0] - halves.weight[1]); };
    std::int64_t const first = halves.cut_edges;
    std::int64_t lowest = first;
    std::int64_t least_difference = difference();
    std::size_t best = 0;
    std::size_t const patience = patience_of_pass(graph);
    while (!(queues_[0].empty() && queues_[1].empty())) {
        int const from = choose_side(graph, halves, limit);
        Vertex const v = queues_[from].top();
        queues_[from].erase(v);
        if (halves.weight[1 - from] + graph.weight[v] > limit) continue;
        move(graph, halves, v);
        if (halves.cut_edges < lowest || (halves.cut_edges == lowest && difference() < least_difference)) {
            lowest = halves.cut_edges;
            least_difference = difference();
            best = moves_.size();
        } else if (moves_.size() - best > patience) {
            break;
        }
    }
    for (Vertex const v : moves_) has_moved_[v] = 0;
    undo(graph, halves, best);
    halves.cut_edges = lowest;
    moves_.clear();
    for (GainQueue& queue : queues_) queue.clear();
    return lowest < first;
}

void Bisection::separate(CutGraph const& graph, Halves const& halves, Cut& cut) const {
    Cut sides[2];
    for (int side = 0; side < 2; ++side) {
        Cut& own = sides[side];
        own.part = halves.part;
        for (Vertex v = 0; v < graph.num_vertices(); ++v) {
            if (halves.part[v] != side) continue;
            auto const neighbors = graph.neighbors(v);
            if (std::any_of(neighbors.begin(), neighbors.end(),
                            [&](Vertex w) { return halves.part[w] != side; }))
                own.part[v] = 2;
        }
        own.set_weights(graph);
    }
    std::swap(cut, sides[sides[1].price() < sides[0].price() ? 1 : 0]);
}

} // namespace espalier
