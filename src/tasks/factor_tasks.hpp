// The task graph of a factorization, over the branches of a partition.
//
//   factor(u)      factorizes the cblks of branch u in order (right-looking): each applies its updates to
//                  the later cblks of the branch.
//   update(u, j)   A(:, j) -= sum over k in u of L(:, k) L(j, k)^H, for a cblk j outside u.
//
// With several processes the owner of u runs both. If it does not own j, the update goes into its fan-in
// block for j, which is sent after the last such update:
//
//   message(p, j)  carries the sum of process p to the owner of j. It takes network time but no worker.
//   fan_in(p, j)   adds the sum, at the owner of j.
//
// If the cblk is cut into groups of rows (row_groups.hpp), factor(u) becomes
//
//   diagonal(u)    the diagonal block, and
//   solve(u, g)    the triangular solve for the rows of each group g below it;
//
// its updates, messages and fan-ins are cut, too: there is one for each group that they write to.
//
// A sum is computed in one of two ways. In a fixed order, the updates of a target (or of one group of it)
// form a chain in each process, in ascending order of their sources. The chain leads to the message or, with
// the fan-ins (each at the place of its last source), to the factor task of the target; results do not depend
// on timing. As they come, the updates of a target have the same resource, so they exclude each other. In
// both cases no two tasks write to a target at the same time. The priority of a task is its longest path to
// the end, in which the updates of a target follow each other as in the fixed order. The kept cblks of a
// Schur complement are updated like others; their factor tasks cost nothing and have no updates.
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
    BranchId source = 0;     ///< message, fan_in: the last branch that contributes.
    CblkId target = no_cblk; ///< update, message, fan_in: the cblk that is updated; otherwise no_cblk.
    Offset first_facing = 0; ///< update: the bloks of `source` that face `target` are
    Offset end_facing = 0;   ///< structure.facing[first_facing .. end_facing).
    TaskKind kind = TaskKind::factor;
    std::int32_t process = 0; ///< The process that runs the task; message: the sender.
    std::int32_t peer = 0;    ///< message: the receiver; fan_in: the sender; otherwise `process`.
    double bytes = 0;         ///< message: size of the fan-in block; fan_in: of the part that is added.
    std::int32_t group = whole_panel; ///< Group of rows of the source (solve) or of the target (others).
    std::int32_t block = no_block;    ///< The fan-in block of a message, fan_in or update of a remote cblk.
};

/// The cblk that the task writes to; for a task of a whole branch, the root of the branch.
inline CblkId cblk_of(FactorTask const& task, BranchPartition const& partition) {
    return task.target != no_cblk ? task.target : partition.branches[task.source].root;
}

/// Calls visit(k, bytes) for the coefficients in the panel of each cblk k that the task reads or writes,
/// counted once. A task of a branch accesses all its panels, and an update accesses rows of its sources and
/// its target. A fan-in has none.
template <class Visit> void for_each_access(BlockStructure const& structure, BranchPartition const& partition,
                                            RowGroups const& groups, PanelFormat const& format,
                                            FactorTask const& task, Visit const& visit) {
    if (task.target == no_cblk) {
        Branch const& branch = partition.branches[task.source];
        if (structure.is_kept(branch.first)) return; // not factorized
        if (task.kind != TaskKind::factor) {         // part of a panel
            Index const rows = groups.rows(structure, branch.root, task.group);
            Index const below = task.kind == TaskKind::solve ? rows : 0;
            return visit(branch.root, format.bytes(rows, below, structure.cblk(branch.root).width()));
        }
        for (CblkId k = branch.first; k <= branch.root; ++k)
            visit(k, format.bytes(structure.cblk(k).stride, structure.cblk(k).width()));
    }
    for (Offset f = task.first_facing; f < task.end_facing;) {
        BlokId const first = structure.facing[f];
        CblkId const k = structure.owner_of_blok[first];
        UpdateShape const shape = update_shape(structure, structure.cblk(k), first);
        Index const rows = task.group == whole_panel ? shape.rows
                                                     : groups.rows_within(structure, structure.cblk(k), first,
                                                                          task.target, task.group);
        visit(k, format.bytes(rows, rows, shape.depth));
        visit(task.target, format.bytes(rows, rows, shape.cols));
        f += shape.bloks;
    }
}

struct FactorTasks {
    std::vector<FactorTask> tasks; ///< Predecessors come before their successors.
    TaskGraph graph;
    FanInBlocks fan_in; ///< One for each message, in their order.
    /// factor(u), or diagonal(u); then solve(u, g) is the g-th task after it.
    std::vector<TaskId> factor_of_branch;
};

/// The owner of each branch, the network between processes, and the format of messages.
struct Distribution {
    std::vector<std::int32_t> process_of_branch; ///< Empty: there is only one process.
    Network network;
    PanelFormat format;
};

enum class SumOrder { fixed, as_they_come };

/// Near-linear in the contributions and their groups of rows. SumOrder::fixed needs no resources.
FactorTasks build_factor_tasks(BlockStructure const& structure, BranchPartition const& partition,
                               Contributions const& contributions, CostModel const& model,
                               Distribution const& distribution = {}, RowGroups const& groups = {},
                               SumOrder order = SumOrder::fixed);

} // namespace espalier
