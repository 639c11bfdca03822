// The words of Espalier's own traces, the same in a run and in its prediction: what threads do, which phases
// the whole goes through, what is counted. Each with its category and its colour.
#pragma once

#include <vector>

#include "trace/trace.hpp"

namespace espalier::trace {

/// Indices into standard_kinds().
enum class Kind : std::int16_t {
    // Of threads.
    idle,     ///< Nothing to do, spinning or asleep.
    overhead, ///< Looking for work, counting predecessors down, waiting for a lock.
    send,
    receive,
    assemble, ///< Scatter the matrix's entries into panels.
    factor,   ///< Factor a cblk's diagonal block and solve with it for the rows below.
    update,   ///< Subtract the product of a cblk with itself from a facing one.
    subtree,  ///< A small subtree, from its leaves to its root.
    fan_in,   ///< Add a received sum of contributions.
    forward,
    backward,
    refine, ///< Products with the matrix, and vector operations.
    // Of processes.
    reading,
    ordering,
    symbolic,
    mapping,
    scheduling,
    assembly,
    factorization,
    solve,
    refinement,
};

/// Indices into standard_variables().
enum class Counter : std::int32_t {
    memory,      ///< Bytes in use, of a process.
    ready_tasks, ///< Tasks of a process that wait to be taken by a worker.
};

std::vector<StateKind> standard_kinds();
std::vector<Variable> standard_variables();

/// Colours that people who do not see red or green can tell apart, for kinds beyond the standard ones.
/// Repeats after a dozen.
Color distinct_color(std::size_t index);

/// The colour of a level of the tree: bright at the root, dark (yet not as black as idle) at `deepest`.
Color level_color(int level, int deepest);

inline constexpr Color idle_color{0, 0, 0};

} // namespace espalier::trace
