// The task graph of a triangular solve with one right-hand side, over the branches of a partition and for all
// processes.
//
//   forward(u)              the forward part of a branch, before that of its parent.
//   backward(u)             the backward part, after that of its parent.
//
// A cblk above the cut with a large panel leaves most rows below its diagonal block to tasks of their own, so
// that several threads work on the chains of cblks near the root, which would wait for each other otherwise:
//
//   forward_rows(u, g)      multiplies a group of rows with the result of forward(u), before the forward part
//   of the
//                           first branch that it faces.
//   backward_rows(u, g)     multiplies the transposed rows with the solution there, as soon as it is known,
//   for
//                           backward(u).
//
// The owner of u runs both. If branches of a process p have rows in a cblk j of another process, which is a
// branch by itself, there are four more tasks:
//
//   send_sum(p, j)          p adds up what its branches contribute to j.
//   message                 carries the sum to the owner of j, where forward(j) waits for it.
//   message                 carries x_j from the owner, which has run backward(j), to p.
//   receive_solution(p, j)  p stores x_j for the backward parts of these branches.
//
// These edges imply all others. If a branch u faces a cblk j of its own process through a parent q of another
// process, u is in send_sum(q), and forward(q) there waits for its message, and so on up to j.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mapping/branches.hpp"
#include "mapping/cost_model.hpp"
#include "policies/task_graph.hpp"
#include "symbolic/block_structure.hpp"
#include "tasks/factor_tasks.hpp"

namespace espalier {

enum class SolveTaskKind : std::uint8_t {
    forward,
    backward,
    forward_rows,
    backward_rows,
    send_sum,
    receive_solution,
    message
};

/// Whether the owner of the branch runs such a task.
inline bool is_at_owner(SolveTaskKind kind) {
    return kind < SolveTaskKind::send_sum;
}
/// Whether a task, other than a message, belongs to the forward half.
inline bool is_forward(SolveTaskKind kind) {
    return kind == SolveTaskKind::forward || kind == SolveTaskKind::forward_rows ||
           kind == SolveTaskKind::send_sum;
}

struct SolveTask {
    SolveTaskKind kind = SolveTaskKind::forward;
    BranchId branch = 0;      ///< For send_sum and receive_solution a branch of another process.
    std::int32_t process = 0; ///< The process that runs the task; message: the sender.
    std::int32_t peer = 0;    ///< message: the receiver; otherwise `process`.
    double bytes = 0;         ///< message: its size for one right-hand side.
    /// Tasks at the owner of a branch with one cblk: the bloks below the diagonal block that the task
    /// multiplies, numbered from the first of these.
    std::int32_t first_blok = 0;
    std::int32_t end_blok = 0;
    double share = 1; ///< Tasks at the owner: share of the work of the branch in this half.
};

/// The root of the task's branch.
inline CblkId cblk_of(SolveTask const& task, BranchPartition const& partition) {
    return partition.branches[task.branch].root;
}

/// For each branch the other processes that have rows in it, ascending.
struct Contributors {
    std::vector<Offset> ptr{0}; ///< processes[ptr[u] .. ptr[u + 1]) for branch u.
    std::vector<std::int32_t> processes;

    [[nodiscard]] std::span<std::int32_t const> of(BranchId u) const {
        return {processes.data() + ptr[u], processes.data() + ptr[u + 1]};
    }
};

/// The tasks of all processes, or the part of one of them (simulation/deal_solve.hpp).
struct SolveTasks {
    /// Predecessors before their successors: first the forward half by ascending branches, then the backward
    /// half by descending ones.
    std::vector<SolveTask> tasks;
    TaskGraph graph;                        ///< Costs: seconds by the cost model, of messages by the network.
    std::vector<TaskId> forward_of_branch;  ///< In a part also send_sum, or no_task.
    std::vector<TaskId> backward_of_branch; ///< In a part also receive_solution, or no_task.
    /// To each branch; in a part none to branches of other processes.
    Contributors contributors;
    std::int64_t num_events = 0; ///< A part: messages received.
};

/// How the rows of a branch are divided into groups.
struct SweepDivision {
    int most_groups = 0;               ///< For one branch.
    Offset fewest_entries = 48 * 1024; ///< Entries of the panel in a group: work of about 15 us.
};

/// Homes are 0. With one process there are no messages. Linear in the bloks, but for sorting processes.
SolveTasks build_solve_tasks(BlockStructure const& structure, BranchPartition const& partition,
                             CostModel const& model, Distribution const& distribution = {},
                             SweepDivision const& division = {});

} // namespace espalier
