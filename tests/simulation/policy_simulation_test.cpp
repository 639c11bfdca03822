// The policies of the runtime in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "policies/settings.hpp"
#include "simulation/engine.hpp"
#include "simulation/graphs.hpp"
#include "simulation/process_policies.hpp"

namespace espalier {
namespace {

ScheduleSettings const dynamic{.schedule = SchedulePolicy::dynamic_tree};

/// Edges from smaller to larger ids; costs, priorities, homes and candidates at random.
struct RandomWork {
    TaskGraph graph;
    std::vector<WorkerRange> candidates;

    RandomWork(TaskId tasks, int workers, unsigned seed) {
        std::mt19937 random(seed);
        auto const below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
        graph.num_predecessors.assign(tasks, 0);
        for (TaskId t = 0; t < tasks; ++t) {
            for (int i = below(4); i > 0 && t + 1 < tasks; --i) {
                graph.successors.push_back(t + 1 + below(std::min(tasks - t - 1, 30)));
                ++graph.num_predecessors[graph.successors.back()];
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

TEST(PolicySimulation, EachDynamicPolicyRunsRandomGraphsToTheEndAndTheSameWayTwice) {
    constexpr int workers = 6;
    PolicyMachine const machine({0, 0, 0, 1, 1, 1});
    for (ScheduleSettings const& settings : dynamic_settings()) {
        RandomWork const work(300, workers, 1 + static_cast<unsigned>(settings.select));
        auto const run = [&] {
            auto const policy = make_policy(settings, work.graph, machine, {nullptr, &work.candidates});
            return simulate(work.graph, *policy, workers); // throws for a task that never ran
        };
        auto const first = run(), second = run();
        EXPECT_EQ(first.worker_of_task, second.worker_of_task);
        EXPECT_EQ(first.start, second.start);
        for (TaskId t = 0; t < work.graph.num_tasks(); ++t)
            for (TaskId const next : work.graph.successors_of(t)) EXPECT_GE(first.start[next], first.end[t]);
        double const total = sum(work.graph.cost);
        EXPECT_DOUBLE_EQ(sum(first.busy), total);
        EXPECT_GE(first.makespan, total / workers);
    }
}

TEST(PolicySimulation, LoosePoliciesLeaveNoWorkerIdleWhileTasksAreReady) {
    // 40 equal tasks without edges, all of worker 0: six workers need 7 rounds. Three need 14: those on the
    // node of the tasks if stealing is strict, or if the strategy of places never checks the list of another
    // node.
    auto const graph = independent_tasks(40);
    std::vector<WorkerRange> const candidates(40);
    PolicyMachine const machine({0, 0, 0, 1, 1, 1});
    for (ScheduleSettings const& settings : dynamic_settings()) {
        auto const policy = make_policy(settings, graph, machine, {nullptr, &candidates});
        bool const only_cores =
            settings.select == SelectStrategy::rand || settings.select == SelectStrategy::proc;
        bool const stays = settings.strict || (settings.schedule == SchedulePolicy::places && only_cores);
        EXPECT_DOUBLE_EQ(simulate(graph, *policy, 6).makespan, stays ? 14 : 7);
    }
}

TEST(PolicySimulation, RecordsThiefVictimTaskAndTimeOfEachSteal) {
    // Four tasks of worker 0: worker 1, at distance 1, takes two of them.
    auto graph = independent_tasks(4);
    graph.priority = {4, 3, 2, 1};
    std::vector<WorkerRange> const candidates(4);
    auto const policy = make_policy(dynamic, graph, PolicyMachine({0, 0}), {nullptr, &candidates});
    auto const run = simulate(graph, *policy, 2);
    ASSERT_EQ(run.steals.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(run.steals[i].thief, 1);
        EXPECT_EQ(run.steals[i].victim, 0);
        EXPECT_EQ(run.steals[i].distance, 1);
        EXPECT_DOUBLE_EQ(run.steals[i].time, static_cast<double>(i));
        EXPECT_EQ(run.worker_of_task[run.steals[i].task], 1);
    }
}

TEST(PolicySimulation, TheHomeOfATaskRunsItIfAllAreIdle) {
    // All six are idle and may run the task. Worker 4, which owns its data, does.
    auto graph = independent_tasks(1);
    graph.home = {4};
    std::vector<WorkerRange> const candidates{{0, 6}};
    auto const policy =
        make_policy(dynamic, graph, PolicyMachine({0, 0, 0, 1, 1, 1}), {nullptr, &candidates});
    EXPECT_EQ(simulate(graph, *policy, 6).worker_of_task[0], 4);
}

TEST(PolicySimulation, AWorkerRunsTheTasksOfItsOwnQueueAndTheHomeTheOthers) {
    // Task 1 follows task 0, which worker 0 runs. Its home is worker 3, which is idle.
    auto graph = graph_of({1, 1}, {{1}, {}});
    graph.home = {0, 3};
    PolicyMachine const machine({0, 0, 1, 1});
    auto const worker_of_1 = [&](ScheduleSettings const& settings, WorkerRange candidates) {
        std::vector<WorkerRange> const ranges{{0, 1}, candidates};
        auto const policy = make_policy(settings, graph, machine, {nullptr, &ranges});
        auto const run = simulate(graph, *policy, 4);
        EXPECT_EQ(run.worker_of_task[0], 0);
        EXPECT_DOUBLE_EQ(run.makespan, 2);
        return run.worker_of_task[1];
    };
    EXPECT_EQ(worker_of_1(dynamic, {0, 1}), 0);
    EXPECT_EQ(worker_of_1(dynamic, {2, 4}), 3);
    EXPECT_EQ(worker_of_1(dynamic, {3, 4}), 3);
    EXPECT_EQ(worker_of_1({.schedule = SchedulePolicy::nas}, {}), 3);
    ScheduleSettings settings{.schedule = SchedulePolicy::places, .push = PushStrategy::loc};
    EXPECT_EQ(worker_of_1(settings, {}), 0);
    settings.push = PushStrategy::numa_wloc;
    EXPECT_EQ(worker_of_1(settings, {}), 3);
}

TEST(PolicySimulation, OfSeveralTasksInItsOwnQueueAWorkerKeepsTheBestAndOthersGetTheRest) {
    auto graph = graph_of({1, 1, 3, 2}, {{1, 2, 3}, {}, {}, {}});
    std::vector<WorkerRange> const ranges(4, {0, 1});
    auto const policy = make_policy(dynamic, graph, PolicyMachine({0, 0, 0}), {nullptr, &ranges});
    auto const run = simulate(graph, *policy, 3);
    EXPECT_EQ(run.worker_of_task, (std::vector<WorkerId>{0, 2, 0, 1}));
    EXPECT_DOUBLE_EQ(run.makespan, 4);
}

TEST(PolicySimulation, TasksThatExcludeEachOtherRunByPriorityAndCountAsStolenOnce) {
    constexpr int workers = 4;
    constexpr TaskId tasks = 20;
    auto graph = independent_tasks(tasks);
    graph.resource.assign(tasks, 0);
    graph.num_resources = 1;
    for (TaskId t = 0; t < tasks; ++t) graph.priority[t] = tasks - t;
    std::vector<WorkerRange> const ranges(tasks, {0, 1});
    auto const policy = make_policy(dynamic, graph, PolicyMachine({0, 0, 0, 0}), {nullptr, &ranges});
    auto const run = simulate(graph, *policy, workers);
    std::size_t elsewhere = 0;
    for (WorkerId w = 1; w < workers; ++w) {
        std::size_t const ran = run.lists[w].size();
        EXPECT_EQ(policy->steals(w), static_cast<std::int64_t>(ran));
        elsewhere += ran;
    }
    EXPECT_EQ(run.steals.size(), elsewhere);
    EXPECT_EQ(policy->steals(0), 0);
    for (TaskId t = 0; t < tasks; ++t) EXPECT_DOUBLE_EQ(run.start[t], t);
}

/// A fixed set.
struct IdleSet : IdleWorkers {
    explicit IdleSet(std::set<WorkerId> idle) : workers(std::move(idle)) {}
    [[nodiscard]] WorkerId first_in(WorkerRange range) const override {
        auto const at = workers.lower_bound(range.first);
        return at != workers.end() && *at < range.end ? *at : any_worker;
    }
    [[nodiscard]] WorkerId last_in(WorkerRange) const override { return any_worker; }
    std::set<WorkerId> workers;
};

TEST(ProcessPolicies, TheWorkersOfAProcessAreThreadsOfItsPolicy) {
    // Workers 4 to 7 are threads 0 to 3 of process 1: homes, victims and owners are shifted.
    MachineModel machine;
    machine.processes = 2;
    machine.threads = 4;
    machine.node_of_thread = {0, 0, 1, 1};
    FactorTasks tasks;
    tasks.graph = graph_of({1, 1}, {{1}, {}});
    tasks.graph.home = {6, 6};
    tasks.tasks.assign(2, {.process = 1, .peer = 1});
    std::vector<WorkerRange> const candidates{{2, 3}, {3, 4}};
    ProcessPolicies policy(dynamic, tasks, machine, candidates);
    auto const wakes = [&](TaskId task, std::set<WorkerId> idle) {
        return policy.worker_to_wake(task, any_worker, 6, 8, IdleSet(std::move(idle)));
    };
    EXPECT_EQ(policy.push(0, 6), any_worker);
    EXPECT_EQ(wakes(0, {0, 1, 2, 3, 4, 5, 7}), 7); // from its home 6 on
    EXPECT_EQ(wakes(0, {0, 5}), 5);
    EXPECT_EQ(wakes(0, {0, 3}), any_worker);
    EXPECT_TRUE(policy.in_own_queue(6, 0));
    EXPECT_FALSE(policy.in_own_queue(2, 0)); // of the other process
    EXPECT_FALSE(policy.may_run(3, 0));
    EXPECT_EQ(policy.pop(3), no_task);
    EXPECT_EQ(policy.pop(7), 0);
    auto const steal = policy.on_start(7);
    ASSERT_TRUE(steal);
    EXPECT_EQ(steal->victim, 6);
    EXPECT_EQ(policy.steals(7), 1);
    EXPECT_EQ(policy.steals(3), 0);
    policy.push(1, 7);
    EXPECT_TRUE(policy.in_own_queue(7, 1));
}

TEST(Engine, NeedsCostsAndPriorities) {
    auto graph = graph_of({1, 1}, {{1}, {}});
    std::vector<WorkerRange> const ranges(2);
    auto const run = [&] {
        simulate(graph, *make_policy(dynamic, graph, PolicyMachine({0}), {nullptr, &ranges}), 1);
    };
    EXPECT_EQ(status_of(run), Status::ok);
    graph.priority.clear();
    EXPECT_TRUE(throws_error(Status::internal, "2 costs and 0 priorities", run));
    graph.priority.assign(2, 0);
    graph.cost.clear();
    EXPECT_TRUE(throws_error(Status::internal, "0 costs and 2 priorities", run));
}

} // namespace
} // namespace espalier
