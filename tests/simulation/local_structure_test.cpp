
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "simulation/factor_plan.hpp"
#include "structures.hpp"

namespace espalier {
namespace {

// The plans of all processes for a random tree, next to the schedule that they are made from.
struct Dealt {
    Dealt(int processes, unsigned seed, bool cut) : structure(random_structure(120, seed)) {
        structure.inverse.resize(structure.n);
        std::iota(structure.inverse.rbegin(), structure.inverse.rend(), Index{0}); // any permutation
        MachineModel const machine = machine_of(processes, 2);
        ScheduleOptions const options = cut ? two_d(20, 40) : ScheduleOptions();
        plans = make_process_plans(structure, CostModel{}, machine, options);
        schedule = simulate_schedule(structure, CostModel{}, machine, options);
    }

    // The row of the whole structure that a column of a part is.
    [[nodiscard]] Index whole_row(BlockStructure const& part, Index col) const {
        CblkId i = 0;
        while (part.cblk(i).end_col <= col) ++i;
        return structure.cblk(part.number_of(i)).first_col + (col - part.cblk(i).first_col);
    }

    BlockStructure structure;
    ProcessPlans plans;
    Schedule schedule;
};

// Rows of the whole structure, and the rows of the panel where they are.
using Rows = std::map<Index, Index>;

Rows rows_of(Dealt const& dealt, BlockStructure const& part, CblkId i) {
    Rows rows;
    for (Blok const& blok : part.bloks_of(part.cblk(i)))
        for (Index r = blok.first_row; r < blok.end_row; ++r) {
            Cblk const& facing = part.cblk(blok.facing_cblk);
            EXPECT_TRUE(facing.first_col <= r && r < facing.end_col);
            rows[dealt.whole_row(part, r)] = blok.panel_row + (r - blok.first_row);
        }
    return rows;
}

void expect_part(Dealt const& dealt, std::int32_t process) {
    BlockStructure const& part = dealt.plans.structures[process];
    auto const& owners = dealt.plans.process_of_cblk;
    std::set<CblkId> wanted, found(part.number_of_cblk.begin(), part.number_of_cblk.end());
    for (CblkId k = 0; k < dealt.structure.num_cblks(); ++k)
        if (owners[k] == process)
            for (Blok const& blok : dealt.structure.bloks_of(dealt.structure.cblk(k)))
                wanted.insert(blok.facing_cblk);
    EXPECT_EQ(found, wanted);
    EXPECT_TRUE(std::is_sorted(part.number_of_cblk.begin(), part.number_of_cblk.end()));

    auto const levels = tree_levels(dealt.structure), own_levels = tree_levels(part);
    std::map<CblkId, Rows> contributed; // by ghost
    for (FanInBlock const& block : dealt.schedule.tasks.fan_in.blocks)
        if (block.from == process)
            for (BlockRows const& run : dealt.schedule.tasks.fan_in.rows_of(block))
                for (Blok const& blok : dealt.structure.bloks_of(dealt.structure.cblk(block.target)))
                    for (Index r = blok.first_row; r < blok.end_row; ++r) {
                        Index const row = blok.panel_row + (r - blok.first_row);
                        if (run.begin <= row && row < run.end)
                            contributed[block.target][r] = block.at + run.at + (row - run.begin);
                    }
    for (CblkId i = 0; i < part.num_cblks(); ++i) {
        CblkId const k = part.number_of(i);
        EXPECT_EQ(part.cblk(i).width(), dealt.structure.cblk(k).width());
        EXPECT_EQ(own_levels[i], levels[k]);
        Rows rows;
        if (owners[k] != process)
            rows = contributed[k];
        else
            for (Blok const& blok : dealt.structure.bloks_of(dealt.structure.cblk(k)))
                for (Index r = blok.first_row; r < blok.end_row; ++r)
                    rows[r] = blok.panel_row + (r - blok.first_row);
        EXPECT_EQ(rows_of(dealt, part, i), rows);
        EXPECT_EQ(part.cblk(i).stride, std::ssize(rows));
        for (BlokId const b : part.bloks_facing(i)) {
            EXPECT_EQ(part.blok(b).facing_cblk, i);
            EXPECT_EQ(owners[part.number_of(part.owner_of_blok[b])], process);
        }
    }
}

TEST(LocalStructure, IsThePartOfTheWholeThatAProcessWorksWith) {
    for (int const processes : {2, 3, 5})
        for (unsigned seed = 1; seed <= 6; ++seed) {
            Dealt const dealt(processes, seed, seed % 2 == 0);
            for (std::int32_t p = 0; p < processes; ++p) expect_part(dealt, p);
        }
}

TEST(LocalStructure, OneProcessHasTheWholeStructure) {
    Dealt const dealt(1, 3, false);
    EXPECT_TRUE(dealt.plans.structures.empty());
    EXPECT_EQ(dealt.plans.of_process[0].owner_of_cblk, dealt.schedule.owner_of_cblk);
    EXPECT_EQ(dealt.structure.vector_rows(), dealt.structure.n);
    EXPECT_EQ(dealt.structure.unknown_of(0), dealt.structure.n - 1);
}

TEST(LocalStructure, EachUnknownBelongsToOneVectorInAscendingPermutedOrder) {
    for (int const processes : {2, 4}) {
        Dealt const dealt(processes, 7, false);
        std::vector<int> owners(dealt.structure.n, 0);
        for (std::int32_t p = 0; p < processes; ++p) {
            BlockStructure const& part = dealt.plans.structures[p];
            EXPECT_EQ(part.vector_rows(), std::ssize(part.unknowns));
            // The permutation reverses the order.
            EXPECT_TRUE(std::is_sorted(part.unknowns.rbegin(), part.unknowns.rend()));
            for (Index const unknown : part.unknowns) ++owners[unknown];
            for (Index col = 0; col < part.n; ++col)
                if (part.inverse[col] >= 0) {
                    EXPECT_EQ(part.unknown_of(col), dealt.structure.inverse[dealt.whole_row(part, col)]);
                }
        }
        EXPECT_EQ(owners, std::vector<int>(dealt.structure.n, 1));
    }
}

// Tasks of one process by what they do in the whole structure.
using TaskKey = std::tuple<TaskKind, CblkId, CblkId, std::int32_t, std::vector<BlokId>>;

std::vector<BlokId> facing_bloks(BlockStructure const& structure, FactorTask const& task) {
    return {structure.facing.begin() + task.first_facing, structure.facing.begin() + task.end_facing};
}

TEST(LocalPlan, HasTheTasksOfItsProcess) {
    for (bool const cut : {false, true}) {
        Dealt const dealt(3, 11, cut);
        for (LocalPlan const& plan : dealt.plans.of_process) {
            BlockStructure const& part = dealt.plans.structures[plan.process];
            std::set<TaskKey> wanted, found;
            for (FactorTask const& task : dealt.schedule.tasks.tasks) {
                if (task.process != plan.process || task.kind == TaskKind::message) continue;
                CblkId const source = task.kind == TaskKind::fan_in
                                          ? no_cblk
                                          : dealt.schedule.partition.branches[task.source].root;
                wanted.emplace(task.kind, source, task.target, task.group,
                               facing_bloks(dealt.structure, task));
            }
            for (FactorTask const& task : plan.factor.tasks) {
                CblkId const source = task.source == no_branch
                                          ? no_cblk
                                          : part.number_of(plan.partition.branches[task.source].root);
                CblkId const target = task.target == no_cblk ? no_cblk : part.number_of(task.target);
                std::vector<BlokId> bloks = facing_bloks(part, task);
                for (BlokId& b : bloks) {
                    CblkId const i = part.owner_of_blok[b];
                    b += dealt.structure.cblk(part.number_of(i)).first_blok - part.cblk(i).first_blok;
                }
                found.emplace(task.kind, source, target, task.group, bloks);
                if (task.target == no_cblk || task.group == whole_panel) continue;
                RowWindow const window = plan.groups.window(part, task.target, task.group);
                EXPECT_LT(window.begin, window.end);
            }
            EXPECT_EQ(found, wanted);
            for (BranchId u = 0; u < std::ssize(plan.partition.branches); ++u) {
                EXPECT_EQ(plan.find_branch(plan.number_of(u)), u);
                Branch const& whole = dealt.schedule.partition.branches[plan.number_of(u)];
                EXPECT_EQ(part.number_of(plan.partition.branches[u].first), whole.first);
                EXPECT_EQ(part.number_of(plan.partition.branches[u].root), whole.root);
            }
        }
    }
}

} // namespace
} // namespace espalier
