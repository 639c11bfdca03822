// Searches for vertices that are far from each other, breadth first.
#pragma once

#include <algorithm>
#include <vector>

#include "core/graph.hpp"

namespace espalier {

/// Orders vertices by ascending degrees; equal ones by number.
struct ByDegree {
    Graph const& graph;
    bool operator()(Index a, Index b) const {
        return graph.degree(a) != graph.degree(b) ? graph.degree(a) < graph.degree(b) : a < b;
    }
};

class DistanceSearch {
  public:
    explicit DistanceSearch(Graph const& graph) : graph_(graph), search_of_(graph.num_vertices, 0) {}

    struct Farthest {
        Index vertex;
        Index distance;
        Index reached; ///< The number of vertices in the connected component.
    };

    /// The vertex of smallest degree among those with the largest distance from `start`.
    Farthest run(Index start) {
        ++searches_;
        front_.assign(1, start);
        search_of_[start] = searches_;
        Index reached = 1;
        for (Index distance = 0;; ++distance) {
            next_.clear();
            for (Index const v : front_)
                for (Index const w : graph_.neighbors(v)) {
                    if (search_of_[w] == searches_) continue;
                    search_of_[w] = searches_;
                    next_.push_back(w);
                }
            if (next_.empty())
                return {*std::ranges::min_element(front_, ByDegree{graph_}), distance, reached};
            reached += std::ssize(next_);
            front_.swap(next_);
        }
    }

  private:
    Graph const& graph_;
    std::vector<Index> search_of_; ///< The last search that has reached each vertex.
    std::vector<Index> front_, next_;
    Index searches_ = 0;
};

} // namespace espalier
