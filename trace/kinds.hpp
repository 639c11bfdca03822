// The state kinds and variables of Espalier's own traces, in runs and predictions, with their categories and
// colors.
#pragma once

#include <vector>

#include "trace/trace.hpp"

namespace espalier::trace {

/// Indices into standard_kinds().
enum class Kind : std::int16_t {
    // States of threads.
    idle,     ///< Without a task, spinning or asleep.
    overhead, ///< Looking for work, counting predecessors down, waiting for a lock.
    send,
    receive,
    assemble, ///< Scatter the entries of the matrix into panels.
    factor,   ///< Factor a cblk's diagonal block and solve with it for the rows below.
    update,   ///< Subtract the product of a cblk with itself from a facing one.
    subtree,  ///< A small subtree, from its leaves to its root.
    fan_in,   ///< Add a received sum of contributions.
    forward,
    backward,
    refine, ///< Products with the matrix, and vector operations.
    // Phases of processes.
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
    memory,      ///< Bytes in use by a process.
    ready_tasks, ///< Ready tasks of a process that no worker has taken.
};

std::vector<StateKind> standard_kinds();
std::vector<Variable> standard_variables();

/// One of twelve colors for kinds beyond the standard ones, distinguishable with all types of color vision.
/// Indices above 11 repeat them.
Color distinct_color(std::size_t index);

/// The color of a level of the tree, from bright at the root to dark at `deepest`.
Color level_color(int level, int deepest);
/// The color at `place` (0 to 1) between anchors at equal distances.
Color ramp_color(std::span<Color const> anchors, double place);

inline constexpr Color idle_color{0, 0, 0};

} // namespace espalier::trace
