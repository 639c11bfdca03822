// The task graph of a triangular solve, over the branches of a partition, as one process sees it.
//
//   forward(u)    the forward part of an own branch; its parent's is after it.
//   backward(u)   the backward part; its children's are after it.
//
// Where an own branch has rows in a cblk j of another process (a branch of its own: subtrees have one owner):
//
//   give(j)       sums what own branches have for j, and sends it: an event for forward(j) there.
//   take(j)       x_j has come from there, an event: after backward(j), which sends it to all who gave.
//
// These edges are enough for every order that counts. A branch that faces an own j through a parent q of
// another process is in give(q), whose message forward(q) there waits for, and so on up to j.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mapping/branches.hpp"
#include "policies/task_graph.hpp"
#include "symbolic/block_structure.hpp"

namespace espalier {

enum class SolveTaskKind : std::uint8_t { forward, backward, give, take };

struct SolveTask {
    SolveTaskKind kind = SolveTaskKind::forward;
    BranchId branch = 0; ///< give, take: the branch of another process.
};

struct SolveTasks {
    std::vector<SolveTask> tasks;           ///< Predecessors before their successors.
    TaskGraph graph;                        ///< Costs: coefficients read. Homes: 0.
    std::vector<TaskId> forward_of_branch;  ///< or give, or no_task.
    std::vector<TaskId> backward_of_branch; ///< or take, or no_task.
    /// For each own branch the other processes that have something for it, ascending:
    /// givers[giver_ptr[u] .. giver_ptr[u + 1]). Empty with one process.
    std::vector<Offset> giver_ptr;
    std::vector<std::int32_t> givers;
    std::int64_t num_events = 0; ///< Messages that come.

    [[nodiscard]] std::span<std::int32_t const> givers_of(BranchId u) const {
        if (giver_ptr.empty()) return {};
        auto const at = static_cast<std::size_t>(u);
        return {givers.data() + giver_ptr[at], givers.data() + giver_ptr[at + 1]};
    }
};

/// `process_of_branch` is empty where there is one process. Linear in the bloks.
SolveTasks build_solve_tasks(BlockStructure const& structure, BranchPartition const& partition,
                             std::span<std::int32_t const> process_of_branch = {}, std::int32_t process = 0);

} // namespace espalier
