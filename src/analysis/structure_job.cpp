#include "analysis/structure_job.hpp"

#include <algorithm>

#include "analysis/checks.hpp"
#include "core/timer.hpp"
#include "ordering/graph_properties.hpp"
#include "ordering/lattice.hpp"
#include "ordering/rcm.hpp"

namespace espalier {

namespace {

std::uint64_t bytes_with(Graph const& graph, OrderingOptions const& ordering) {
    auto const numbers = static_cast<std::uint64_t>(graph.num_vertices + std::ssize(graph.adj));
    return numbers * sizeof(Index) + ordering_bytes(graph, ordering);
}

} // namespace

void StructureJob::order_vertices() {
    Timer const timer;
    bool const by_row = ordering.method == OrderingMethod::natural || ordering.method == OrderingMethod::user;
    compressed = by_row ? uncompressed(std::move(graph), schur) : compress(std::move(graph), schur, pairs);
    graph = {};
    if (earlier)
        ordering.method = earlier->method;
    else if (chooses && order_if_narrow())
        ordering.method = OrderingMethod::rcm;
    else if (chooses && starts_with_minimum_degree())
        ordering.method = OrderingMethod::amd;
    std::uint64_t const kept = earlier ? earlier->tree.bytes() : 0;
    require_memory(kept + bytes_with(compressed.graph, ordering), max_bytes, "the analysis");
    if (earlier) {
        adapted = adapt_ordering(compressed, earlier->tree, ordering);
        order = std::move(adapted->ordering);
    } else if (order.perm.empty()) {
        order = compute_ordering(compressed, ordering);
    }
    symbolic.kept_vertices = std::ssize(compressed.last);
    ordering_s = timer.seconds();
}

void StructureJob::find_supernodes() {
    Timer const timer;
    structure = espalier::find_supernodes(compressed, order, symbolic);
    symbolic_s = timer.seconds();
}

bool StructureJob::is_badly_adapted() const {
    constexpr double most_growth = 1.5;
    return adapted && structure.flops > most_growth * earlier->flops;
}

void StructureJob::order_again(OrderingMethod method) {
    Timer const timer;
    if (!has_memory_for(method)) return;
    OrderingOptions options = ordering;
    options.method = method;
    Ordering other = compute_ordering(compressed, options);
    SupernodalStructure others = espalier::find_supernodes(compressed, other, symbolic);
    if (others.flops < structure.flops) {
        order = std::move(other);
        structure = std::move(others);
        ordering.method = method;
        adapted.reset();
    }
    ordering_s += timer.seconds();
}

bool StructureJob::has_memory_for(OrderingMethod method) const {
    OrderingOptions options = ordering;
    options.method = method;
    std::uint64_t const kept =
        bytes_of(structure) + (earlier ? earlier->tree.bytes() : 0) + 2 * order.perm.size() * sizeof(Index);
    return max_bytes == 0 || kept + bytes_with(compressed.graph, options) <= max_bytes;
}

// For meshes, of which dissection needs fewer operations, the estimate is at most twice the operations after
// minimum degree. For networks with random connections it is 10 to 30 times these operations, as for grids in
// more than three dimensions, of which dissection needs fewer operations all the same.
bool StructureJob::has_small_separators() {
    constexpr double most = 4;
    if (!has_memory_for(OrderingMethod::dissection)) return false;
    Timer const timer;
    bool const is_small = estimated_dissection_work(compressed.graph) <= most * structure.flops;
    ordering_s += timer.seconds();
    return is_small;
}

bool StructureJob::is_lattice() {
    if (!is_lattice_) is_lattice_ = find_lattice(compressed.graph).has_value();
    return *is_lattice_;
}

// In a band of which a third of the entries or more are stored, Cuthill-McKee takes far less time than a
// dissection, and its factorization needs a quarter of the operations, but all on one branch of the tree. A
// factorization after a dissection is therefore faster on more than four workers. With w of them it saves the
// share 1 - 4 / w of the time. This must be less than a tenth of the time of the dissection.
bool StructureJob::order_if_narrow() {
    constexpr double most_growth = 8, flops_per_second = 5e9;
    Graph const& vertices = compressed.graph;
    if (!compressed.last.empty()) return false;
    double most_flops = most_growth * full_band_flops(vertices);
    double const share = 1 - 4.0 / workers;
    if (share > 0)
        most_flops =
            std::min(most_flops, 0.1 * predicted_dissection_seconds(vertices) * flops_per_second / share);
    auto narrow = espalier::order_if_narrow(vertices, most_flops);
    if (!narrow) return false;
    order = std::move(*narrow);
    return true;
}

// Minimum degree takes less time than a dissection, which often does not pay on small and irregular graphs,
// nor on those in the plane.
bool StructureJob::starts_with_minimum_degree() {
    constexpr double small_s = 0.01;
    Graph const& vertices = compressed.graph;
    if (predicted_dissection_seconds(vertices) < small_s || has_hubs(vertices, 10)) return !is_lattice();
    has_long_paths = !is_lattice() && espalier::has_long_paths(vertices);
    return has_long_paths;
}

} // namespace espalier
