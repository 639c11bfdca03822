// The task graph of a triangular solve, over the branches of a partition, as one process sees it.
//
//   forward(u)           the forward part of an own branch, before that of its parent.
//   backward(u)          the backward part, after that of its parent.
//
// If own branches have rows in a cblk j of another process, which is a branch by itself:
//
//   send_sum(j)          adds up what own branches contribute to j and sends it: an event for forward(j)
//   there. receive_solution(j)  waits for x_j, an event; backward(j) there sends it to all contributors.
//
// These edges imply all others. If a branch u faces an own j through a parent q of another process, u is in
// send_sum(q), and forward(q) there waits for its message, and so on up to j.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mapping/branches.hpp"
#include "policies/task_graph.hpp"
#include "symbolic/block_structure.hpp"

namespace espalier {

enum class SolveTaskKind : std::uint8_t { forward, backward, send_sum, receive_solution };

struct SolveTask {
    SolveTaskKind kind = SolveTaskKind::forward;
    BranchId branch = 0; ///< Of another process for send_sum and receive_solution.
};

/// For each branch the other processes that have rows in it, ascending.
struct Contributors {
    std::vector<Offset> ptr{0}; ///< processes[ptr[u] .. ptr[u + 1]) for branch u.
    std::vector<std::int32_t> processes;

    [[nodiscard]] std::span<std::int32_t const> of(BranchId u) const {
        return {processes.data() + ptr[u], processes.data() + ptr[u + 1]};
    }
};

struct SolveTasks {
    std::vector<SolveTask> tasks;           ///< Predecessors before their successors.
    TaskGraph graph;                        ///< Costs: coefficients read. Homes: 0.
    std::vector<TaskId> forward_of_branch;  ///< Or send_sum, or no_task.
    std::vector<TaskId> backward_of_branch; ///< Or receive_solution, or no_task.
    Contributors contributors;              ///< To own branches; none to others.
    std::int64_t num_events = 0;            ///< Messages received.
};

/// The contributors to each branch of a whole structure. Linear in the bloks, but for sorting processes.
Contributors find_contributors(BlockStructure const& structure, BranchPartition const& partition,
                               std::span<std::int32_t const> process_of_branch);

/// `structure` is that of the process: with several processes its part, and `contributors` has one list for
/// each branch of it. `process_of_branch` is empty with one process. Linear in the bloks.
SolveTasks build_solve_tasks(BlockStructure const& structure, BranchPartition const& partition,
                             std::span<std::int32_t const> process_of_branch, std::int32_t process,
                             Contributors contributors);

} // namespace espalier
