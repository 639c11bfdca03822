// Priorities by the longest paths in a task graph.
#pragma once

#include <cstddef>

#include "policies/task_graph.hpp"

namespace espalier {

/// The highest priority of a successor of the task; 0 for none.
[[nodiscard]] double longest_after(TaskGraph const& graph, std::size_t task);

/// priority[t] = cost of the longest path from t to an exit, t included. Linear.
void set_critical_path_priorities(TaskGraph& graph);

} // namespace espalier
