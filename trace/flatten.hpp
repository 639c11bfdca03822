// States that lie inside one another, as a sequence in which a container is in one state at a time.
#pragma once

#include "trace/trace.hpp"

namespace espalier::trace {

/// Sorts parts.states by container and start, and cuts those around others; the pieces after the first are
/// `continued`. A state that others cover wholly keeps a piece without extent. Error{bad_input} for two that
/// overlap without one being inside the other. O(n log n), and O(n) where nothing is to be done.
void flatten_states(TraceParts& parts);

} // namespace espalier::trace
