#include "ordering/rcm.hpp"

#include <algorithm>

#include "core/inverse_permutation.hpp"
#include "ordering/distance_search.hpp"

namespace espalier {

namespace {

/// Searches for a start that is at least as far from others as the last one; each takes a search breadth
/// first. George and Liu observe that few are needed.
constexpr int max_searches = 8;

class CuthillMckee {
  public:
    explicit CuthillMckee(Graph const& graph)
        : graph_(graph), search_(graph), is_numbered_(graph.num_vertices, false) {
        order_.reserve(graph.num_vertices);
    }

    /// The vertices in Cuthill-McKee order.
    std::vector<Index> run() {
        for (Index v = 0; v < graph_.num_vertices; ++v)
            if (!is_numbered_[v]) number_component(distant_vertex(v));
        return std::move(order_);
    }

  private:
    /// A vertex of the component of `start` with a large distance to another one.
    Index distant_vertex(Index start) {
        Index distance = -1;
        for (int k = 0; k < max_searches; ++k) {
            auto const farthest = search_.run(start);
            if (farthest.distance <= distance) break;
            distance = farthest.distance;
            start = farthest.vertex;
        }
        return start;
    }

    void number_component(Index start) {
        std::size_t next = order_.size();
        order_.push_back(start);
        is_numbered_[start] = true;
        for (; next < order_.size(); ++next) {
            auto const begin = std::ssize(order_);
            for (Index const w : graph_.neighbors(order_[next])) {
                if (is_numbered_[w]) continue;
                is_numbered_[w] = true;
                order_.push_back(w);
            }
            std::sort(order_.begin() + begin, order_.end(), ByDegree{graph_});
        }
    }

    Graph const& graph_;
    DistanceSearch search_;
    std::vector<bool> is_numbered_;
    std::vector<Index> order_;
};

} // namespace

Ordering order_by_rcm(Graph const& graph) {
    Ordering ordering;
    ordering.inverse = CuthillMckee(graph).run();
    std::reverse(ordering.inverse.begin(), ordering.inverse.end());
    ordering.perm = inverse_permutation(ordering.inverse);
    return ordering;
}

} // namespace espalier
