// Divides a graph into two parts with few edges between them, by moving vertices from one part to the other
// (Fiduccia, Mattheyses 1982). On coarse levels the weight of cut edges tells more about a cut than the
// weight of a separator, because a separator has at least the thickness of a contracted vertex.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ordering/cut_graph.hpp"
#include "ordering/gain_queue.hpp"

namespace espalier {

/// Two parts without a separator.
struct Halves {
    std::vector<std::uint8_t> part;       ///< 0 or 1 for each vertex.
    std::array<std::int64_t, 2> weight{}; ///< The weight of each part.
    std::int64_t cut_edges = 0;           ///< The weight of the edges between them.
};

/// Its workspace is kept from call to call. The results do not depend on earlier calls.
class Bisection {
  public:
    /// Grows part 0 from `seed` until it has half of the weight.
    void grow(CutGraph const& graph, Vertex seed, Halves& halves);
    /// Moves vertices as long as that lowers the weight of the cut edges.
    void refine(CutGraph const& graph, Halves& halves, int passes = 4);
    /// Makes a separator of the vertices of one part that have neighbors in the other.
    void separate(CutGraph const& graph, Halves const& halves, Cut& cut) const;

  private:
    bool pass(CutGraph const& graph, Halves& halves);
    void insert_boundary(CutGraph const& graph, Halves const& halves);
    [[nodiscard]] int choose_side(CutGraph const& graph, Halves const& halves, std::int64_t limit) const;
    void move(CutGraph const& graph, Halves& halves, Vertex v);
    void undo(CutGraph const& graph, Halves& halves, std::size_t moves);
    void weigh(CutGraph const& graph, Halves const& halves, Vertex v);

    std::array<GainQueue, 2> queues_; ///< The boundary of each part, by the gain of a move to the other part.
    std::vector<std::int32_t> gain_;
    std::vector<std::uint8_t> has_moved_;
    std::vector<Vertex> moves_;
};

} // namespace espalier
