// Nested dissection by METIS 5. METIS uses rand() and process-wide signal handlers, so only one thread may
// call it at a time, and each call resets the sequence of rand() for the whole program.
#include <limits>
#include <mutex>

#include <fmt/format.h>
#include <metis.h>

#include "core/error.hpp"
#include "ordering/methods.hpp"

namespace espalier {

std::vector<Index> order_by_metis(Graph const& graph) {
    // METIS sums weights in its own integer type.
    constexpr Index weight_limit = std::numeric_limits<idx_t>::max() / 4;
    auto n = checked_cast<idx_t>(graph.num_vertices, "number of vertices to order with METIS");
    checked_cast<idx_t>(graph.ptr.back(), "number of adjacency entries to order with METIS");
    if (graph.num_vertices > weight_limit)
        throw Error(Status::unsupported,
                    fmt::format("the graph has {} vertices; METIS can order at most {}", n, weight_limit));
    std::vector<idx_t> ptr(graph.ptr.begin(), graph.ptr.end()), adj(graph.adj.begin(), graph.adj.end());
    auto const balanced = balance_weights(graph, weight_limit);
    std::vector<idx_t> weight(balanced.begin(), balanced.end());
    std::vector<idx_t> order(n), position(n);

    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_COMPRESS] = 0; // the graph is compressed already, and METIS would ignore the weights
    int code;
    {
        static std::mutex one_at_a_time;
        std::lock_guard const lock(one_at_a_time);
        code = METIS_NodeND(&n, ptr.data(), adj.data(), weight.empty() ? nullptr : weight.data(), options,
                            order.data(), position.data());
    }
    if (code == METIS_ERROR_MEMORY)
        throw Error(Status::out_of_memory, "METIS ran out of memory while ordering");
    if (code != METIS_OK)
        throw Error(Status::internal, fmt::format("METIS_NodeND failed with code {}", code));
    return {position.begin(), position.end()};
}

} // namespace espalier
