#include "policies/exclusion.hpp"

#include <string>

#include "core/error.hpp"

namespace espalier {

void check_resources(TaskGraph const& graph) {
    if (graph.resource.empty()) return;
    if (graph.resource.size() != graph.num_predecessors.size())
        throw Error(Status::internal, "task graph: resource and num_predecessors do not fit together");
    for (std::size_t t = 0; t < graph.resource.size(); ++t)
        if (graph.resource[t] < no_resource || graph.resource[t] >= graph.num_resources)
            throw Error(Status::internal, "task graph: task " + std::to_string(t) + " has resource " +
                                              std::to_string(graph.resource[t]) + " of " +
                                              std::to_string(graph.num_resources));
}

} // namespace espalier
