#include "ordering/domination.hpp"

#include <algorithm>

namespace espalier {

namespace {

class Domination {
  public:
    explicit Domination(Graph const& graph)
        : graph_(graph), is_dominated_(graph.num_vertices, 0), dominates_(graph.num_vertices, 0),
          seen_by_(graph.num_vertices, -1) {}

    // Vertices of more neighbors than average look for dominated ones first. Those that they find need not
    // look: their neighbors belong to the vertex that dominates them, too.
    Undominated run() {
        Index const n = graph_.num_vertices;
        Offset const average = std::ssize(graph_.adj) / std::max<Index>(1, n);
        for (bool const has_many : {true, false})
            for (Index v = 0; v < n; ++v)
                if (is_dominated_[v] == 0 && (graph_.degree(v) > average) == has_many) look_from(v);
        Undominated result;
        for (Index v = 0; v < n; ++v) {
            if (is_dominated_[v] != 0) continue;
            result.vertices.push_back(static_cast<Vertex>(v));
            result.dominates.push_back(dominates_[v]);
        }
        return result;
    }

  private:
    void look_from(Index center) {
        if (comparisons_ > most_comparisons * std::ssize(graph_.adj)) return;
        auto const own = static_cast<Vertex>(center);
        seen_by_[center] = own;
        for (Index const w : graph_.neighbors(center)) seen_by_[w] = own;
        Offset const degree = graph_.degree(center);
        for (Index const v : graph_.neighbors(center)) {
            bool const is_known = is_dominated_[v] != 0 && dominates_[center] != 0;
            if (is_known || graph_.degree(v) >= degree) continue;
            auto const neighbors = graph_.neighbors(v);
            auto const other =
                std::find_if(neighbors.begin(), neighbors.end(), [&](Index w) { return seen_by_[w] != own; });
            comparisons_ += other - neighbors.begin();
            if (other == neighbors.end()) is_dominated_[v] = dominates_[center] = 1;
        }
    }

    static constexpr Offset most_comparisons = 10; // for each edge; finite elements of order two need 1

    Graph const& graph_;
    Offset comparisons_ = 0;
    std::vector<std::uint8_t> is_dominated_, dominates_;
    std::vector<Vertex> seen_by_; // the last vertex that looked at this one or its neighbor
};

} // namespace

Undominated find_undominated(Graph const& graph) {
    return Domination(graph).run();
}

} // namespace espalier
