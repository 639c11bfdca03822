#include "ordering/lattice.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace espalier {

namespace {

using Step = std::array<int, 3>;

constexpr Index most_reach = 2;
constexpr std::size_t most_offsets = 62; // half of the neighbors in a cube of 5 x 5 x 5 points

// The distinct differences w - v > 0 of the edges, ascending; empty if there are more than most_offsets.
std::vector<Index> offsets_of(Graph const& graph) {
    std::vector<Index> offsets;
    for (Index v = 0; v < graph.num_vertices; ++v) {
        // The offsets of a vertex ascend, as do those found before.
        auto known = offsets.begin();
        for (Index const w : graph.neighbors(v)) {
            if (w < v) continue;
            known = std::find_if(known, offsets.end(), [&](Index offset) { return offset >= w - v; });
            if (known != offsets.end() && *known == w - v) continue;
            if (offsets.size() == most_offsets) return {};
            known = offsets.insert(known, w - v);
        }
    }
    return offsets;
}

// The quotient nearest to offset / unit.
Index nearest_quotient(Index offset, Index unit) {
    Index const shifted = offset + unit / 2;
    return shifted >= 0 ? shifted / unit : -1 - (-1 - shifted) / unit;
}

// The only step of this offset that is short in all directions, if there is one.
std::optional<Step> step_of(Index offset, Lattice const& lattice) {
    Index const line = lattice.size[0], plane = line * lattice.size[1];
    Index const z = lattice.size[2] > 1 ? nearest_quotient(offset, plane) : 0;
    offset -= z * plane;
    Index const y = nearest_quotient(offset, line);
    Index const x = offset - y * line;
    if (std::max({std::abs(x), std::abs(y), std::abs(z)}) > most_reach) return {};
    return Step{static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)};
}

// Calls visit(v, point, k) for each edge from vertex v to a later one, with the point of v and the index of
// the step, until a call returns false. Returns whether none did.
template <class Visit> bool visit_edges(Lattice const& lattice, Graph const& graph,
                                        std::vector<Index> const& offsets, Visit const& visit) {
    Step point{};
    for (Index v = 0; v < graph.num_vertices; ++v, lattice.advance(point)) {
        std::size_t k = 0; // the offsets and the neighbors ascend
        for (Index const w : graph.neighbors(v)) {
            if (w < v) continue; // seen from the other end
            while (offsets[k] != w - v) ++k;
            if (!visit(v, point, k)) return false;
        }
    }
    return true;
}

// Whether no step leaves the lattice or continues on the next line or plane.
bool contains_edges(Lattice const& lattice, Graph const& graph, std::vector<Index> const& offsets) {
    return visit_edges(lattice, graph, offsets, [&](Index, Step const& point, std::size_t k) {
        for (int d = 0; d < 3; ++d) {
            int const end = point[d] + lattice.steps[k][d];
            if (end < 0 || end >= lattice.size[d]) return false;
        }
        return true;
    });
}

// A class of points whose coordinates are even or odd in the same directions.
int class_of(Step const& at) {
    return at[0] % 2 + 2 * (at[1] % 2) + 4 * (at[2] % 2);
}

// The number of points of a class from which a step ends in the lattice.
Index num_starts(Lattice const& lattice, Step const& step, int of_class) {
    Index starts = 1;
    for (int d = 0; d < 3; ++d) {
        int const first = std::max(0, -step[d]), end = lattice.size[d] - std::max(0, step[d]);
        bool const begins_with_class = first % 2 == (of_class >> d) % 2;
        starts *= std::max(0, end - first + (begins_with_class ? 1 : 0)) / 2;
    }
    return starts;
}

// Sets the steps from each point if they differ. Returns whether few edges are missing of a regular lattice,
// which has the same steps from all points of a class. Whole layers are poor separators otherwise. Rare steps
// do not belong to it.
bool set_steps(Lattice& lattice, Graph const& graph, std::vector<Index> const& offsets) {
    constexpr double most_missing = 0.2, rare = 0.05;
    constexpr int classes = 8;
    Index const edges = std::ssize(graph.adj) / 2;
    Index most_edges = 0;
    for (Step const& step : lattice.steps)
        for (int c = 0; c < classes; ++c) most_edges += num_starts(lattice, step, c);
    if (edges == most_edges) return true;

    lattice.steps_from.resize(graph.num_vertices);
    std::array<std::array<Index, most_offsets>, classes> edges_of{};
    visit_edges(lattice, graph, offsets, [&](Index v, Step const& point, std::size_t k) {
        lattice.steps_from[v].set(k);
        ++edges_of[class_of(point)][k];
        return true;
    });
    Index regular_edges = 0;
    for (std::size_t k = 0; k < lattice.steps.size(); ++k)
        for (int c = 0; c < classes; ++c) {
            Index const starts = num_starts(lattice, lattice.steps[k], c);
            bool const is_rare = static_cast<double>(edges_of[c][k]) < rare * static_cast<double>(starts);
            if (!is_rare) regular_edges += starts;
        }
    return static_cast<double>(edges) >= (1 - most_missing) * static_cast<double>(regular_edges);
}

// The lattice of this size, if the edges fit into it.
std::optional<Lattice> fitting(std::array<Index, 3> const& size, Graph const& graph,
                               std::vector<Index> const& offsets) {
    Lattice lattice;
    for (int d = 0; d < 3; ++d) {
        if (size[d] != 1 && size[d] <= 2 * most_reach) return {}; // steps would not be unique
        lattice.size[d] = static_cast<int>(size[d]);
    }
    for (Index const offset : offsets) {
        auto const step = step_of(offset, lattice);
        if (!step) return {};
        lattice.steps.push_back(*step);
    }
    if (!contains_edges(lattice, graph, offsets) || !set_steps(lattice, graph, offsets)) return {};
    return lattice;
}

} // namespace

std::optional<Lattice> find_lattice(Graph const& graph) {
    Index const n = graph.num_vertices;
    if (n > std::numeric_limits<std::int32_t>::max()) return {}; // regions have 32-bit numbers
    auto const offsets = offsets_of(graph);
    // A line and a plane are as long as one of the offsets, because stencils contain the next points.
    auto divisors = offsets;
    std::erase_if(divisors, [&](Index offset) { return offset == 1 || n % offset != 0; });
    for (Index const line : divisors) {
        if (auto found = fitting({line, n / line, 1}, graph, offsets)) return found;
        for (Index const plane : divisors)
            if (plane > line && plane % line == 0)
                if (auto found = fitting({line, plane / line, n / plane}, graph, offsets)) return found;
    }
    return {};
}

} // namespace espalier
