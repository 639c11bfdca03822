#include "ordering/cut_refinement.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier {

namespace {

constexpr std::uint8_t separator = 2;
constexpr int most_passes = 4;

void change_part(CutGraph const& graph, Cut& cut, Vertex v, int to) {
    cut.weight[cut.part[v]] -= graph.weight[v];
    cut.weight[to] += graph.weight[v];
    cut.part[v] = static_cast<std::uint8_t>(to);
}

} // namespace

// Adds v, a vertex of the separator, to the queue for moves that vertices of part `from` replace.
void CutRefinement::insert(CutGraph const& graph, Cut const& cut, Vertex v, int from) {
    std::int32_t sum = 0;
    for (Vertex const w : graph.neighbors(v)) sum += cut.part[w] == from ? graph.weight[w] : 0;
    queue_.insert(v, graph.weight[v] - sum);
}

// The neighbors of v in part `from` enter the separator. Returns their number.
std::int32_t CutRefinement::enter_neighbors(CutGraph const& graph, Cut& cut, Vertex v, int from) {
    std::int32_t entered = 0;
    for (Vertex const u : graph.neighbors(v)) {
        if (cut.part[u] != from) continue;
        change_part(graph, cut, u, separator);
        entered_.push_back(u);
        ++entered;
        std::int32_t sum = 0;
        for (Vertex const w : graph.neighbors(u)) {
            if (cut.part[w] == from) {
                sum += graph.weight[w];
            } else if (cut.part[w] == separator) {
                queue_.add(w, graph.weight[u]); // u would no longer enter for w
            }
        }
        queue_.insert(u, graph.weight[u] - sum);
    }
    return entered;
}

void CutRefinement::grow(CutGraph const& graph, Vertex seed, Cut& cut) {
    queue_.reserve(graph.num_vertices());
    cut.part.assign(graph.num_vertices(), 1);
    cut.weight = {0, graph.total, 0};
    auto const begin = [&](Vertex v) {
        change_part(graph, cut, v, separator);
        insert(graph, cut, v, 1);
    };
    begin(seed);
    Vertex next = 0; // where growth goes on after a connected component
    while (2 * cut.weight[0] + cut.weight[2] < graph.total) {
        if (queue_.empty()) {
            while (cut.part[next] != 1) ++next;
            begin(next);
        }
        Vertex const v = queue_.top();
        queue_.erase(v);
        change_part(graph, cut, v, 0);
        enter_neighbors(graph, cut, v, 1);
    }
    entered_.clear();
    queue_.clear();
}

void CutRefinement::refine(CutGraph const& graph, Cut& cut) {
    queue_.reserve(graph.num_vertices());
    separator_.clear();
    for (Vertex v = 0; v < graph.num_vertices(); ++v)
        if (cut.part[v] == separator) separator_.push_back(v);
    int to = cut.weight[0] < cut.weight[1] ? 0 : 1;
    int failed = 0;
    for (int k = 0; k < most_passes && failed < 2; ++k, to = 1 - to)
        failed = pass(graph, cut, to) ? 0 : failed + 1;
}

// Takes moves to part `to` back until `moves` are left. Does not change the weights.
void CutRefinement::undo(Cut& cut, int to, std::size_t moves) {
    for (; moves_.size() > moves; moves_.pop_back()) {
        Move const& last = moves_.back();
        for (std::int32_t k = 0; k < last.entered; ++k, entered_.pop_back())
            cut.part[entered_.back()] = static_cast<std::uint8_t>(1 - to);
        cut.part[last.vertex] = separator;
    }
}

// Moves vertices from the separator to part `to`. Those of the other part enter the separator at most once.
bool CutRefinement::pass(CutGraph const& graph, Cut& cut, int to) {
    int const from = 1 - to;
    for (Vertex const v : separator_) insert(graph, cut, v, from);
    auto const limit = static_cast<std::int64_t>(largest_part * static_cast<double>(graph.total));
    double const first_price = cut.price();
    double best_price = first_price;
    auto best_weight = cut.weight;
    std::size_t best = 0;
    std::size_t const patience = patience_of_pass(graph);
    while (!queue_.empty()) {
        Vertex const v = queue_.top();
        queue_.erase(v);
        if (cut.weight[to] + graph.weight[v] > limit) continue;
        change_part(graph, cut, v, to);
        moves_.push_back({v, enter_neighbors(graph, cut, v, from)});
        if (double const price = cut.price(); price < best_price) {
            best_price = price;
            best_weight = cut.weight;
            best = moves_.size();
        } else if (moves_.size() - best > patience) {
            break;
        }
    }
    undo(cut, to, best);
    cut.weight = best_weight;
    separator_.insert(separator_.end(), entered_.begin(), entered_.end());
    std::erase_if(separator_, [&](Vertex v) { return cut.part[v] != separator; });
    moves_.clear();
    entered_.clear();
    queue_.clear();
    return best_price < first_price;
}

} // namespace espalier
