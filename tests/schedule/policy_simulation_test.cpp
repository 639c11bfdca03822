// The policies of the runtime in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "runtime/make_policy.hpp"
#include "schedule/engine.hpp"

namespace espalier {
namespace {

/// Edges from smaller to larger ids; costs, priorities, homes and candidates at random.
struct RandomWork {
    TaskGraph graph;
    std::vector<WorkerRange> candidates;

    RandomWork(TaskId tasks, int workers, unsigned seed) {
        std::mt19937 random(seed);
        auto const below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
        graph.num_predecessors.assign(static_cast<std::size_t>(tasks), 0);
        for (TaskId t = 0; t < tasks; ++t) {
            for (int i = below(4); i > 0 && t + 1 < tasks; --i) {
                graph.successors.push_back(t + 1 + below(std::min(tasks - t - 1, 30)));
                ++graph.num_predecessors[static_cast<std::size_t>(graph.successors.back())];
            }
            graph.successor_ptr.push_back(static_cast<Offset>(graph.successors.size()));
            graph.cost.push_back(1 + below(9));
            graph.priority.push_back(tasks - t + below(20));
            WorkerId const first = below(workers);
            candidates.push_back({first, first + 1 + below(workers - first)});
            graph.home.push_back(below(5) == 0 ? any_worker : first);
        }
    }
};

std::vector<PolicySettings> dynamic_settings() {
    std::vector<PolicySettings> all;
    for (int i = 0; i < 16; ++i) {
        PolicySettings settings;
        settings.strict = i % 2 == 1;
        settings.seed = 11;
        settings.kind = i < 2   ? SchedulePolicy::dynamic_tree
                        : i < 4 ? SchedulePolicy::nas
                                : SchedulePolicy::places;
        settings.push_init = static_cast<PushInit>(i / 2 % 2);
        settings.push = static_cast<PushStrategy>(i / 2 % 4);
        settings.select = static_cast<SelectStrategy>(i / 2 % 6);
        all.push_back(settings);
    }
    return all;
}

TEST(PolicySimulation, EachDynamicPolicyRunsRandomGraphsToTheEndAndTheSameWayTwice) {
    constexpr int workers = 6;
    PolicyMachine const machine({0, 0, 0, 1, 1, 1});
    for (PolicySettings const& settings : dynamic_settings()) {
        RandomWork const work(300, workers, 1 + static_cast<unsigned>(settings.select));
        auto const run = [&] {
            auto const policy = make_policy(settings, work.graph, machine, {nullptr, &work.candidates});
            PolicyDispatcher dispatcher(*policy, work.graph);
            return simulate(work.graph, dispatcher, workers); // throws for a task that never ran
        };
        auto const first = run(), second = run();
        EXPECT_EQ(first.worker_of_task, second.worker_of_task);
        EXPECT_EQ(first.start, second.start);
        for (TaskId t = 0; t < work.graph.num_tasks(); ++t)
            for (Offset e = work.graph.successor_ptr[static_cast<std::size_t>(t)];
                 e < work.graph.successor_ptr[static_cast<std::size_t>(t) + 1]; ++e)
                EXPECT_GE(
                    first.start[static_cast<std::size_t>(work.graph.successors[static_cast<std::size_t>(e)])],
                    first.end[static_cast<std::size_t>(t)]);
        double const total = [&] {
            double sum = 0;
            for (double const cost : work.graph.cost) sum += cost;
            return sum;
        }();
        double busy = 0;
        for (double const b : first.busy) busy += b;
        EXPECT_DOUBLE_EQ(busy, total);
        EXPECT_GE(first.makespan, total / workers);
    }
}

TEST(PolicySimulation, LoosePoliciesLeaveNoWorkerIdleWhileTasksAreReady) {
    // 40 equal tasks without edges, all of worker 0: six workers need 7 rounds, strict ones 14 of three.
    TaskGraph graph;
    graph.num_predecessors.assign(40, 0);
    graph.successor_ptr.assign(41, 0);
    graph.cost.assign(40, 1);
    graph.priority.assign(40, 0);
    graph.home.assign(40, 0);
    std::vector<WorkerRange> const candidates(40);
    PolicyMachine const machine({0, 0, 0, 1, 1, 1});
    for (PolicySettings const& settings : dynamic_settings()) {
        auto const policy = make_policy(settings, graph, machine, {nullptr, &candidates});
        PolicyDispatcher dispatcher(*policy, graph);
        auto const run = simulate(graph, dispatcher, 6);
        if (!settings.strict) {
            EXPECT_DOUBLE_EQ(run.makespan, 7);
        } else if (settings.kind != SchedulePolicy::places) { // which deals the first tasks to all nodes
            EXPECT_DOUBLE_EQ(run.makespan, 14);
        }
    }
}

TEST(PolicySimulation, RecordsWhoStoleWhatFromWhomAndWhen) {
    // Four tasks of worker 0: worker 1, at distance 1, takes two of them.
    TaskGraph graph;
    graph.num_predecessors.assign(4, 0);
    graph.successor_ptr.assign(5, 0);
    graph.cost.assign(4, 1);
    graph.priority = {4, 3, 2, 1};
    graph.home.assign(4, 0);
    std::vector<WorkerRange> const candidates(4);
    auto const policy = make_policy({}, graph, PolicyMachine({0, 0}), {nullptr, &candidates});
    PolicyDispatcher dispatcher(*policy, graph);
    auto const run = simulate(graph, dispatcher, 2);
    ASSERT_EQ(run.steals.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(run.steals[i].thief, 1);
        EXPECT_EQ(run.steals[i].victim, 0);
        EXPECT_EQ(run.steals[i].distance, 1);
        EXPECT_DOUBLE_EQ(run.steals[i].time, static_cast<double>(i));
        EXPECT_EQ(run.worker_of_task[static_cast<std::size_t>(run.steals[i].task)], 1);
    }
}

TEST(PolicySimulation, AFreeWorkerIsAskedFromTheHomeOn) {
    // All six are idle, any may run it: worker 4, whose data it is, does.
    TaskGraph graph;
    graph.num_predecessors.assign(1, 0);
    graph.successor_ptr.assign(2, 0);
    graph.cost.assign(1, 1);
    graph.priority.assign(1, 0);
    graph.home.assign(1, 4);
    std::vector<WorkerRange> const candidates{{0, 6}};
    auto const policy = make_policy({}, graph, PolicyMachine({0, 0, 0, 1, 1, 1}), {nullptr, &candidates});
    PolicyDispatcher dispatcher(*policy, graph);
    EXPECT_EQ(simulate(graph, dispatcher, 6).worker_of_task[0], 4);
}

} // namespace
} // namespace espalier
