// Which place each container of a file has: machine, process, NUMA node or thread.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace espalier::trace {

/// The containers of `parts` stand as a file has them, each a child of any other, and `types[i]` is the
/// type's name of container i. Where the types are "Machine", "Process", "Node" and "Thread", one in the
/// other, they keep their places. Otherwise each container that has states or links becomes a thread of one
/// process, variables of other containers are lost, and the rest of the tree with them.
void place_containers(TraceParts& parts, std::vector<std::string> const& types);

/// The place that a type of containers stands for; thread where it is no word of ours.
Place place_named(std::string const& type);

} // namespace espalier::trace
