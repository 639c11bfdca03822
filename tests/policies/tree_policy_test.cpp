#include "policies/tree_policy.hpp"

#include <cstdlib>
#include <tuple>

#include "runtime/support.hpp"

namespace espalier {
namespace {

/// Tasks without edges, one for each range, all of the same priority.
TaskGraph tasks_for(std::vector<WorkerRange> const& ranges) {
    return graph_of(static_cast<TaskId>(ranges.size()), {});
}

void push_all(Policy& policy, TaskGraph const& graph) {
    for (TaskId task = 0; task < graph.num_tasks(); ++task) EXPECT_EQ(policy.push(task, 0), any_worker);
}

TEST(TreePolicy, ServesItsLeafThenItsPathThenTheNearestBranches) {
    // Four workers; tasks in this order of service for worker 0.
    std::vector<WorkerRange> const ranges{{0, 1}, {0, 2}, {0, 4}, {1, 2}, {2, 4}, {2, 3}, {3, 4}};
    auto const graph = tasks_for(ranges);
    TreePolicy policy(graph, ranges, PolicyMachine({0, 0, 1, 1}));
    EXPECT_EQ(policy.num_nodes(), 7);
    push_all(policy, graph);
    EXPECT_EQ(drain(policy, 0), (std::vector<TaskId>{0, 1, 2, 3, 4, 5, 6}));
    push_all(policy, graph);
    EXPECT_EQ(drain(policy, 2), (std::vector<TaskId>{5, 4, 2, 6, 1, 3, 0}));
    // One steal a level away, then three of two levels, for each worker.
    EXPECT_EQ(policy.steals(0), 4);
    EXPECT_EQ(policy.steals(1), 0);
    EXPECT_EQ(policy.steals(2), 4);
    EXPECT_EQ(policy.steals_by_distance(), (std::vector<std::int64_t>{0, 2, 6}));
}

TEST(TreePolicy, ReportsTheVictimAndTheDistanceOfEachSteal) {
    std::vector<WorkerRange> const ranges{{0, 4}, {2, 4}, {3, 4}};
    auto const graph = tasks_for(ranges);
    TreePolicy policy(graph, ranges, PolicyMachine({0, 0, 0, 0}));
    EXPECT_FALSE(policy.on_start(3));
    push_all(policy, graph);
    EXPECT_EQ(policy.pop(1), 0);
    EXPECT_FALSE(policy.on_start(1)); // the root is on the path of every worker
    EXPECT_EQ(policy.pop(1), 1);      // the inner node before the leaf in it
    auto const steal = policy.on_start(1);
    ASSERT_TRUE(steal);
    EXPECT_EQ(steal->victim, 2);
    EXPECT_EQ(steal->distance, 1); // the root is the parent of leaf 1 here
    EXPECT_EQ(policy.pop(1), 2);
    EXPECT_EQ(policy.on_start(1)->victim, 3);
    EXPECT_EQ(policy.pop(1), no_task);
    push_all(policy, graph);
    EXPECT_EQ(policy.pop(1), 0);
    EXPECT_FALSE(policy.on_start(1));
}

TEST(TreePolicy, CountsStealsOfTasksThatRunAndNotOfThoseThatHadToBeLeft) {
    // All tasks belong to worker 0 and exclude each other, so the other workers usually find none that they
    // can run.
    constexpr int workers = 4, tasks = 400;
    std::vector<WorkerRange> const ranges(tasks, {0, 1});
    auto graph = tasks_for(ranges);
    graph.resource.assign(tasks, 0);
    graph.num_resources = 1;
    TreePolicy policy(graph, ranges, PolicyMachine({0, 0, 1, 1}));
    WorkerTeam team(machine(), workers, false);
    auto const stats = team.run(graph, policy, [](TaskId, WorkerId) { std::this_thread::yield(); });
    EXPECT_EQ(stats.tasks(), tasks);
    for (int w = 0; w < workers; ++w) EXPECT_EQ(stats.workers[w].steals, w == 0 ? 0 : stats.workers[w].tasks);
    EXPECT_EQ(policy.steals_by_distance().back(), stats.steals());
}

TEST(TreePolicy, AWorkerOwnsWhatOnlyItIsACandidateFor) {
    std::vector<WorkerRange> const ranges{{0, 1}, {0, 2}, {1, 2}};
    auto const graph = tasks_for(ranges);
    TreePolicy const policy(graph, ranges, PolicyMachine({0, 0}));
    for (WorkerId const w : {0, 1}) {
        EXPECT_EQ(policy.in_own_queue(w, 0), w == 0);
        EXPECT_FALSE(policy.in_own_queue(w, 1));
        EXPECT_EQ(policy.in_own_queue(w, 2), w == 1);
    }
}

// The complete order of service, as described at the head of tree_policy.hpp.
std::vector<TaskId> expected_order(std::vector<WorkerRange> const& ranges, PolicyMachine const& machine,
                                   WorkerId worker) {
    std::vector<WorkerRange> path = ranges;
    std::erase_if(path, [&](WorkerRange range) { return !range.contains(worker); });
    std::sort(path.begin(), path.end(), [](WorkerRange a, WorkerRange b) {
        return std::pair(a.count(), a.first) < std::pair(b.count(), b.first);
    });
    using Key = std::tuple<int, int, int, int, int, WorkerId, TaskId>;
    std::vector<Key> keys;
    for (TaskId t = 0; t < static_cast<TaskId>(ranges.size()); ++t) {
        WorkerRange const range = ranges[t];
        auto const at = std::find_if(path.begin(), path.end(), [&](WorkerRange p) {
            return range.contains(worker) ? p == range : p.contains(range);
        });
        auto const level = static_cast<int>(at - path.begin());
        if (range.contains(worker)) {
            keys.emplace_back(0, level, 0, 0, 0, 0, t);
            continue;
        }
        WorkerId const near = std::clamp(worker, range.first, range.end - 1);
        keys.emplace_back(1, level, machine.rank(machine.node_of(worker), machine.node_of(near)),
                          std::abs(near - worker), -range.count(), range.first, t);
    }
    std::sort(keys.begin(), keys.end());
    std::vector<TaskId> order;
    for (Key const& key : keys) order.push_back(std::get<6>(key));
    return order;
}

TEST(TreePolicy, ServesBranchesFromTheNearestOutwardsInAnyTree) {
    std::mt19937 random(11);
    for (int round = 0; round < 60; ++round) {
        int const workers = 2 + static_cast<int>(random() % 8);
        std::vector<int> node_of_worker;
        for (int w = 0; w < workers; ++w) node_of_worker.push_back(static_cast<int>(random() % 3));
        PolicyMachine const nodes(node_of_worker, {10, 30, 20, 30, 10, 30, 20, 30, 10});
        std::vector<WorkerRange> ranges{{0, workers}};
        for (WorkerId w = 0; w < workers; ++w) ranges.push_back({w, w + 1});
        for (int i = 0; i < 6; ++i) ranges.push_back(random_range(random, workers));
        auto const graph = tasks_for(ranges);
        TreePolicy policy(graph, ranges, nodes);
        for (WorkerId w = 0; w < workers; ++w) {
            push_all(policy, graph);
            EXPECT_EQ(drain(policy, w), expected_order(ranges, nodes, w))
                << "round " << round << " worker " << w;
        }
    }
}

TEST(TreePolicy, TakesTheHighestPriorityOnItsPathBeforeItSteals) {
    std::vector<WorkerRange> const ranges{{0, 2}, {0, 2}, {0, 1}, {0, 2}, {1, 2}};
    auto graph = tasks_for(ranges);
    graph.priority = {1, 5, 0, 5, 9};
    TreePolicy policy(graph, ranges, PolicyMachine({0, 0}));
    push_all(policy, graph);
    EXPECT_EQ(drain(policy, 0), (std::vector<TaskId>{1, 3, 0, 2, 4}));
}

TEST(TreePolicy, OfEquallyNearBranchesThatOfItsNumaNodeComesFirst) {
    // All leaves are children of the root. Workers 0, 2 and 5 are on node 0, the others on node 1.
    std::vector<WorkerRange> const ranges{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}};
    auto const graph = tasks_for(ranges);
    TreePolicy policy(graph, ranges, PolicyMachine({0, 1, 0, 1, 1, 0}));
    push_all(policy, graph);
    EXPECT_EQ(drain(policy, 2), (std::vector<TaskId>{2, 0, 5, 1, 3, 4}));
    // A worker steals from the nearer of two other nodes. Node 2 is as far from 0 as 1 is from 2.
    TreePolicy far(graph, ranges, PolicyMachine({0, 0, 1, 1, 2, 2}, {10, 30, 20, 30, 10, 30, 20, 30, 10}));
    push_all(far, graph);
    EXPECT_EQ(drain(far, 0), (std::vector<TaskId>{0, 1, 4, 5, 2, 3}));
}

TEST(TreePolicy, SiblingsMayShareTheWorkerAtTheirBorder) {
    // [0,2) and [1,3) overlap in worker 1, which serves both before the root.
    std::vector<WorkerRange> const ranges{{0, 2}, {1, 3}, {0, 3}, {2, 3}};
    auto const graph = tasks_for(ranges);
    TreePolicy policy(graph, ranges, PolicyMachine({0, 0, 0}));
    push_all(policy, graph);
    EXPECT_EQ(drain(policy, 1), (std::vector<TaskId>{0, 1, 2, 3}));
    EXPECT_EQ(policy.steals(1), 1);
    EXPECT_EQ(policy.steals_by_distance(), (std::vector<std::int64_t>{0, 0, 1})); // leaf 2 is in [1,3)
    push_all(policy, graph);
    EXPECT_EQ(drain(policy, 0), (std::vector<TaskId>{0, 2, 1, 3}));
}

TEST(TreePolicy, StrictLeavesTasksOnTheNumaNodesOfTheirCandidates) {
    std::vector<WorkerRange> const ranges{{0, 1}, {0, 2}, {1, 3}, {2, 4}, {0, 4}, {3, 4}};
    auto const graph = tasks_for(ranges);
    TreePolicy policy(graph, ranges, PolicyMachine({0, 0, 1, 1}), true);
    push_all(policy, graph);
    std::vector<TaskId> const of_node_0{0, 1, 4, 2}, of_node_1{3, 5};
    for (TaskId t = 0; t < graph.num_tasks(); ++t) {
        bool const local = t != 3 && t != 5;
        EXPECT_EQ(policy.may_run(0, t), local) << t;
        EXPECT_EQ(policy.may_run(1, t), local) << t;
        EXPECT_EQ(policy.may_run(3, t), t == 2 || t >= 3) << t;
    }
    EXPECT_EQ(drain(policy, 0), of_node_0);
    EXPECT_EQ(drain(policy, 2), of_node_1);
    push_all(policy, graph);
    EXPECT_EQ(drain(policy, 3), (std::vector<TaskId>{5, 3, 4, 2}));
    EXPECT_EQ(drain(policy, 1), (std::vector<TaskId>{1, 0}));
    EXPECT_EQ(policy.pop(2), no_task);
}

TEST(TreePolicy, EveryWorkerFindsEveryTaskOfRandomTrees) {
    std::mt19937 random(5);
    for (int round = 0; round < 40; ++round) {
        int const workers = 1 + static_cast<int>(random() % 9);
        std::vector<WorkerRange> ranges;
        std::vector<int> node_of_worker;
        for (int w = 0; w < workers; ++w) node_of_worker.push_back(static_cast<int>(random() % 3));
        for (int t = 0; t < 30; ++t) ranges.push_back(random_range(random, workers));
        auto const graph = tasks_for(ranges);
        bool const strict = round % 2 == 1;
        TreePolicy policy(graph, ranges, PolicyMachine(node_of_worker), strict);
        for (WorkerId w = 0; w < workers; ++w) {
            push_all(policy, graph);
            auto const found = drain(policy, w);
            for (TaskId t = 0; t < graph.num_tasks(); ++t) {
                bool near = !strict;
                for (WorkerId c = ranges[t].first; c < ranges[t].end; ++c)
                    near = near || node_of_worker[c] == node_of_worker[w];
                EXPECT_EQ(std::count(found.begin(), found.end(), t), near ? 1 : 0);
                EXPECT_EQ(policy.may_run(w, t), near);
            }
            for (WorkerId other = 0; other < workers; ++other) drain(policy, other);
        }
    }
}

TEST(TreePolicy, RefusesCandidatesThatAreNoWorkers) {
    auto const graph = graph_of(1, {});
    using Ranges = std::vector<WorkerRange>;
    auto const make = [&](Ranges const& ranges) { TreePolicy(graph, ranges, PolicyMachine({0, 0})); };
    EXPECT_NO_THROW(make({{0, 2}}));
    for (Ranges const& ranges :
         std::vector<Ranges>{{}, {{0, 3}}, {{-1, 1}}, {{1, 1}}, {{1, 0}}, {{0, 1}, {0, 1}}})
        EXPECT_EQ(status_of([&] { make(ranges); }), Status::internal);
}

} // namespace
} // namespace espalier
