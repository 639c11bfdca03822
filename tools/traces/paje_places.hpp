// Finds the place of each container of a file: machine, process, NUMA node or thread.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace espalier::trace {

/// The containers of `parts` are a tree of any shape, and `types[i]` is the name of the type of container i.
/// If the types are "Machine", "Process", "Node" and "Thread", nested in this order, containers keep their
/// places. Otherwise each container with states or links becomes a thread of one process. The other
/// containers and their variables are dropped.
void place_containers(TraceParts& parts, std::vector<std::string> const& types);

/// The place of a type of containers; thread for an unknown type.
Place place_named(std::string const& type);

} // namespace espalier::trace
