
#include <numeric>

#include "policies/interleavings.hpp"
#include "runtime/support.hpp"

namespace espalier {
namespace {

TaskGraph independent_tasks(std::vector<std::int32_t> resource, std::int32_t num_resources) {
    TaskGraph graph = graph_of(static_cast<TaskId>(resource.size()), {});
    graph.resource = std::move(resource);
    graph.num_resources = num_resources;
    return graph;
}

TEST(Exclusion, LeavesTasksWithAHeldResourceAndReturnsThemOneByOne) {
    TaskGraph const graph = independent_tasks({0, 0, 1, 0, no_resource}, 2);
    Exclusion exclusion;
    exclusion.begin(graph);
    EXPECT_TRUE(exclusion.acquire(0));
    EXPECT_FALSE(exclusion.acquire(1));
    EXPECT_TRUE(exclusion.acquire(2)); // another resource
    EXPECT_FALSE(exclusion.acquire(3));
    EXPECT_TRUE(exclusion.acquire(4)); // none
    EXPECT_EQ(exclusion.release(4), no_task);
    EXPECT_EQ(exclusion.release(0), 1); // 3 stays until 1 is done
    EXPECT_TRUE(exclusion.acquire(1));
    EXPECT_EQ(exclusion.release(1), 3);
    EXPECT_TRUE(exclusion.acquire(3));
    EXPECT_EQ(exclusion.release(3), no_task);
    EXPECT_EQ(exclusion.release(2), no_task);
}

TEST(Exclusion, ReturnsTasksInTheOrderInWhichTheyWereLeft) {
    TaskGraph const graph = independent_tasks(std::vector<std::int32_t>(9, 0), 1);
    Exclusion exclusion;
    for (int run = 0; run < 2; ++run) {
        exclusion.begin(graph);
        EXPECT_TRUE(exclusion.acquire(0));
        for (TaskId const t : {1, 2, 3, 4}) EXPECT_FALSE(exclusion.acquire(t));
        EXPECT_EQ(exclusion.release(0), 1);
        EXPECT_TRUE(exclusion.acquire(1));
        for (TaskId const t : {5, 6}) EXPECT_FALSE(exclusion.acquire(t)); // behind 2, 3 and 4
        EXPECT_EQ(exclusion.release(1), 2);
        EXPECT_TRUE(exclusion.acquire(7)); // overtakes 2
        EXPECT_FALSE(exclusion.acquire(2));
        TaskId runs = 7;
        for (TaskId const next : {3, 4, 5, 6, 2}) {
            EXPECT_EQ(exclusion.release(runs), next);
            EXPECT_TRUE(exclusion.acquire(runs = next));
        }
        if (run == 0) continue; // the next run begins with an empty state nevertheless
        EXPECT_EQ(exclusion.release(runs), no_task);
    }
}

TEST(Exclusion, RefusesResourcesThatDoNotExist) {
    Exclusion exclusion;
    EXPECT_THROW(exclusion.begin(independent_tasks({0, 1}, 1)), Error);
    EXPECT_THROW(exclusion.begin(independent_tasks({-2}, 1)), Error);
}

TEST(Exclusion, LosesNoTaskInAnyInterleavingAndNeverRunsTwoAtOnce) {
    TaskGraph const graph = independent_tasks(std::vector<std::int32_t>(5, 0), 1);
    for (int const left : {0, 1, 2}) { // in the queue or on the stack as the holder is done
        BasicExclusion<SteppedAtomics> exclusion;
        std::vector<TaskId> pushed, ran;
        int inside = 0, crowded = 0;
        auto const release = [&](TaskId task) {
            --inside;
            ran.push_back(task);
            if (TaskId const next = exclusion.release(task); next != no_task) pushed.push_back(next);
        };
        auto const try_to_run = [&](TaskId task) {
            if (!exclusion.acquire(task)) return;
            crowded += ++inside > 1;
            Interleavings::step();
            release(task);
        };
        auto const start = [&] {
            exclusion.begin(graph);
            pushed.clear(), ran.clear();
            inside = exclusion.acquire(0);
            for (TaskId t = 3; t < 3 + left; ++t) EXPECT_FALSE(exclusion.acquire(t));
        };
        auto const end = [&] {
            while (!pushed.empty()) {
                TaskId const task = pushed.back();
                pushed.pop_back();
                try_to_run(task);
            }
            std::sort(ran.begin(), ran.end());
            std::vector<TaskId> expected(3 + left);
            std::iota(expected.begin(), expected.end(), 0);
            EXPECT_EQ(ran, expected);
        };
        auto const result =
            Interleavings::explore({[&] { release(0); }, [&] { try_to_run(1), try_to_run(2); }}, start, end);
        EXPECT_EQ(crowded, 0);
        EXPECT_GT(result.schedules, 10);
        EXPECT_EQ(result.deadlocks, 0);
    }
}

TEST(Exclusion, NoTwoTasksOfAResourceRunAtOnceAndAllRunOnce) {
    std::mt19937 random(7);
    WorkerTeam team(Topology::synthetic("core:4"), 4, false);
    for (int const resources : {1, 3, 20}) {
        int const tasks = 600;
        std::vector<std::int32_t> resource;
        for (int t = 0; t < tasks; ++t)
            resource.push_back(
                std::uniform_int_distribution<std::int32_t>(no_resource, resources - 1)(random));
        TaskGraph graph = graph_of(tasks, random_edges(tasks, 1, 7));
        graph.resource = resource;
        graph.num_resources = resources;
        std::vector<int> sum(resources, 0); // unprotected: the thread sanitizer watches
        std::vector<std::atomic<int>> inside(resources), runs(tasks);
        std::atomic<int> collisions{0};
        FifoPolicy policy(4);
        team.run(graph, policy, [&](TaskId task, WorkerId) {
            ++runs[task];
            std::int32_t const r = graph.resource[task];
            if (r == no_resource) return;
            if (inside[r].fetch_add(1) != 0) ++collisions;
            sum[r] += task;
            inside[r].fetch_sub(1);
        });
        EXPECT_EQ(collisions, 0);
        for (auto const& count : runs) EXPECT_EQ(count, 1);
        std::vector<int> expected(resources, 0);
        for (int t = 0; t < tasks; ++t)
            if (graph.resource[t] != no_resource) expected[graph.resource[t]] += t;
        EXPECT_EQ(sum, expected);
    }
}

} // namespace
} // namespace espalier
