// The task graph of a factorization and that of a triangular solve, over the branches of a partition.
//
//   factor(u)      factorizes the cblks of branch u in order, each applying its updates to the later cblks
//                  of the same branch (right-looking).
//   update(u, j)   A(:, j) -= sum over k in u of L(:, k) L(j, k)^H, for a cblk j outside u.
//
// The updates of one target form a chain in ascending order of their sources, which then leads to the
// target's factor task: sums are always taken in the same order, so results do not depend on timing, and
// no target is ever written by two tasks at once. The kept cblks of a Schur complement are updated like
// others; their factor tasks cost nothing and have no updates to give.
#pragma once

#include <vector>

#include "mapping/branches.hpp"
#include "mapping/cost_model.hpp"
#include "runtime/task_graph.hpp"
#include "symbolic/block_structure.hpp"

namespace espalier {

struct FactorTask {
    BranchId source = 0;
    CblkId target = no_cblk; ///< no_cblk: factor(source), else update(source, target).
    Offset first_facing = 0; ///< The bloks of `source` that face `target`:
    Offset end_facing = 0;   ///< structure.facing[first_facing .. end_facing).
};

struct FactorTasks {
    std::vector<FactorTask> tasks;
    TaskGraph graph;
    std::vector<TaskId> factor_of_branch;
};

FactorTasks build_factor_tasks(BlockStructure const& structure, BranchPartition const& partition,
                               CostModel const& model);

/// Tasks 0 .. B-1 are the forward solves of the branches, B .. 2B-1 their backward solves.
TaskGraph build_solve_tasks(BlockStructure const& structure, BranchPartition const& partition);

/// priority[t] = cost of the longest path from t to an exit, t included.
void set_critical_path_priorities(TaskGraph& graph);

} // namespace espalier
