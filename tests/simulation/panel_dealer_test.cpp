#include "simulation/panel_dealer.hpp"

#include <gtest/gtest.h>

#include <map>

#include "simulation/factor_plan.hpp"
#include "structures.hpp"

namespace espalier {
namespace {

ScheduleSettings settings_of(SchedulePolicy policy, PushInit init = PushInit::cyclicnuma,
                             std::uint64_t seed = 0) {
    ScheduleSettings settings;
    settings.schedule = policy;
    settings.push_init = init;
    settings.seed = seed;
    return settings;
}

MachineModel machine_on(std::vector<int> nodes, int processes = 1) {
    MachineModel machine = machine_of(processes, static_cast<int>(nodes.size()));
    machine.node_of_thread = std::move(nodes);
    return machine;
}

TEST(PanelDealer, CandidatesTakeTurns) {
    for (SchedulePolicy const policy : {SchedulePolicy::dynamic_tree, SchedulePolicy::nas}) {
        PanelDealer dealer(settings_of(policy), machine_on({0, 0, 1, 1}, 2));
        std::vector<WorkerId> owners;
        for (int i = 0; i < 4; ++i) owners.push_back(dealer.next(0, {1, 4}));
        EXPECT_EQ(owners, (std::vector<WorkerId>{1, 2, 3, 1}));
        EXPECT_EQ(dealer.next(1, {1, 4}), 1); // each process by itself
        EXPECT_EQ(dealer.next(0, {2, 3}), 2);
    }
    PanelDealer one_node(settings_of(SchedulePolicy::places), machine_on({0, 0, 0}));
    EXPECT_EQ(one_node.next(0, {1, 3}), 1);
    EXPECT_EQ(one_node.next(0, {1, 3}), 2);
}

TEST(PanelDealer, PlacesDistributesToTheNodesInTurn) {
    PanelDealer dealer(settings_of(SchedulePolicy::places), machine_on({0, 0, 1, 1}));
    std::vector<WorkerId> owners;
    for (int i = 0; i < 6; ++i) owners.push_back(dealer.next(0, {0, 4}));
    EXPECT_EQ(owners, (std::vector<WorkerId>{0, 2, 1, 3, 0, 2}));
    EXPECT_EQ(dealer.next(0, {1, 2}), 1); // the candidate on node 0
    EXPECT_EQ(dealer.next(0, {1, 2}), 3); // node 1 has none
}

TEST(PanelDealer, PlacesDistributesAtRandomBySeed) {
    auto const dealt = [](std::uint64_t seed) {
        PanelDealer dealer(settings_of(SchedulePolicy::places, PushInit::randnuma, seed),
                           machine_on({0, 1, 2}));
        std::vector<WorkerId> owners;
        for (int i = 0; i < 3000; ++i) owners.push_back(dealer.next(0, {0, 3}));
        return owners;
    };
    auto const one = dealt(1);
    EXPECT_EQ(one, dealt(1));
    EXPECT_NE(one, dealt(2));
    std::map<WorkerId, int> count;
    for (WorkerId const owner : one) ++count[owner];
    for (auto const& [owner, times] : count) EXPECT_NEAR(times, 1000, 100) << owner;
}

// With places the panels of a process are spread over its nodes, and the tasks that write them follow.
TEST(PanelDealer, TasksFollowTheirPanels) {
    auto const structure = random_structure(150, 4);
    MachineModel const machine = machine_on({0, 0, 1, 1}, 2);
    for (PushInit const init : {PushInit::cyclicnuma, PushInit::randnuma}) {
        ScheduleOptions options;
        static_cast<ScheduleSettings&>(options) = settings_of(SchedulePolicy::places, init);
        options.push = PushStrategy::numa_w;
        options.select = SelectStrategy::numa;
        options.strict = true;
        auto const schedule = simulate_schedule(structure, CostModel{}, machine, options);
        std::map<int, int> branches; // by process and node
        for (Branch const& branch : schedule.partition.branches) {
            WorkerId const owner = schedule.owner_of_cblk[branch.root];
            ++branches[2 * machine.process_of(owner) + machine.node_of(owner)];
        }
        ASSERT_EQ(branches.size(), 4U);
        for (int p = 0; p < 2; ++p)
            EXPECT_NEAR(branches[2 * p], branches[2 * p + 1], init == PushInit::cyclicnuma ? 1 : 25);
        for (TaskId t = 0; t < schedule.tasks.graph.num_tasks(); ++t)
            if (schedule.tasks.tasks[t].kind != TaskKind::message) {
                EXPECT_EQ(machine.node_of(schedule.run.worker_of_task[t]),
                          machine.node_of(schedule.tasks.graph.home[t]));
            }
    }
}

} // namespace
} // namespace espalier
