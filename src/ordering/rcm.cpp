#include "ordering/rcm.hpp"

#include <algorithm>
#include <utility>

#include "core/inverse_permutation.hpp"
#include "core/scalar.hpp"
#include "ordering/distance_search.hpp"

namespace espalier {

namespace {

/// Searches for a start that is at least as far from others as the last one; each takes a search breadth
/// first. George and Liu observe that few are needed.
constexpr int max_searches = 8;

class CuthillMckee {
  public:
    explicit CuthillMckee(Graph const& graph)
        : graph_(graph), is_numbered_(graph.num_vertices, false), first_row_(graph.num_vertices) {
        order_.reserve(graph.num_vertices);
    }

    /// Numbers all vertices, in components of small bandwidth.
    void run() {
        DistanceSearch search(graph_);
        for (Index v = 0; v < graph_.num_vertices; ++v)
            if (!is_numbered_[v]) number_component(distant_vertex(search, v), infinity);
    }

    /// Numbers all vertices, or returns false once a factorization that fills the envelope takes more
    /// operations. Each component is numbered twice. The second order starts at the last vertex of the first
    /// one. The first order may start in the middle, where levels are twice as wide as from an end, so it is
    /// allowed four times as many operations.
    bool run_within(double most_flops) {
        for (Index v = 0; v < graph_.num_vertices; ++v) {
            if (is_numbered_[v]) continue;
            std::size_t const begin = order_.size();
            double const before = flops_;
            if (!number_component(v, before + 4 * most_flops)) return false;
            Index const end = order_.back();
            for (std::size_t k = begin; k < order_.size(); ++k) is_numbered_[order_[k]] = false;
            order_.resize(begin);
            flops_ = before;
            if (!number_component(end, most_flops)) return false;
        }
        return true;
    }

    /// The vertices in reverse Cuthill-McKee order.
    Ordering take_reversed() {
        Ordering ordering;
        ordering.inverse = std::move(order_);
        std::reverse(ordering.inverse.begin(), ordering.inverse.end());
        ordering.perm = inverse_permutation(ordering.inverse);
        return ordering;
    }

  private:
    /// A vertex of the component of `start` with a large distance to another one.
    static Index distant_vertex(DistanceSearch& search, Index start) {
        Index distance = -1;
        for (int k = 0; k < max_searches; ++k) {
            auto const farthest = search.run(start);
            if (farthest.distance <= distance) break;
            distance = farthest.distance;
            start = farthest.vertex;
        }
        return start;
    }

    /// Returns false once flops_ exceeds the limit.
    bool number_component(Index start, double most_flops) {
        std::size_t next = order_.size();
        Index rows = 0;
        number(start, rows, rows);
        for (; next < order_.size() && flops_ <= most_flops; ++next) {
            Index const v = order_[next];
            auto const begin = std::ssize(order_);
            for (Index const w : graph_.neighbors(v))
                if (!is_numbered_[w]) number(w, first_row_[v], rows);
            std::sort(order_.begin() + begin, order_.end(), ByDegree{graph_});
        }
        return flops_ <= most_flops;
    }

    /// The envelope of the rows of w begins with the first row of its first neighbor in this order. (Vertices
    /// with the same first neighbor are sorted later. Their first rows are approximate.)
    void number(Index w, Index first_of_envelope, Index& rows) {
        is_numbered_[w] = true;
        order_.push_back(w);
        first_row_[w] = rows;
        Index const weight = graph_.weight_of(w);
        rows += weight;
        auto const width = static_cast<double>(rows - first_of_envelope);
        flops_ += static_cast<double>(weight) * width * width;
    }

    Graph const& graph_;
    std::vector<bool> is_numbered_;
    std::vector<Index> order_;
    /// Each numbered vertex stands for consecutive rows of its component; this is the number of the first
    /// one.
    std::vector<Index> first_row_;
    /// A Cholesky factorization that fills the envelope of the numbered rows takes this many operations.
    double flops_ = 0;
};

} // namespace

Ordering order_by_rcm(Graph const& graph) {
    CuthillMckee order(graph);
    order.run();
    return order.take_reversed();
}

std::optional<Ordering> order_if_narrow(Graph const& graph, double most_flops) {
    CuthillMckee order(graph);
    if (!order.run_within(most_flops)) return std::nullopt;
    return order.take_reversed();
}

} // namespace espalier
