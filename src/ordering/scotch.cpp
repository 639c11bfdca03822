// Orderings by SCOTCH: nested dissection with its separators, or a strategy string of the caller.
#include <algorithm>

#include "ordering/dissection.hpp"
#include "ordering/methods.hpp"

namespace espalier {

std::vector<Index> order_by_scotch(Graph const& graph, int threads, Interrupt* interrupt) {
    return NestedDissection(graph, threads, interrupt).run();
}

// SCOTCH splits its random generator among its threads, so a deterministic ordering needs a single thread.
std::vector<Index> order_by_scotch_strategy(Graph const& graph, std::string const& strategy, int threads,
                                            bool deterministic) {
    ScotchStrategy const parsed(strategy);
    ScotchContext context(deterministic ? 1 : std::max(1, threads), deterministic);
    context.reseed(1);
    auto const position = order_interior(context, parsed, whole_region(graph));
    return {position.begin(), position.end()};
}

} // namespace espalier
