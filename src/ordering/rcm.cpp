#include "ordering/rcm.hpp"

#include <algorithm>

#include "core/inverse_permutation.hpp"

namespace espalier {

namespace {

/// Searches for a start that is at least as far from others as the last one; each takes a search breadth
/// first. George and Liu observe that few are needed.
constexpr int max_searches = 8;

class CuthillMckee {
  public:
    explicit CuthillMckee(Graph const& graph) : graph_(graph), search_of_(graph.num_vertices, 0) {
        order_.reserve(graph.num_vertices);
    }

    /// The vertices in Cuthill-McKee order.
    std::vector<Index> run() {
        for (Index v = 0; v < graph_.num_vertices; ++v)
            if (search_of_[v] != numbered) number_component(distant_vertex(v));
        return std::move(order_);
    }

  private:
    static constexpr Index numbered = -1;

    /// Ascending degrees; equal ones by number.
    [[nodiscard]] auto by_degree() const {
        return [this](Index a, Index b) {
            return graph_.degree(a) != graph_.degree(b) ? graph_.degree(a) < graph_.degree(b) : a < b;
        };
    }

    /// A vertex of the component of `start` with a large distance to another one.
    Index distant_vertex(Index start) {
        Index depth = -1;
        for (int k = 0; k < max_searches; ++k) {
            auto const [last, found_depth] = search(start);
            if (found_depth <= depth) break;
            depth = found_depth;
            start = last;
        }
        return start;
    }

    struct Farthest {
        Index vertex, depth;
    };

    /// The vertex of smallest degree among those with the largest distance from `start`.
    Farthest search(Index start) {
        ++searches_;
        front_.assign(1, start);
        search_of_[start] = searches_;
        for (Index depth = 0;; ++depth) {
            next_.clear();
            for (Index const v : front_)
                for (Index const w : graph_.neighbours(v)) {
                    if (search_of_[w] == searches_) continue;
                    search_of_[w] = searches_;
                    next_.push_back(w);
                }
            if (next_.empty()) return {*std::min_element(front_.begin(), front_.end(), by_degree()), depth};
            front_.swap(next_);
        }
    }

    void number_component(Index start) {
        std::size_t next = order_.size();
        order_.push_back(start);
        search_of_[start] = numbered;
        for (; next < order_.size(); ++next) {
            auto const begin = std::ssize(order_);
            for (Index const w : graph_.neighbours(order_[next])) {
                if (search_of_[w] == numbered) continue;
                search_of_[w] = numbered;
                order_.push_back(w);
            }
            std::sort(order_.begin() + begin, order_.end(), by_degree());
        }
    }

    Graph const& graph_;
    std::vector<Index> search_of_; ///< The last search that has reached a vertex, or numbered.
    std::vector<Index> order_;
    std::vector<Index> front_, next_;
    Index searches_ = 0;
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
