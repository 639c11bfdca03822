// Makes and improves cuts of a graph by moving vertices of the separator into the parts, one after the other
// (Fiduccia, Mattheyses 1982; for vertex separators Ashcraft, Liu 1998, and Hendrickson, Rothberg 1998).
#pragma once

#include <array>
#include <vector>

#include "ordering/cut_graph.hpp"
#include "ordering/gain_queue.hpp"

namespace espalier {

/// A part may have this share of the weight of the graph.
inline constexpr double largest_part = 0.65;

/// Its workspace is kept from call to call. The results do not depend on earlier calls.
class CutRefinement {
  public:
    /// Grows part 0 from `seed` until it has half of the weight. In each step the vertex enters that adds
    /// least to the separator.
    void grow(CutGraph const& graph, Vertex seed, Cut& cut);
    /// Up to `passes` passes, as long as they lower the price of the cut. In a pass each vertex leaves the
    /// separator at most once, for the part where that gains most; what it touches on the other side enters.
    /// The pass ends when many moves in a row found nothing better, and returns to the best cut.
    void refine(CutGraph const& graph, Cut& cut, int passes = 4);

  private:
    struct Move {
        Vertex vertex;
        int side;
        std::int32_t entered; ///< Vertices that entered the separator.
    };

    bool pass(CutGraph const& graph, Cut& cut);
    void reserve(CutGraph const& graph);
    void weigh_neighbors(CutGraph const& graph, Cut const& cut, Vertex v);
    void insert(CutGraph const& graph, Vertex v);
    [[nodiscard]] int choose_side(CutGraph const& graph, Cut const& cut) const;
    std::int32_t move(CutGraph const& graph, Cut& cut, Vertex v, int side);
    void enter(CutGraph const& graph, Cut& cut, Vertex v, int side);
    void undo(Cut& cut, std::size_t moves);

    std::array<GainQueue, 2> queues_; ///< The separator, by the gains of moves into either part.
    std::vector<std::array<std::int32_t, 2>> beside_; ///< Weight of the neighbors in either part.
    std::vector<std::uint8_t> has_moved_;
    std::vector<Move> moves_;
    std::vector<Vertex> entered_;
};

} // namespace espalier
