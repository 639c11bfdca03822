#include "ordering/leaf.hpp"

#include <bit>
#include <cstdint>
#include <numeric>

#include "ordering/methods.hpp"

namespace espalier {

namespace {

constexpr Index max_exact = 256;

// The elimination game on rows of bits, one row an interior vertex, one column a vertex of the region:
// eliminating p joins its neighbours N pairwise, row(u) |= N for u in N. Halo vertices stay, so need no rows.
// Time: at most interior^2 operations for each word of a row, hence linear in the halo.
class EliminationGame {
  public:
    explicit EliminationGame(Region const& region)
        : region_(region), inner_(static_cast<std::size_t>(region.num_interior)),
          words_((region.origin.size() + 63) / 64), rows_(inner_ * words_, 0), degree_(inner_) {
        for (std::size_t v = 0; v < inner_; ++v) {
            for (Offset e = region.ptr[v]; e < region.ptr[v + 1]; ++e) {
                auto const w = static_cast<std::size_t>(region.adj[e]);
                row(v)[w / 64] |= bit(w);
            }
            degree_[v] = weight_of_row(v);
        }
    }

    std::vector<Index> play() {
        std::vector<Index> position(inner_, -1);
        for (std::size_t k = 0; k < inner_; ++k) {
            std::size_t best = inner_;
            for (std::size_t v = 0; v < inner_; ++v)
                if (position[v] < 0 && (best == inner_ || degree_[v] < degree_[best])) best = v;
            position[best] = static_cast<Index>(k);
            eliminate(best);
        }
        return position;
    }

  private:
    static std::uint64_t bit(std::size_t v) { return std::uint64_t(1) << (v % 64); }
    std::uint64_t* row(std::size_t v) { return rows_.data() + v * words_; }

    void eliminate(std::size_t pivot) {
        std::uint64_t const* const neighbours = row(pivot);
        for (std::size_t word = 0; word * 64 < inner_; ++word)
            for (std::uint64_t rest = neighbours[word]; rest != 0; rest &= rest - 1) {
                std::size_t const u = word * 64 + static_cast<std::size_t>(std::countr_zero(rest));
                if (u >= inner_) break;
                for (std::size_t k = 0; k < words_; ++k) row(u)[k] |= neighbours[k];
                row(u)[u / 64] &= ~bit(u);
                row(u)[pivot / 64] &= ~bit(pivot);
                degree_[u] = weight_of_row(u);
            }
    }

    Index weight_of_row(std::size_t v) {
        Index sum = 0;
        for (std::size_t k = 0; k < words_; ++k) {
            std::uint64_t rest = row(v)[k];
            if (region_.weight.empty())
                sum += std::popcount(rest);
            else
                for (; rest != 0; rest &= rest - 1)
                    sum += region_.weight[k * 64 + static_cast<std::size_t>(std::countr_zero(rest))];
        }
        return sum;
    }

    Region const& region_;
    std::size_t inner_;
    std::size_t words_;
    std::vector<std::uint64_t> rows_;
    std::vector<Index> degree_;
};

Graph interior_of(Region const& region) {
    Graph graph;
    graph.num_vertices = region.num_interior;
    for (Index v = 0; v < region.num_interior; ++v) {
        graph.adj.insert(graph.adj.end(), region.adj.begin() + region.ptr[v],
                         region.adj.begin() + region.interior_end[v]);
        graph.ptr.push_back(static_cast<Offset>(graph.adj.size()));
    }
    return graph;
}

} // namespace

std::vector<Index> order_leaf(Region const& region) {
    if (region.num_interior <= max_exact) return EliminationGame(region).play();
    if (region.interior_edges() > 0) return order_by_amd(interior_of(region));
    std::vector<Index> position(region.num_interior);
    std::iota(position.begin(), position.end(), Index(0));
    return position;
}

} // namespace espalier
