// Places and nas on synthetic machines, and the settings and the machine that all policies share.

#include <algorithm>
#include <set>

#include "policies/make_policy.hpp"
#include "policies/nas_policy.hpp"
#include "policies/places_policy.hpp"
#include "runtime/support.hpp"

namespace espalier {
namespace {

// Two NUMA nodes of two workers, and three of two.
PolicyMachine const two_nodes({0, 0, 1, 1});
PolicyMachine const three_nodes({0, 0, 1, 1, 2, 2});

/// Task 0 is ready at the start. The other tasks, with these homes, depend on it.
TaskGraph fan(std::vector<WorkerId> homes) {
    std::vector<Edge> edges;
    for (TaskId t = 1; t < static_cast<TaskId>(homes.size()); ++t) edges.emplace_back(0, t);
    TaskGraph graph = graph_of(static_cast<TaskId>(homes.size()), edges);
    graph.home = std::move(homes);
    return graph;
}

ScheduleSettings places(PushStrategy push, SelectStrategy select, bool strict = false) {
    return {.schedule = SchedulePolicy::places, .push = push, .select = select, .strict = strict};
}

using Counts = std::vector<std::int64_t>;

TEST(PolicyMachine, OrdersNodesByDistanceThenCyclically) {
    auto const order = [](PolicyMachine const& machine, int node) {
        std::vector<std::pair<int, int>> all;
        for (auto const& from : machine.from(node)) all.emplace_back(from.node, from.rank);
        return all;
    };
    using Order = std::vector<std::pair<int, int>>;
    EXPECT_EQ(order(three_nodes, 1), (Order{{1, 0}, {2, 1}, {0, 1}}));
    // Nodes 2 and 5 have workers; the table has the original numbers.
    std::vector<double> table(36, 20);
    table[2 * 6 + 5] = 40;
    PolicyMachine const machine({5, 2, 3, 5}, table);
    EXPECT_EQ(machine.num_nodes(), 3);
    EXPECT_EQ(machine.node_of(0), 2);
    EXPECT_EQ(machine.node_of(1), 0);
    EXPECT_EQ(order(machine, 0), (Order{{0, 0}, {1, 1}, {2, 2}}));
    EXPECT_EQ(machine.workers_of(2).size(), 2u);
    EXPECT_EQ(machine.place_of(3), 1);
    EXPECT_TRUE(machine.any_on({0, 2}, 0));
    EXPECT_FALSE(machine.any_on({2, 4}, 0));

    using Table = std::vector<double>;
    EXPECT_EQ(status_of([] { PolicyMachine({}); }), Status::internal);
    EXPECT_EQ(status_of([] { PolicyMachine({0, -1}); }), Status::internal);
    for (Table const& wrong : {Table{10}, Table{10, 20, 20}, Table{10, -20, 20, 10}})
        EXPECT_EQ(status_of([&] { PolicyMachine({0, 1}, wrong); }), Status::internal);
}

/// The workers that get the task, pushed by worker `by`, without stealing it.
std::vector<WorkerId> owners(Policy& policy, TaskId task, WorkerId by) {
    std::vector<WorkerId> found;
    for (WorkerId w = 0; w < 4; ++w) {
        EXPECT_EQ(policy.push(task, by), any_worker);
        EXPECT_EQ(policy.pop(w), task);
        if (!policy.on_start(w)) found.push_back(w);
    }
    return found;
}

using Workers = std::vector<WorkerId>;

TEST(PlacesPolicy, DistributesTheFirstTasksToTheNodesInTurn) {
    auto const graph = graph_of(5, {{1, 2}});
    PlacesPolicy policy(graph, two_nodes, places(PushStrategy::loc, SelectStrategy::numa_proc));
    EXPECT_EQ(owners(policy, 4, 1), (Workers{2, 3}));
    EXPECT_EQ(owners(policy, 0, 3), (Workers{0, 1}));
    EXPECT_EQ(owners(policy, 1, 0), (Workers{2, 3}));
    EXPECT_EQ(owners(policy, 2, 1), (Workers{1})); // not one of the first
    EXPECT_EQ(owners(policy, 3, 0), (Workers{0, 1}));
}

TEST(PlacesPolicy, TheFirstTasksFollowTheDataThatTheyWrite) {
    auto graph = graph_of(5, {});
    graph.home = {3, 0, any_worker, 1, any_worker};
    for (PushInit const init : {PushInit::cyclicnuma, PushInit::randnuma}) {
        ScheduleSettings settings = places(PushStrategy::loc, SelectStrategy::numa_proc);
        settings.push_init = init;
        PlacesPolicy policy(graph, two_nodes, settings);
        EXPECT_EQ(owners(policy, 0, 0), (Workers{2, 3}));
        EXPECT_EQ(owners(policy, 1, 3), (Workers{0, 1}));
        EXPECT_EQ(owners(policy, 3, 3), (Workers{0, 1}));
        if (init != PushInit::cyclicnuma) continue;
        EXPECT_EQ(owners(policy, 2, 0), (Workers{0, 1})); // in turn
        EXPECT_EQ(owners(policy, 4, 0), (Workers{2, 3}));
    }
}

TEST(PlacesPolicy, DistributesTheFirstTasksAtRandomBySeed) {
    auto const graph = graph_of(64, {});
    auto const dealt = [&](std::uint64_t seed) {
        ScheduleSettings settings = places(PushStrategy::loc, SelectStrategy::numa, true);
        settings.push_init = PushInit::randnuma;
        settings.seed = seed;
        PlacesPolicy policy(graph, two_nodes, settings);
        for (TaskId t = 0; t < 64; ++t) policy.push(t, 0);
        auto const first = drain(policy, 1);
        EXPECT_EQ(first.size() + drain(policy, 2).size(), 64u);
        return first;
    };
    EXPECT_EQ(dealt(1), dealt(1));
    EXPECT_NE(dealt(1), dealt(2));
    EXPECT_GT(dealt(1).size(), 16u);
    EXPECT_LT(dealt(1).size(), 48u);
}

TEST(PlacesPolicy, PushesToTheCoreOrTheNodeThatTheStrategySays) {
    // Worker 1 makes tasks ready that write on its node, on the other node, and on no particular node.
    auto const graph = fan({any_worker, 0, 3, any_worker});
    struct Case {
        PushStrategy push;
        Workers near, far, nowhere;
    };
    for (auto const& [push, near, far, nowhere] :
         std::vector<Case>{{PushStrategy::loc, {1}, {1}, {1}},
                           {PushStrategy::loc_num, {0, 1}, {0, 1}, {0, 1}},
                           {PushStrategy::numa_w, {0, 1}, {2, 3}, {0, 1}},
                           {PushStrategy::numa_wloc, {1}, {2, 3}, {1}}}) {
        PlacesPolicy policy(graph, two_nodes, places(push, SelectStrategy::numa_proc));
        EXPECT_EQ(owners(policy, 1, 1), near) << to_string(push);
        EXPECT_EQ(owners(policy, 2, 1), far) << to_string(push);
        EXPECT_EQ(owners(policy, 3, 1), nowhere) << to_string(push);
        EXPECT_EQ(owners(policy, 2, any_worker), owners(policy, 2, 3)); // by its home
    }
}

/// Fills lists of three nodes: tasks 1 to 4 at cores 1 2 3 5, tasks 5 and 6 at nodes 1 2, task 7 at core 0,
/// task 8 at node 0. Returns the tasks that worker 0 finds.
std::vector<TaskId> found_by_worker_0(Policy& policy) {
    for (auto const& [task, by] : std::vector<std::pair<TaskId, WorkerId>>{
             {1, 1}, {2, 2}, {3, 3}, {4, 5}, {5, 0}, {6, 0}, {7, 0}, {8, 5}})
        policy.push(task, by);
    return drain(policy, 0);
}

TaskGraph filling() {
    return fan({any_worker, 1, 2, 3, 5, 2, 4, 0, 0});
}

TEST(PlacesPolicy, AWorkerOwnsWhatItHasPushedToItsOwnList) {
    auto const graph = fan({any_worker, 1, 3});
    for (PushStrategy const push :
         {PushStrategy::loc, PushStrategy::loc_num, PushStrategy::numa_w, PushStrategy::numa_wloc}) {
        PlacesPolicy policy(graph, two_nodes, places(push, SelectStrategy::proc));
        policy.push(1, 0);
        policy.push(2, 0);
        EXPECT_EQ(policy.in_own_queue(0, 1), push == PushStrategy::loc || push == PushStrategy::numa_wloc);
        EXPECT_EQ(policy.in_own_queue(0, 2), push == PushStrategy::loc);
        for (WorkerId const other : {1, 2, 3})
            EXPECT_FALSE(policy.in_own_queue(other, 1) || policy.in_own_queue(other, 2));
    }
}

TEST(NasPolicy, AWorkerOwnsTheContainerThatItSharesWithNobody) {
    auto const graph = fan({any_worker, 0, 2});
    NasPolicy policy(graph, PolicyMachine({0, 0, 1}));
    policy.push(1, 2);
    policy.push(2, 0);
    EXPECT_FALSE(policy.in_own_queue(0, 1));
    EXPECT_TRUE(policy.in_own_queue(2, 2));
    EXPECT_FALSE(policy.in_own_queue(0, 2));
}

// The tasks that worker 0 finds in the lists of found_by_worker_0(), with and without remote nodes. A group
// of `remote` is found in the order given, and those of two groups mixed.
struct Selection {
    SelectStrategy select;
    std::vector<TaskId> here;
    std::vector<std::vector<TaskId>> remote;
};

std::vector<Selection> const selections{{SelectStrategy::rand, {7}, {{1}, {2}, {3}, {4}}},
                                        {SelectStrategy::rand_numa, {7}, {{8}, {5}, {6}}},
                                        {SelectStrategy::proc, {7, 1, 8}, {{3, 2}, {4}}},
                                        {SelectStrategy::numa, {7, 8}, {{5}, {6}}},
                                        {SelectStrategy::proc_numa, {7, 1, 8}, {{3, 2, 5}, {4, 6}}},
                                        {SelectStrategy::numa_proc, {7, 8, 1}, {{5, 3, 2}, {6, 4}}}};

TEST(PlacesPolicy, SelectsVictimsInTheOrderOfTheStrategy) {
    auto const graph = filling();
    for (auto const& [select, here, remote] : selections) {
        SCOPED_TRACE(to_string(select));
        std::set<std::vector<TaskId>> orders;
        std::size_t found = here.size();
        for (auto const& group : remote) found += group.size();
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            ScheduleSettings settings = places(PushStrategy::numa_wloc, select);
            settings.seed = seed;
            PlacesPolicy policy(graph, three_nodes, settings), again(graph, three_nodes, settings);
            auto order = found_by_worker_0(policy);
            EXPECT_EQ(order, found_by_worker_0(again));
            if (select == SelectStrategy::rand) {
                EXPECT_EQ(order.back(), 8); // the own node comes last
                order.pop_back();
            }
            ASSERT_EQ(order.size(), found);
            EXPECT_TRUE(std::equal(here.begin(), here.end(), order.begin()));
            for (auto const& group : remote) {
                auto from = order.begin();
                for (TaskId const task : group) from = std::find(from, order.end(), task);
                EXPECT_NE(from, order.end());
            }
            orders.insert(order);
        }
        EXPECT_GT(orders.size(), 1u);
    }
}

TEST(PlacesPolicy, StrategiesOfOneLevelNeverStealFromTheOther) {
    auto const graph = filling();
    for (auto const& [select, blocked] : std::vector<std::pair<SelectStrategy, std::vector<TaskId>>>{
             {SelectStrategy::rand, {5, 6}},
             {SelectStrategy::proc, {5, 6}},
             {SelectStrategy::rand_numa, {1, 2, 3, 4}},
             {SelectStrategy::numa, {1, 2, 3, 4}}}) {
        PlacesPolicy policy(graph, three_nodes, places(PushStrategy::numa_wloc, select));
        found_by_worker_0(policy);
        for (TaskId const task : blocked) {
            EXPECT_FALSE(policy.may_run(0, task)) << to_string(select);
            EXPECT_TRUE(policy.may_run(graph.home_of(task), task));
        }
        std::size_t left = 0;
        for (WorkerId w = 1; w < 6; ++w) left += drain(policy, w).size();
        EXPECT_EQ(left, blocked.size());
    }
}

TEST(PlacesPolicy, CountsStealsByDistance) {
    auto const graph = filling();
    PolicyMachine const uneven({0, 0, 1, 1, 2, 2}, {10, 30, 20, 30, 10, 30, 20, 30, 10});
    PlacesPolicy policy(graph, uneven, places(PushStrategy::numa_wloc, SelectStrategy::numa_proc));
    EXPECT_EQ(found_by_worker_0(policy).size(), 8u);
    EXPECT_EQ(policy.steals(0), 6);
    EXPECT_EQ(policy.steals_by_distance(), (Counts{0, 1, 2, 3}));
}

TEST(PlacesPolicy, WakesTheOwnerOrTheNearestWorkerThatChecksTheList) {
    auto const graph = filling();
    struct Idle : IdleWorkers {
        std::set<WorkerId> workers;
        WorkerId first_in(WorkerRange range) const override {
            auto const w = workers.lower_bound(range.first);
            return w != workers.end() && *w < range.end ? *w : any_worker;
        }
        WorkerId last_in(WorkerRange) const override { return any_worker; }
    } idle;
    auto const woken = [&](SelectStrategy select, TaskId task, WorkerId by, std::set<WorkerId> workers) {
        PlacesPolicy policy(graph, three_nodes, places(PushStrategy::numa_wloc, select));
        policy.push(task, by);
        idle.workers = std::move(workers);
        return policy.worker_to_wake(task, any_worker, graph.home_of(task), 6, idle);
    };
    for (SelectStrategy const select : {SelectStrategy::proc, SelectStrategy::numa}) {
        bool const cores = select == SelectStrategy::proc;
        EXPECT_EQ(woken(select, 3, 3, {0, 2, 3}), 3); // its core
        EXPECT_EQ(woken(select, 3, 3, {0, 2, 4}), cores ? 2 : any_worker);
        EXPECT_EQ(woken(select, 3, 3, {0, 5}), cores ? 5 : any_worker);
        EXPECT_EQ(woken(select, 5, 0, {0, 3, 4}), 3); // its node
        EXPECT_EQ(woken(select, 5, 0, {0, 4}), cores ? any_worker : 4);
    }
}

TEST(PlacesPolicy, StrictKeepsATaskWithTheOwnersOfItsList) {
    auto const graph = filling();
    for (auto const& [select, here, remote] : selections) {
        SCOPED_TRACE(to_string(select));
        PlacesPolicy policy(graph, three_nodes, places(PushStrategy::numa_wloc, select, true));
        EXPECT_EQ(found_by_worker_0(policy), (std::vector<TaskId>{7, 8})) << "of its core, then of its node";
        // Tasks 1 to 4 are in lists of cores, 5 and 6 in lists of nodes.
        std::vector<std::set<WorkerId>> const owners{{1}, {2}, {3}, {5}, {2, 3}, {4, 5}};
        for (TaskId task = 1; task <= 6; ++task)
            for (WorkerId w = 0; w < 6; ++w) EXPECT_EQ(policy.may_run(w, task), owners[task - 1].contains(w));
        EXPECT_EQ(drain(policy, 1), std::vector<TaskId>{1});
        EXPECT_EQ(drain(policy, 3), (std::vector<TaskId>{3, 5}));
        EXPECT_EQ(drain(policy, 2), std::vector<TaskId>{2});
        EXPECT_EQ(drain(policy, 4), std::vector<TaskId>{6});
        EXPECT_EQ(drain(policy, 5), std::vector<TaskId>{4});
        EXPECT_EQ(policy.steals_by_distance(), Counts{0});
    }
}

TEST(NasPolicy, GivesTasksToTheNodeOfTheirHomeAndOthersInTurn) {
    auto const graph = fan({any_worker, 0, 3, any_worker, any_worker});
    NasPolicy flexible(graph, two_nodes), strict(graph, two_nodes, true);
    for (TaskId task = 1; task < 5; ++task) {
        EXPECT_EQ(flexible.push(task, 0), any_worker);
        EXPECT_EQ(strict.push(task, 0), any_worker);
    }
    EXPECT_EQ(strict.pop(1), 1);
    EXPECT_EQ(strict.pop(0), 3);
    EXPECT_EQ(strict.pop(0), no_task);
    EXPECT_TRUE(strict.may_run(2, 4));
    EXPECT_FALSE(strict.may_run(1, 4));
    EXPECT_EQ(drain(strict, 3), (std::vector<TaskId>{2, 4}));
    EXPECT_EQ(strict.steals_by_distance(), Counts{0});

    EXPECT_TRUE(flexible.may_run(1, 4));
    EXPECT_EQ(drain(flexible, 0), (std::vector<TaskId>{1, 3, 2, 4}));
    EXPECT_EQ(flexible.steals(0), 2);
    EXPECT_EQ(flexible.steals_by_distance(), (Counts{0, 0, 2}));
    EXPECT_EQ(flexible.on_start(0)->victim, 2);
}

TEST(NasPolicy, FlexibleTasksGoToTheNearestNodesFirst) {
    auto const graph = fan({any_worker, 4, 2, 0});
    PolicyMachine const uneven({0, 0, 1, 1, 2, 2}, {10, 30, 20, 30, 10, 30, 20, 30, 10});
    NasPolicy policy(graph, uneven);
    for (TaskId task = 1; task < 4; ++task) policy.push(task, 0);
    EXPECT_EQ(drain(policy, 0), (std::vector<TaskId>{3, 1, 2}));
    EXPECT_EQ(policy.steals_by_distance(), (Counts{0, 0, 1, 1}));
}

TEST(MakePolicy, KnowsAllKindsAndWhatTheyNeed) {
    auto graph = fan({0, 1});
    std::vector<std::vector<TaskId>> const lists{{0}, {1}, {}, {}};
    std::vector<WorkerRange> const candidates{{0, 1}, {0, 4}};
    for (auto const kind : {SchedulePolicy::static_order, SchedulePolicy::dynamic_tree,
                            SchedulePolicy::places, SchedulePolicy::nas}) {
        ScheduleSettings settings;
        settings.schedule = kind;
        auto const policy = make_policy(settings, graph, two_nodes, {&lists, &candidates});
        policy->push(0, 0);
        EXPECT_EQ(policy->pop(0), 0);
        EXPECT_EQ(policy->pop(4), no_task); // no such worker
        EXPECT_EQ(policy->steals(4), 0);
        bool const planned = kind == SchedulePolicy::static_order || kind == SchedulePolicy::dynamic_tree;
        EXPECT_EQ(status_of([&] { make_policy(settings, graph, two_nodes); }),
                  planned ? Status::internal : Status::ok);
    }
    graph.home[1] = 4;
    EXPECT_TRUE(throws_error(Status::internal, "the home of task 1 is worker 4 of 4",
                             [&] { make_policy({SchedulePolicy::nas}, graph, two_nodes); }));
}

} // namespace
} // namespace espalier
