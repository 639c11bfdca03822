// Orders the leaves of nested dissection, which are small regions, by minimum degree with halo.
#include <bit>
#include <cstdint>
#include <numeric>

#include "ordering/minimum_degree.hpp"
#include "ordering/permutation.hpp"
#include "ordering/region.hpp"

namespace espalier {

namespace {

constexpr Index max_exact = 256;

// The elimination game on bit sets: one row per interior vertex, one bit per vertex of the region.
// Eliminating p makes its neighbours N a clique: row(u) |= N for u in N. Halo vertices are not eliminated and
// need no rows. Takes at most interior^2 operations per word of a row, so the time is linear in the halo.
class EliminationGame {
  public:
    explicit EliminationGame(Region const& region)
        : region_(region), inner_(region.num_interior), words_((region.num_vertices() + 63) / 64),
          rows_(inner_ * words_, 0), degree_(inner_) {
        for (Index v = 0; v < inner_; ++v) {
            for (Index const w : region.neighbours(v)) row(v)[w / 64] |= bit(w);
            degree_[v] = weight_of_row(v);
        }
    }

    std::vector<Index> play() {
        std::vector<Index> position(inner_, -1);
        for (Index k = 0; k < inner_; ++k) {
            Index best = inner_;
            for (Index v = 0; v < inner_; ++v)
                if (position[v] < 0 && (best == inner_ || degree_[v] < degree_[best])) best = v;
            position[best] = k;
            eliminate(best);
        }
        return position;
    }

  private:
    static std::uint64_t bit(Index v) { return std::uint64_t(1) << (v % 64); }
    std::uint64_t* row(Index v) { return rows_.data() + v * words_; }

    void eliminate(Index pivot) {
        std::uint64_t const* const neighbours = row(pivot);
        for (Index word = 0; word * 64 < inner_; ++word)
            for (std::uint64_t rest = neighbours[word]; rest != 0; rest &= rest - 1) {
                Index const u = word * 64 + std::countr_zero(rest);
                if (u >= inner_) break;
                for (Index k = 0; k < words_; ++k) row(u)[k] |= neighbours[k];
                row(u)[u / 64] &= ~bit(u);
                row(u)[pivot / 64] &= ~bit(pivot);
                degree_[u] = weight_of_row(u);
            }
    }

    Index weight_of_row(Index v) {
        Index sum = 0;
        for (Index k = 0; k < words_; ++k) {
            std::uint64_t rest = row(v)[k];
            if (region_.weight.empty())
                sum += std::popcount(rest);
            else
                for (; rest != 0; rest &= rest - 1) sum += region_.weight[k * 64 + std::countr_zero(rest)];
        }
        return sum;
    }

    Region const& region_;
    Index inner_;
    Index words_;
    std::vector<std::uint64_t> rows_;
    std::vector<Index> degree_;
};

Graph interior_of(Region const& region) {
    Graph graph;
    graph.num_vertices = region.num_interior;
    for (Index v = 0; v < region.num_interior; ++v) {
        auto const neighbours = region.interior_neighbours(v);
        graph.adj.insert(graph.adj.end(), neighbours.begin(), neighbours.end());
        graph.ptr.push_back(std::ssize(graph.adj));
    }
    return graph;
}

} // namespace

std::vector<Index> order_leaf(Region const& region) {
    if (region.num_interior <= max_exact) return EliminationGame(region).play();
    if (region.interior_edges() > 0)
        return invert_permutation(minimum_degree(interior_of(region)), "minimum degree");
    std::vector<Index> position(region.num_interior);
    std::iota(position.begin(), position.end(), Index(0));
    return position;
}

} // namespace espalier
