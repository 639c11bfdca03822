#include "simulation/sweep_schedule.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>

#include "policies/nas_policy.hpp"
#include "policies/places_policy.hpp"
#include "policies/tree_policy.hpp"
#include "simulation/factor_plan.hpp"
#include "structures.hpp"

namespace espalier {
namespace {

using enum SolveTaskKind;

constexpr std::array all_policies{SchedulePolicy::static_order, SchedulePolicy::dynamic_tree,
                                  SchedulePolicy::places, SchedulePolicy::nas};

ScheduleOptions with(SchedulePolicy policy) {
    ScheduleOptions options;
    options.schedule = policy;
    return options;
}

// A network whose threads need no time.
Network ideal(double latency, double bandwidth) {
    return {.latency = latency, .bandwidth = bandwidth, .overhead = 0, .copy_bandwidth = 1e30};
}

TEST(SweepSchedule, OneWorkerReadsEachPanelTwice) {
    auto const structure = random_structure(60, 3);
    CostModel const model;
    double once = 0;
    for (Cblk const& cblk : structure.cblks) once += model.sweep(cblk);
    for (SchedulePolicy const policy : all_policies) {
        auto const schedule = simulate_schedule(structure, model, machine_of(1, 1), with(policy));
        EXPECT_NEAR(schedule.solve_seconds(), 2 * once, 1e-9 * once);
    }
}

// A chain of cblks, each of which faces all after it, as the pieces of a wide supernode do.
TEST(SweepSchedule, GroupsOfRowsShortenTheChainOfAWideSupernode) {
    Index const width = 100;
    CblkId const count = 40;
    BlockStructure structure;
    structure.n = width * count;
    for (CblkId k = 0; k < count; ++k) {
        Cblk cblk{k * width, (k + 1) * width,     structure.num_bloks(),
                  0,         (count - k) * width, k + 1 < count ? k + 1 : no_cblk,
                  0};
        for (CblkId j = k; j < count; ++j) {
            structure.bloks.push_back({j * width, (j + 1) * width, j, (j - k) * width});
            structure.owner_of_blok.push_back(k);
        }
        cblk.end_blok = structure.num_bloks();
        structure.cblks.push_back(cblk);
    }
    structure.first_kept_cblk = count;
    structure.facing_ptr = {0};
    for (CblkId j = 0; j < count; ++j) {
        for (BlokId b = 0; b < structure.num_bloks(); ++b)
            if (structure.blok(b).facing_cblk == j && structure.owner_of_blok[b] != j)
                structure.facing.push_back(b);
        structure.facing_ptr.push_back(std::ssize(structure.facing));
    }
    for (SchedulePolicy const policy : all_policies) {
        ScheduleOptions options = with(policy);
        auto const divided = simulate_schedule(structure, CostModel{}, machine_of(1, 8), options);
        options.sweep_entries = Offset{1} << 40;
        auto const whole = simulate_schedule(structure, CostModel{}, machine_of(1, 8), options);
        EXPECT_LT(divided.solve_seconds(), 0.4 * whole.solve_seconds()) << to_string(policy);
        // The tasks of a cblk multiply each of its bloks once, and have its work together.
        std::map<CblkId, std::pair<int, double>> bloks_and_share;
        for (SolveTask const& task : divided.sweeps.tasks.tasks) {
            auto& [bloks, share] = bloks_and_share[cblk_of(task, divided.partition)];
            bloks += task.end_blok - task.first_blok;
            share += task.share;
        }
        for (auto const& [k, sums] : bloks_and_share) {
            Branch const& branch = divided.partition.branches[divided.partition.branch_of_cblk[k]];
            if (branch.first == branch.root) {
                EXPECT_EQ(sums.first, 2 * (count - 1 - k));
            }
            EXPECT_NEAR(sums.second, 2, 1e-12);
        }
    }
}

TEST(SweepSchedule, TheTimeOfAPanelIsThatOfItsBytesForWidePanels) {
    CostModel model;
    Cblk cblk;
    cblk.end_col = 200;
    cblk.stride = 4200;
    double const bytes = (200.0 * 201 / 2 + 200.0 * 4000) * 8;
    EXPECT_NEAR(model.sweep(cblk), bytes / model.read_bandwidth, 0.1 * bytes / model.read_bandwidth);
    model.read_bandwidth = std::numeric_limits<double>::infinity(); // the rest
    double const before = model.sweep(cblk);
    model.contention = 1.5;
    EXPECT_DOUBLE_EQ(model.sweep(cblk), 1.5 * before);
}

// Three cblks: 0 and 1 below 2. Process 0 has 0 and 2, process 1 has 1.
TEST(SweepSchedule, WorksTwoProcessesByHand) {
    auto const structure = structure_of({2, 2, no_cblk}, {30, 30, 30}, 0);
    CostModel const model;
    MachineModel machine = machine_of(2, 1);
    machine.network = ideal(1e-3, 1e6);
    for (SchedulePolicy const policy : all_policies) {
        auto const schedule = simulate_schedule(structure, model, machine, with(policy));
        ASSERT_EQ(schedule.process_of_cblk, (std::vector<std::int32_t>{0, 1, 0}));
        double const leaf = model.sweep(structure.cblk(1)), root = model.sweep(structure.cblk(2)),
                     sum = model.add(30, 1), transfer = 1e-3 + 30 * 8 / 1e6;
        // Up: leaf 1, its sum, the message, the root. Down: the root, the message, the copy, leaf 1.
        EXPECT_NEAR(schedule.solve_seconds(), 2 * (leaf + sum + transfer + root), 1e-9);
        std::map<SolveTaskKind, int> count;
        for (SolveTask const& task : schedule.sweeps.tasks.tasks) ++count[task.kind];
        EXPECT_EQ(count,
                  (std::map<SolveTaskKind, int>{
                      {forward, 3}, {backward, 3}, {send_sum, 1}, {receive_solution, 1}, {message, 2}}));
    }
}

TEST(SweepSchedule, TasksRunInTheirProcessAfterTheirPredecessors) {
    auto const structure = random_structure(150, 5);
    MachineModel machine = machine_of(3, 4);
    machine.node_of_thread = {0, 0, 1, 1};
    for (SchedulePolicy const policy : all_policies)
        for (bool const models_memory : {false, true}) {
            ScheduleOptions options = with(policy);
            options.models_memory = models_memory;
            auto const schedule = simulate_schedule(structure, CostModel{}, machine, options);
            auto const& [tasks, candidates, run] = schedule.sweeps;
            int at_home = 0, all = 0;
            for (TaskId t = 0; t < tasks.graph.num_tasks(); ++t) {
                for (TaskId const next : tasks.graph.successors_of(t)) {
                    ASSERT_GT(next, t);
                    ASSERT_GE(run.start[next], run.end[t]);
                }
                SolveTask const& task = tasks.tasks[t];
                if (task.kind == SolveTaskKind::message) {
                    ASSERT_EQ(run.worker_of_task[t], any_worker);
                    ASSERT_NE(task.process, task.peer);
                    continue;
                }
                ASSERT_EQ(machine.process_of(run.worker_of_task[t]), task.process);
                ASSERT_EQ(machine.process_of(tasks.graph.home[t]), task.process);
                ++all;
                at_home += run.worker_of_task[t] == tasks.graph.home[t];
            }
            EXPECT_GT(all, 300);
            EXPECT_LT(at_home, all) << to_string(policy);
            if (policy == SchedulePolicy::static_order) {
                EXPECT_GT(at_home, 0.8 * all);
            }
        }
}

// A solve is bound by bandwidth: one node that has all panels cannot serve the threads of four.
TEST(SweepSchedule, PanelsOnOneNodeSlowTheSweepsDown) {
    std::vector<CblkId> parent(33, 32); // leaves below a root
    parent[32] = no_cblk;
    auto const structure = structure_of(parent, std::vector<Index>(33, 100), 0);
    MachineModel machine = machine_of(1, 8);
    machine.node_of_thread = {0, 0, 1, 1, 2, 2, 3, 3};
    for (SchedulePolicy const policy : all_policies) {
        ScheduleOptions options = with(policy);
        options.models_memory = true;
        double const local = simulate_schedule(structure, CostModel{}, machine, options).solve_seconds();
        options.allocation = Allocation::global;
        EXPECT_GT(simulate_schedule(structure, CostModel{}, machine, options).solve_seconds(), 2 * local)
            << to_string(policy);
    }
}

TEST(SweepSchedule, KeptUnknownsTakeNoTime) {
    auto structure = structure_of({2, 2, no_cblk}, {30, 30, 30}, 0);
    structure.first_kept_cblk = 2;
    CostModel const model;
    auto const schedule = simulate_schedule(structure, model, machine_of(1, 1));
    EXPECT_NEAR(schedule.solve_seconds(), 4 * model.sweep(structure.cblk(0)), 1e-12);
}

// The plans of all processes together have the tasks of the schedule, in the same order.
TEST(SolvePlans, AreThePartsOfTheSchedule) {
    auto const structure = [] {
        auto made = random_structure(120, 8);
        made.inverse.resize(made.n);
        return made;
    }();
    MachineModel const machine = machine_of(4, 2);
    for (SchedulePolicy const policy : all_policies) {
        auto const plans = make_process_plans(structure, CostModel{}, machine, with(policy));
        auto const schedule = simulate_schedule(structure, CostModel{}, machine, with(policy));
        SolveTasks const& all = schedule.sweeps.tasks;
        EXPECT_DOUBLE_EQ(plans.shared.solve_seconds, schedule.solve_seconds());
        std::vector<TaskId> next(4, 0);
        std::vector<std::int64_t> messages(4, 0);
        for (TaskId t = 0; t < all.graph.num_tasks(); ++t) {
            SolveTask const& task = all.tasks[t];
            if (task.kind == SolveTaskKind::message) {
                ++messages[task.peer];
                continue;
            }
            LocalPlan const& plan = plans.of_process[task.process];
            TaskId const local = next[task.process]++;
            SolveTask const& found = plan.solve.tasks[local];
            ASSERT_EQ(found.kind, task.kind);
            ASSERT_EQ(plan.number_of(found.branch), task.branch);
            ASSERT_EQ(plan.solve.graph.num_predecessors[local], all.graph.num_predecessors[t]);
            if (task.kind == forward_rows || task.kind == backward_rows) continue;
            auto const& of_branch =
                is_forward(task.kind) ? plan.solve.forward_of_branch : plan.solve.backward_of_branch;
            ASSERT_EQ(of_branch[found.branch], local);
        }
        for (int p = 0; p < 4; ++p) {
            LocalPlan const& plan = plans.of_process[p];
            EXPECT_EQ(std::ssize(plan.solve.tasks), next[p]);
            EXPECT_EQ(plan.solve.num_events, messages[p]);
            EXPECT_EQ(plan.solve_candidates.size(), plan.solve.tasks.size());
        }
    }
}

template <class Wanted> bool is_a(std::unique_ptr<Policy> const& policy) {
    return dynamic_cast<Wanted const*>(policy.get()) != nullptr;
}

TEST(SolvePlans, FollowThePolicyOfTheFactorizationUnlessItIsStatic) {
    auto structure = random_structure(40, 9);
    structure.inverse.resize(structure.n);
    for (int const processes : {1, 3}) {
        auto const policy_of = [&](SchedulePolicy policy) {
            ProcessPlans plans =
                make_process_plans(structure, CostModel{}, machine_of(processes, 2), with(policy));
            FactorPlan const plan{plans.shared, plans.of_process.back()};
            return plan.make_solve_policy();
        };
        EXPECT_TRUE(is_a<TreePolicy>(policy_of(SchedulePolicy::static_order)));
        EXPECT_TRUE(is_a<TreePolicy>(policy_of(SchedulePolicy::dynamic_tree)));
        EXPECT_TRUE(is_a<PlacesPolicy>(policy_of(SchedulePolicy::places)));
        EXPECT_TRUE(is_a<NasPolicy>(policy_of(SchedulePolicy::nas)));
    }
}

} // namespace
} // namespace espalier
