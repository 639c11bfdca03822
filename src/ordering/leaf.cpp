// Orders the leaves of nested dissection, which are small regions, by minimum degree with halo.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "minimum_degree/minimum_degree.hpp"
#include "ordering/permutation.hpp"
#include "ordering/region.hpp"

namespace espalier {

namespace {

constexpr Index max_exact = 256;

// The elimination game on bit sets: one row per interior vertex, one bit per vertex of the region.
// Eliminating p makes its neighbors N a clique: row(u) |= N for u in N. Halo vertices are not eliminated and
// need no rows. Takes at most interior^2 operations per word of a row, so the time is linear in the halo.
class EliminationGame {
  public:
    explicit EliminationGame(Region const& region)
        : region_(region), inner_(region.num_interior), words_((region.num_vertices() + 63) / 64),
          has_weights_(std::ranges::adjacent_find(region.weight, std::ranges::not_equal_to()) !=
                       region.weight.end()),
          rows_(inner_ * words_, 0), degree_(inner_) {
        for (Index v = 0; v < inner_; ++v) {
            for (Index const w : region.neighbors(v)) row(v)[w / 64] |= bit(w);
            degree_[v] = weight_of_row(v);
        }
    }

    std::vector<Index> play() {
        std::vector<Index> position(inner_);
        for (Index k = 0; k < inner_; ++k) {
            std::int32_t least = eliminated;
            for (std::int32_t const degree : degree_) least = std::min(least, degree); // with vectors
            Index const best = std::ranges::find(degree_, least) - degree_.begin();
            position[best] = k;
            eliminate(best);
            degree_[best] = eliminated;
        }
        return position;
    }

  private:
    static std::uint64_t bit(Index v) { return std::uint64_t(1) << (v % 64); }
    std::uint64_t* row(Index v) { return rows_.data() + v * words_; }

    void eliminate(Index pivot) {
        std::uint64_t const* const neighbors = row(pivot);
        for (Index word = 0; word * 64 < inner_; ++word)
            for (std::uint64_t rest = neighbors[word]; rest != 0; rest &= rest - 1) {
                Index const u = word * 64 + std::countr_zero(rest);
                if (u >= inner_) break;
                for (Index k = 0; k < words_; ++k) row(u)[k] |= neighbors[k];
                row(u)[u / 64] &= ~bit(u);
                row(u)[pivot / 64] &= ~bit(pivot);
                degree_[u] = weight_of_row(u);
            }
    }

    std::int32_t weight_of_row(Index v) {
        std::uint64_t const* const words = row(v);
        if (!has_weights_) return count_bits(words);
        Index sum = 0;
        for (Index k = 0; k < words_; ++k)
            for (std::uint64_t rest = words[k]; rest != 0; rest &= rest - 1)
                sum += region_.weight[k * 64 + std::countr_zero(rest)];
        return static_cast<std::int32_t>(std::min<Index>(sum, eliminated - 1));
    }

    // Sums of neighboring bits, pairs and quadruples. Processors of the baseline have no instruction for it.
    std::int32_t count_bits(std::uint64_t const* words) const {
        std::uint64_t sum = 0;
        for (Index k = 0; k < words_; ++k) {
            std::uint64_t x = words[k];
            x -= x >> 1 & 0x5555555555555555;
            x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
            x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
            sum += x * 0x0101010101010101 >> 56;
        }
        return static_cast<std::int32_t>(sum);
    }

    static constexpr std::int32_t eliminated = std::numeric_limits<std::int32_t>::max();

    Region const& region_;
    Index inner_;
    Index words_;
    bool has_weights_; // if all weights are equal, they do not matter
    std::vector<std::uint64_t> rows_;
    std::vector<std::int32_t> degree_; // or `eliminated`
};

Graph interior_of(Region const& region) {
    Graph graph;
    graph.num_vertices = region.num_interior;
    for (Index v = 0; v < region.num_interior; ++v) {
        auto const neighbors = region.interior_neighbors(v);
        graph.adj.insert(graph.adj.end(), neighbors.begin(), neighbors.end());
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
