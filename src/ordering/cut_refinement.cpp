#include "ordering/cut_refinement.hpp"

#include <algorithm>

namespace espalier {

namespace {

constexpr std::uint8_t separator = 2;

void change_part(CutGraph const& graph, Cut& cut, Vertex v, std::uint8_t to) {
    cut.weight[cut.part[v]] -= graph.weight[v];
    cut.weight[to] += graph.weight[v];
    cut.part[v] = to;
}

} // namespace

void CutRefinement::reserve(CutGraph const& graph) {
    Vertex const n = graph.num_vertices();
    for (GainQueue& queue : queues_) queue.reserve(n);
    if (std::ssize(beside_) < n) {
        beside_.resize(n);
        has_moved_.resize(n, 0);
    }
}

void CutRefinement::weigh_neighbors(CutGraph const& graph, Cut const& cut, Vertex v) {
    std::array<std::int32_t, 3> sum{};
    for (Vertex const w : graph.neighbors(v)) sum[cut.part[w]] += graph.weight[w];
    beside_[v] = {sum[0], sum[1]};
}

void CutRefinement::grow(CutGraph const& graph, Vertex seed, Cut& cut) {
    reserve(graph);
    GainQueue& queue = queues_[0];
    cut.part.assign(graph.num_vertices(), 1);
    cut.weight = {0, graph.total, 0};
    auto const begin = [&](Vertex v) {
        change_part(graph, cut, v, separator);
        weigh_neighbors(graph, cut, v);
        queue.insert(v, graph.weight[v] - beside_[v][1]);
    };
    begin(seed);
    Vertex next = 0; // where growth goes on after a connected component
    while (2 * cut.weight[0] + cut.weight[2] < graph.total) {
        if (queue.empty()) {
            while (cut.part[next] != 1) ++next;
            begin(next);
        }
        Vertex const v = queue.top();
        queue.erase(v);
        change_part(graph, cut, v, 0);
        for (Vertex const u : graph.neighbors(v)) {
            if (cut.part[u] != 1) continue;
            change_part(graph, cut, u, separator);
            for (Vertex const w : graph.neighbors(u))
                if (queue.contains(w)) {
                    beside_[w][1] -= graph.weight[u];
                    queue.update(w, graph.weight[w] - beside_[w][1]);
                }
            weigh_neighbors(graph, cut, u);
            queue.insert(u, graph.weight[u] - beside_[u][1]);
        }
    }
    queue.clear();
}

void CutRefinement::refine(CutGraph const& graph, Cut& cut, int passes) {
    reserve(graph);
    while (passes-- > 0 && pass(graph, cut)) {
    }
}

void CutRefinement::insert(CutGraph const& graph, Vertex v) {
    for (int side = 0; side < 2; ++side) queues_[side].insert(v, graph.weight[v] - beside_[v][1 - side]);
}

// The side with the larger gain, or the lighter side, unless the vertex does not fit there. Both queues have
// the same vertices, except those that did not fit.
int CutRefinement::choose_side(CutGraph const& graph, Cut const& cut) const {
    if (queues_[0].empty() || queues_[1].empty()) return queues_[0].empty() ? 1 : 0;
    std::int32_t const gain[2] = {queues_[0].top_gain(), queues_[1].top_gain()};
    int const side = gain[0] != gain[1]               ? (gain[1] > gain[0] ? 1 : 0)
                     : cut.weight[0] != cut.weight[1] ? (cut.weight[1] < cut.weight[0] ? 1 : 0)
                                                      : static_cast<int>(moves_.size() & 1);
    double const after = static_cast<double>(cut.weight[side] + graph.weight[queues_[side].top()]);
    return after > largest_part * static_cast<double>(graph.total) ? 1 - side : side;
}

// v leaves the separator, and its neighbors on the other side enter it. Returns their number.
std::int32_t CutRefinement::move(CutGraph const& graph, Cut& cut, Vertex v, int side) {
    int const other = 1 - side;
    for (GainQueue& queue : queues_) queue.erase(v);
    change_part(graph, cut, v, static_cast<std::uint8_t>(side));
    has_moved_[v] = 1;
    std::int32_t entered = 0;
    for (Vertex const u : graph.neighbors(v)) {
        if (cut.part[u] == separator) {
            beside_[u][side] += graph.weight[v];
            queues_[other].update(u, graph.weight[u] - beside_[u][side]);
        } else if (cut.part[u] == other) {
            enter(graph, cut, u, other);
            ++entered;
        }
    }
    return entered;
}

// u comes from `side` into the separator.
void CutRefinement::enter(CutGraph const& graph, Cut& cut, Vertex u, int side) {
    change_part(graph, cut, u, separator);
    entered_.push_back(u);
    std::array<std::int32_t, 3> sum{};
    for (Vertex const w : graph.neighbors(u)) {
        sum[cut.part[w]] += graph.weight[w];
        if (cut.part[w] != separator) continue;
        beside_[w][side] -= graph.weight[u];
        queues_[1 - side].update(w, graph.weight[w] - beside_[w][side]);
    }
    beside_[u] = {sum[0], sum[1]};
    if (has_moved_[u] == 0) insert(graph, u);
}

// Takes moves back until `moves` are left. Does not change the weights.
void CutRefinement::undo(Cut& cut, std::size_t moves) {
    for (; moves_.size() > moves; moves_.pop_back()) {
        Move const& last = moves_.back();
        for (std::int32_t k = 0; k < last.entered; ++k, entered_.pop_back())
            cut.part[entered_.back()] = static_cast<std::uint8_t>(1 - last.side);
        cut.part[last.vertex] = separator;
    }
}

bool CutRefinement::pass(CutGraph const& graph, Cut& cut) {
    Vertex const n = graph.num_vertices();
    for (Vertex v = 0; v < n; ++v)
        if (cut.part[v] == separator) {
            weigh_neighbors(graph, cut, v);
            insert(graph, v);
        }
    double const first_price = cut.price();
    double best_price = first_price;
    auto best_weight = cut.weight;
    std::size_t best = 0;
    std::size_t const patience = patience_of_pass(graph);
    while (!(queues_[0].empty() && queues_[1].empty())) {
        int const side = choose_side(graph, cut);
        Vertex const v = queues_[side].top();
        if (static_cast<double>(cut.weight[side] + graph.weight[v]) >
            largest_part * static_cast<double>(graph.total)) {
            queues_[side].erase(v);
            continue;
        }
        std::int32_t const entered = move(graph, cut, v, side);
        moves_.push_back({v, side, entered});
        if (double const price = cut.price(); price < best_price) {
            best_price = price;
            best_weight = cut.weight;
            best = moves_.size();
        } else if (moves_.size() - best > patience) {
            break;
        }
    }
    for (Move const& done : moves_) has_moved_[done.vertex] = 0;
    undo(cut, best);
    cut.weight = best_weight;
    moves_.clear();
    entered_.clear();
    for (GainQueue& queue : queues_) queue.clear();
    return best_price < first_price;
}

} // namespace espalier
