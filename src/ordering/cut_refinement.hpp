// Refinement of a cut by moves of single vertices through its separator (Fiduccia, Mattheyses 1982), whose
// passes go in one direction each.
#pragma once

#include <cstdint>
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
    /// Up to four passes in alternate directions, the first towards the lighter part, until two in a row do
    /// not lower the price of the cut. A pass moves vertices from the separator to one part, each time the
    /// one for which fewest enter from the other part. So the separator moves as a whole, also across a
    /// stretch where it is larger. The pass ends when many moves in a row found nothing better, and returns
    /// to the best cut.
    void refine(CutGraph const& graph, Cut& cut);

  private:
    struct Move {
        Vertex vertex;
        std::int32_t entered; ///< Vertices that entered the separator.
    };

    bool pass(CutGraph const& graph, Cut& cut, int to);
    void insert(CutGraph const& graph, Cut const& cut, Vertex v, int from);
    std::int32_t enter_neighbors(CutGraph const& graph, Cut& cut, Vertex v, int from);
    void undo(Cut& cut, int to, std::size_t moves);

    GainQueue queue_; ///< The separator, by the gains of the moves of the current pass.
    std::vector<Vertex> separator_;
    std::vector<Move> moves_;
    std::vector<Vertex> entered_;
};

} // namespace espalier
