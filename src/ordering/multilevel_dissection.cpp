// Nested dissection by our own cuts. A pool of threads processes the tree of parts. The result for a part
// depends only on the part and its place in the tree, so the ordering does not depend on the number of
// threads.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "core/interrupt.hpp"
#include "core/mix_bits.hpp"
#include "ordering/job_pool.hpp"
#include "ordering/lattice.hpp"
#include "ordering/methods.hpp"
#include "ordering/multilevel_cut.hpp"
#include "ordering/region.hpp"

namespace espalier {

namespace {

constexpr Vertex leaf_size = 200;
constexpr int deepest_level = 60; // limits useless cuts of graphs without good separators

// A part of the graph that is not numbered yet.
struct Part {
    CutGraph graph;
    std::vector<Vertex> origin; // the number of each vertex in the whole graph
    Index first_position = 0;   // its vertices get the positions from here
    int level = 0;
    MultilevelCut::Settings settings;
};

// The work space of a thread.
struct Space {
    explicit Space(Index vertices) : local(vertices, -1) {}
    MultilevelCut cuts;
    Cut cut;
    std::vector<Vertex> number; // by vertex: its number in its part
    std::vector<Index> local;   // the number of each vertex of the whole graph in a region, or -1
};

class MultilevelDissection {
  public:
    MultilevelDissection(Graph const& graph, Interrupt* interrupt)
        : graph_(graph), interrupt_(interrupt), perm_(graph.num_vertices) {}

    std::vector<Index> run(int threads) {
        Part whole;
        whole.graph = cut_graph(graph_);
        whole.origin.resize(graph_.num_vertices);
        std::iota(whole.origin.begin(), whole.origin.end(), 0);
        grain_ = std::max<Vertex>(1000, whole.graph.num_vertices() / 64);
        pool_.add(std::move(whole));
        // Only the smaller part of a cut becomes a job.
        pool_.run(
            graph_.num_vertices > 2 * grain_ ? threads : 1, [this] { return Space(graph_.num_vertices); },
            [this](Part& part, Space& space) { dissect(std::move(part), space); });
        return std::move(perm_);
    }

  private:
    void dissect(Part part, Space& space) {
        check(interrupt_);
        if (part.graph.num_vertices() <= leaf_size || part.level >= deepest_level ||
            !space.cuts.find(part.graph, part.settings, space.cut))
            return number_leaf(part, space);
        auto [smaller, larger] = split(std::move(part), space);
        if (smaller.graph.num_vertices() > grain_)
            pool_.add(std::move(smaller));
        else
            dissect(std::move(smaller), space);
        dissect(std::move(larger), space);
    }

    // Numbers the separator, after parts 0 and 1.
    std::pair<Part, Part> split(Part whole, Space& space) {
        Cut const& cut = space.cut;
        space.number.resize(whole.graph.num_vertices());
        std::array<Part, 2> parts;
        Index position = whole.first_position;
        for (int side = 0; side < 2; ++side) {
            Part& part = parts[side];
            part.graph = part_of(whole.graph, cut, side, space.number);
            part.first_position = position;
            part.level = whole.level + 1;
            part.settings = {hash_bits(2 * whole.settings.seed + static_cast<std::uint64_t>(side)),
                             whole.settings.tries_levels};
            part.origin.reserve(part.graph.num_vertices());
            position += part.graph.num_vertices();
        }
        for (Vertex v = 0; v < whole.graph.num_vertices(); ++v) {
            if (cut.part[v] < 2)
                parts[cut.part[v]].origin.push_back(whole.origin[v]);
            else
                perm_[whole.origin[v]] = position++;
        }
        bool const swaps = parts[0].graph.num_vertices() > parts[1].graph.num_vertices();
        return {std::move(parts[swaps ? 1 : 0]), std::move(parts[swaps ? 0 : 1])};
    }

    void number_leaf(Part const& part, Space& space) {
        auto const position = order_leaf(region_of(graph_, part.origin, space.local));
        for (Index k = 0; k < std::ssize(position); ++k)
            perm_[part.origin[k]] = part.first_position + position[k];
    }

    Graph const& graph_;
    Interrupt* interrupt_;    // may be null
    Vertex grain_ = 0;        // parts of at most this size stay on their thread
    std::vector<Index> perm_; // jobs write disjoint entries
    JobPool<Part> pool_;
};

} // namespace

std::vector<Index> order_by_dissection(Graph const& graph, int threads, Interrupt* interrupt) {
    if (auto const lattice = find_lattice(graph)) return order_lattice(graph, *lattice, threads, interrupt);
    return MultilevelDissection(graph, interrupt).run(threads);
}

} // namespace espalier
