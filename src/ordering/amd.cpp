// Approximate minimum degree by SuiteSparse AMD with 64-bit integers. AMD does not support vertex weights.
#include <type_traits>

#include <amd.h>
#include <fmt/format.h>

#include "espalier/types.hpp"
#include "ordering/methods.hpp"
#include "ordering/permutation.hpp"

namespace espalier {

std::vector<Index> order_by_amd(Graph const& graph) {
    static_assert(std::is_same_v<SuiteSparse_long, Index> && std::is_same_v<SuiteSparse_long, Offset>);
    std::vector<Index> order(graph.num_vertices); // order[new] = old
    auto const code =
        amd_l_order(graph.num_vertices, graph.ptr.data(), graph.adj.data(), order.data(), nullptr, nullptr);
    if (code == AMD_OUT_OF_MEMORY) throw Error(Status::out_of_memory, "AMD ran out of memory while ordering");
    if (code != AMD_OK && code != AMD_OK_BUT_JUMBLED)
        throw Error(Status::internal, fmt::format("AMD rejected the graph with status {}", code));
    return invert_permutation(order, "AMD");
}

} // namespace espalier
