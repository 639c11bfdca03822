// Ordering and symbolic factorization as a job for a thread in the background. The job owns all its data,
// because it may outlive the call that was cancelled.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "ordering/adapt_ordering.hpp"
#include "ordering/ordering.hpp"
#include "symbolic/symbolic.hpp"

namespace espalier {

/// The ordering of an earlier analysis.
struct EarlierOrdering {
    SeparatorTree tree;
    OrderingMethod method = OrderingMethod::dissection;
    double flops = 0; ///< SupernodalStructure::flops with the last ordering that was not adapted.
};

struct StructureJob {
    Graph graph;
    std::vector<std::pair<Index, Index>> pairs;
    std::vector<Index> schur;
    OrderingOptions ordering; // with the method of the result
    bool chooses = false;     // whether another method may take the place of that of the options
    int workers = 1;          // of all processes
    std::shared_ptr<EarlierOrdering const> earlier; // is adapted to the graph; may be null
    SymbolicOptions symbolic;
    std::shared_ptr<Interrupt> interrupt;
    std::uint64_t max_bytes = 0; // limit for ordering and symbolic factorization; 0: no limit

    CompressedGraph compressed;
    bool has_long_paths = false; // if minimum degree comes first because of long paths
    Ordering order;
    std::optional<AdaptedOrdering>
        adapted; // what was done to the earlier ordering; its ordering is in `order`
    SupernodalStructure structure;
    double ordering_s = 0;
    double symbolic_s = 0;

    /// Error{out_of_memory} if this needs more than max_bytes.
    void order_vertices();
    void find_supernodes();
    /// Whether the adapted ordering needs many more operations than the earlier one.
    [[nodiscard]] bool is_badly_adapted() const;
    /// Orders by another method as well, if memory suffices, and keeps the ordering with fewer operations.
    void order_again(OrderingMethod method);
    /// After minimum degree: whether a quick cut shows that a dissection may need fewer operations.
    [[nodiscard]] bool has_small_separators();
    /// Whether the compressed graph is a lattice, of which `dissection` finds good orderings.
    [[nodiscard]] bool is_lattice();

  private:
    [[nodiscard]] bool has_memory_for(OrderingMethod method) const;
    /// Orders a long narrow graph with few operations along its length. Returns false for other graphs.
    bool order_if_narrow();
    [[nodiscard]] bool starts_with_minimum_degree();

    std::optional<bool> is_lattice_;
};

} // namespace espalier
