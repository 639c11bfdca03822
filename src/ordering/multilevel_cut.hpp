// Cuts of a graph by a multilevel method (Hendrickson, Leland 1995; Karypis, Kumar 1998) and by levels of a
// breadth-first search (George, Liu 1981), refined by moves of single vertices.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "ordering/bisection.hpp"
#include "ordering/cut_graph.hpp"
#include "ordering/cut_refinement.hpp"

namespace espalier {

/// The estimated operations of Cholesky after a dissection that begins with this cut.
double estimated_work(Cut const& cut);

/// Its workspace is kept from call to call. The results do not depend on earlier calls.
class MultilevelCut {
  public:
    struct Settings {
        std::uint64_t seed = 1;
        bool tries_levels = true; ///< Whether to try a cut along a level of a breadth-first search, too.
    };

    /// Finds a cut of low price. Returns false if no cut divides the graph. `settings.tries_levels` becomes
    /// false if a level is so much worse than the other cut that the parts need not try one.
    bool find(CutGraph const& graph, Settings& settings, Cut& cut);

    /// Finds one cut, with about a tenth of the effort of a dissection. Returns false if it does not divide
    /// the graph.
    bool find_quickly(CutGraph const& graph, Cut& cut);

  private:
    struct Level {
        CutGraph graph; ///< The contracted graph.
        /// The vertex of the contracted graph for each vertex of the finer graph.
        std::vector<Vertex> number;
    };
    enum class Visits : std::uint8_t { in_order, shuffled };

    void find_multilevel(CutGraph const& graph, Visits visits, Cut& cut);
    std::size_t coarsen_to_middle(CutGraph const& graph, Visits visits);
    std::size_t coarsen(CutGraph const& graph, std::size_t depth, Vertex size, Visits visits);
    void separate_from(CutGraph const& graph, std::size_t depth, Visits visits, Cut& cut);
    void bisect_from(CutGraph const& graph, std::size_t depth, Visits visits, Halves& halves);
    void separate_halves(CutGraph const& graph, std::size_t depth, Cut& cut);
    void refine_parts(CutGraph const& graph, std::size_t depth, std::vector<std::uint8_t>& part);
    void project(CutGraph const& graph, std::size_t from, std::size_t to, Cut& cut);
    Vertex match(CutGraph const& graph, std::int32_t largest, Visits visits, std::vector<Vertex>& number);
    void match_by_weight(CutGraph const& graph, std::int32_t largest, Visits visits);
    void match_at_distance_two(CutGraph const& graph, std::int32_t largest);
    void contract(CutGraph const& graph, std::vector<Vertex> const& number, Vertex coarse, CutGraph& result);
    template <class Place, class WeightOfEdge>
    void merge_lists(CutGraph const& graph, std::vector<Vertex> const& number, std::vector<Place>& place_of,
                     CutGraph& result, WeightOfEdge const& weight_of_edge);
    void cut_at_level(CutGraph const& graph, Cut& cut);
    Vertex search(CutGraph const& graph, Vertex root);
    Vertex any_vertex(CutGraph const& graph) {
        return static_cast<Vertex>(random_.below(graph.num_vertices()));
    }
    [[nodiscard]] CutGraph const& level(CutGraph const& finest, std::size_t l) const {
        return l == 0 ? finest : levels_[l - 1].graph;
    }

    SplitMix64 random_{1};
    CutRefinement refinement_;
    Bisection bisection_;
    std::vector<Level> levels_;
    std::vector<Vertex> mate_, waiting_, visits_;
    std::vector<std::int32_t> free_weight_; ///< match_by_weight(): weights of the vertices without a mate.
    /// contract(): the entry of each neighbor of the current vertex. One of them is used.
    std::vector<std::int32_t> place_;
    std::vector<Offset> wide_place_;
    std::vector<Vertex> distance_, queue_; ///< search().
    std::vector<std::uint8_t> part_;
    Cut candidate_, other_, attempt_;
    Halves halves_, other_halves_;
    std::int32_t largest_ = 0; ///< Limit of the weight of a contracted vertex.
};

} // namespace espalier
