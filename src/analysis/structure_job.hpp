// Orderings as jobs for a thread in the background. A job owns all its data, because it may outlive the call that
// was cancelled.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/checks.hpp"
#include "core/interrupt.hpp"
#include "core/timer.hpp"
#include "incomplete/row_order.hpp"
#include "ordering/lattice.hpp"
#include "ordering/ordering.hpp"
#include "symbolic/symbolic.hpp"

namespace espalier {

inline std::uint64_t bytes_of(Graph const& graph) {
    return static_cast<std::uint64_t>(graph.num_vertices + std::ssize(graph.adj)) * sizeof(Index);
}

/// Ordering and symbolic factorization.
struct StructureJob {
    Graph graph;
    std::vector<std::pair<Index, Index>> pairs;
    std::vector<Index> schur;
    OrderingOptions ordering; // with the method of the result
    bool chooses = false;     // whether minimum degree may take the place of the method
    OrderingMethod second = OrderingMethod::scotch; // of order_again()
    SymbolicOptions symbolic;
    std::shared_ptr<Interrupt> interrupt;
    std::uint64_t max_bytes = 0; // of ordering and symbolic factorization; 0 for no limit

    CompressedGraph compressed;
    Ordering order;
    SupernodalStructure structure;
    double ordering_s = 0;
    double symbolic_s = 0;

    void order_vertices() {
        Timer const timer;
        bool const by_row =
            ordering.method == OrderingMethod::natural || ordering.method == OrderingMethod::user;
        compressed = by_row ? uncompressed(std::move(graph), schur) : compress(std::move(graph), schur, pairs);
        graph = {};
        if (chooses && starts_with_minimum_degree()) ordering.method = OrderingMethod::amd;
        require_memory(bytes_of(compressed.graph) + ordering_bytes(compressed.graph, ordering), max_bytes,
                       "the analysis");
        order = compute_ordering(compressed, ordering);
        symbolic.kept_vertices = std::ssize(compressed.last);
        ordering_s = timer.seconds();
    }

    void find_supernodes() {
        Timer const timer;
        structure = espalier::find_supernodes(compressed, order, symbolic);
        symbolic_s = timer.seconds();
    }

    // Orders by `second` as well, and keeps the ordering with fewer operations.
    void order_again() {
        Timer const timer;
        OrderingMethod const first = std::exchange(ordering.method, second);
        Ordering other = compute_ordering(compressed, ordering);
        SupernodalStructure others = espalier::find_supernodes(compressed, other, symbolic);
        if (others.flops < structure.flops) {
            order = std::move(other);
            structure = std::move(others);
        } else {
            ordering.method = first;
        }
        ordering_s += timer.seconds();
    }

  private:
    // Minimum degree takes less time than a dissection, which often does not pay on small and irregular graphs.
    [[nodiscard]] bool starts_with_minimum_degree() const {
        constexpr double small_s = 0.01;
        Graph const& vertices = compressed.graph;
        return (predicted_dissection_seconds(vertices) < small_s || is_irregular(vertices)) &&
               !find_lattice(vertices);
    }
};

/// The ordering of an incomplete factorization.
template <class T> struct RowOrderJob {
    CscMatrix<T> working;
    int block_size = 0;
    OrderingOptions ordering;
    std::shared_ptr<Interrupt> interrupt;
    RowOrder order;
};

} // namespace espalier
