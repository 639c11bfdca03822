

#include "policies/static_policy.hpp"
#include "runtime/support.hpp"

namespace espalier {
namespace {

using Lists = std::vector<std::vector<TaskId>>;

/// A topological order of the graph, distributed to workers at random: a valid static schedule.
Lists deal(TaskId tasks, int workers, unsigned seed) {
    std::mt19937 random(seed);
    Lists lists(static_cast<std::size_t>(workers));
    for (TaskId t = 0; t < tasks; ++t) lists[random() % lists.size()].push_back(t);
    return lists;
}

TEST(StaticPolicy, WaitsForTheNextTaskOfTheList) {
    StaticPolicy policy({{2, 0}, {1}}, 3);
    EXPECT_EQ(policy.pop(0), no_task);
    EXPECT_EQ(policy.push(0, 1), 0); // is ready, but not next in its list
    EXPECT_EQ(policy.pop(0), no_task);
    EXPECT_EQ(policy.push(1, 0), 1);
    EXPECT_EQ(policy.push(2, 0), 0);
    EXPECT_EQ(policy.pop(0), 2);
    EXPECT_EQ(policy.pop(0), 0);
    EXPECT_EQ(policy.pop(0), no_task);
    EXPECT_EQ(policy.pop(1), 1);
    EXPECT_EQ(policy.pop(1), no_task);
    EXPECT_EQ(policy.pop(7), no_task); // a worker without a list
    EXPECT_TRUE(policy.may_run(1, 1));
    EXPECT_FALSE(policy.may_run(0, 1));
}

TEST(StaticPolicy, ListsMustCoverEveryTaskOnce) {
    auto const expect = [](std::string const& report, Lists const& lists, TaskId tasks) {
        EXPECT_TRUE(throws_error(Status::internal, report, [&] { StaticPolicy(lists, tasks); }));
    };
    expect("task 1 is in no worker's list", {{0, 2}}, 3);
    expect("task 1 is in the lists of workers 0 and 1", {{0, 1}, {2, 1}}, 3);
    expect("task 1 is in the lists of workers 2 and 2", {{0}, {}, {1, 1}}, 2);
    expect("task 3 in the list of worker 0 does not exist", {{0, 3}}, 3);
    expect("task -1 in the list of worker 0 does not exist", {{-1}}, 1);
    EXPECT_EQ(status_of([] { StaticPolicy({}, 0); }), Status::ok);
}

TEST(StaticPolicy, TeamFollowsTheListsExactly) {
    TaskId const tasks = 2000;
    for (int const workers : {1, 2, 4, 8}) {
        auto const graph = graph_of(tasks, random_edges(tasks, 3, 5));
        auto const lists = deal(tasks, workers, 11);
        WorkerTeam team(Topology::detect(), workers);
        for (int round = 0; round < 3; ++round) {
            StaticPolicy policy(lists, tasks);
            Lists done(lists.size());
            auto const stats = team.run(graph, policy, [&](TaskId t, WorkerId w) { done[w].push_back(t); });
            EXPECT_EQ(done, lists) << workers << " workers";
            EXPECT_EQ(stats.tasks(), tasks);
            EXPECT_EQ(stats.steals(), 0);
        }
    }
}

// The policy has no locks. A task sees the writes of its predecessors because the team counts dependences.
TEST(StaticPolicy, TasksSeeWhatTheirPredecessorsWrote) {
    TaskId const tasks = 2000;
    for (int const workers : team_sizes) {
        WorkerTeam team(machine(), workers);
        for (unsigned seed = 0; seed < 4; ++seed) {
            StaticPolicy policy(deal(tasks, workers, seed), tasks);
            run_checked(team, random_edges(tasks, 2, seed), tasks, policy);
        }
    }
}

TEST(StaticPolicy, ListsThatCannotEndAreReportedAndDoNotHang) {
    WorkerTeam team(Topology::detect(), 2);
    auto const expect = [&](std::string const& report, Lists const& lists, TaskGraph const& graph) {
        StaticPolicy policy(lists, graph.num_tasks());
        EXPECT_TRUE(throws_error(Status::internal, report, [&] { team.run(graph, policy, nothing); }));
    };
    expect("standstill with 1 of 4 tasks done", {{0, 2, 1}, {3}}, graph_of(4, chain_edges(4)));
    expect("standstill with 0 of 4 tasks done", {{3}, {2, 0, 1}}, graph_of(4, chain_edges(4)));
    expect("1 of 2 tasks done: 1 are ready", {{0}, {}, {1}}, graph_of(2, {})); // lists for three workers
}

} // namespace
} // namespace espalier
