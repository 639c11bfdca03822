// The task graph of a factorization and that of a triangular solve, over the branches of a partition.
//
//   factor(u)      factorizes the cblks of branch u in order, each applying its updates to the later cblks
//                  of the same branch (right-looking).
//   update(u, j)   A(:, j) -= sum over k in u of L(:, k) L(j, k)^H, for a cblk j outside u.
//
// With several processes both are done by the process of u. If that does not own j, the update goes into its
// fan-in block for j, which is sent when the last one is done:
//
//   message(p, j)  carries the sum of process p to the owner of j. The network does it, not a worker.
//   fan_in(p, j)   adds it, at the owner.
//
// Where a cblk is cut into groups of rows (row_groups.hpp), factor(u) becomes
//
//   diagonal(u)    the diagonal block, and
//   solve(u, g)    the triangular solve for the rows of each group g below it;
//
// and updates and fan-ins of it are cut likewise, one for each group that they write to.
//
// Sums are taken in one of two ways. In a fixed order: the updates of one target (of one group of it) form a
// chain in each process, in ascending order of their sources, which leads to the message, or with the fan-ins
// (each at the place of its last source) to the target's factor task; results then do not depend on timing.
// Or as they come: updates of one target have the same resource, so that they exclude each other. Either way
// no target is ever written by two tasks at once. The priority of a task is its longest path to the end, in
// which the updates of a target follow each other as in the fixed order. The kept cblks of a Schur complement
// are updated like others; their factor tasks cost nothing and have no updates to give.
#pragma once

#include <cstdint>
#include <vector>

#include "mapping/branches.hpp"
#include "mapping/cost_model.hpp"
#include "mapping/machine_model.hpp"
#include "policies/task_graph.hpp"
#include "symbolic/block_structure.hpp"
#include "tasks/contributions.hpp"
#include "tasks/fan_in.hpp"
#include "tasks/row_groups.hpp"

namespace espalier {

enum class TaskKind : std::uint8_t { factor, diagonal, solve, update, message, fan_in };

inline constexpr std::int32_t whole_panel = -1;
inline constexpr std::int32_t no_block = -1;

struct FactorTask {
    BranchId source = 0;     ///< Of a message or fan-in the last one that contributes.
    CblkId target = no_cblk; ///< Where a contribution goes; no_cblk: factor, diagonal, solve.
    Offset first_facing = 0; ///< The bloks of `source` that face `target`, of an update:
    Offset end_facing = 0;   ///< structure.facing[first_facing .. end_facing).
    TaskKind kind = TaskKind::factor;
    std::int32_t process = 0;         ///< Whose task it is: of a message the sender.
    std::int32_t peer = 0;            ///< The receiver of a message, the sender of a fan-in, else `process`.
    double bytes = 0;                 ///< Of the fan-in block, or the part of it that is added.
    std::int32_t group = whole_panel; ///< Of rows: of the source (solve), of the target (update, fan_in).
    std::int32_t block = no_block;    ///< The fan-in block: of message, fan_in and update to elsewhere.
};

struct FactorTasks {
    std::vector<FactorTask> tasks; ///< Predecessors come before their successors.
    TaskGraph graph;
    FanInBlocks fan_in; ///< One for each message, in their order.
    /// factor(u), or diagonal(u); then solve(u, g) is the g-th task after it.
    std::vector<TaskId> factor_of_branch;
};

/// Which process owns each branch, and what lies between processes.
struct Distribution {
    std::vector<std::int32_t> process_of_branch; ///< Empty: there is only one process.
    Network network;
    PanelFormat format;
};

enum class SumOrder { fixed, as_they_come };

FactorTasks build_factor_tasks(BlockStructure const& structure, BranchPartition const& partition,
                               Contributions const& contributions, CostModel const& model,
                               Distribution const& distribution = {}, RowGroups const& groups = {},
                               SumOrder order = SumOrder::fixed);

} // namespace espalier
