// Converts nested states to a sequence in which a container is in one state at a time.
#pragma once

#include "trace/trace.hpp"

namespace espalier::trace {

/// Sorts parts.states by container and start, and cuts states around nested ones. The pieces after the first
/// are `continued`. A state that is wholly covered keeps an empty piece. Error{bad_input} for two states that
/// overlap without nesting. O(n log n), or O(n) if the states are already flat.
void flatten_states(TraceParts& parts);

} // namespace espalier::trace
