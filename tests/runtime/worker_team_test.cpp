#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <time.h>

#include "runtime/worker_team.hpp"
#include "support.hpp"

namespace espalier {
namespace {

using namespace std::chrono_literals;

int const team_sizes[] = {1, 2, 4, 8};

Topology const& machine() {
    static Topology const topology = Topology::detect();
    return topology;
}

void nothing(TaskId, WorkerId) {}

double thread_cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Runs a graph; each task checks, without any synchronization of its own, what its predecessors wrote.
void run_checked(WorkerTeam& team, std::vector<Edge> const& edges, TaskId tasks, Policy& policy) {
    auto const graph = graph_of(tasks, edges);
    std::vector<std::vector<TaskId>> predecessors(static_cast<std::size_t>(tasks));
    for (auto const& [from, to] : edges) predecessors[to].push_back(from);
    std::vector<std::int64_t> depth(static_cast<std::size_t>(tasks), -1), expected(depth);
    std::vector<int> runs(static_cast<std::size_t>(tasks), 0);
    std::vector<int> failures(static_cast<std::size_t>(team.size()), 0);
    for (TaskId t = 0; t < tasks; ++t) {
        expected[t] = 0;
        for (TaskId p : predecessors[t]) expected[t] = std::max(expected[t], expected[p] + 1);
    }
    auto const stats = team.run(graph, policy, [&](TaskId t, WorkerId w) {
        std::int64_t here = 0;
        for (TaskId p : predecessors[t]) {
            failures[w] += depth[p] < 0;
            here = std::max(here, depth[p] + 1);
        }
        depth[t] = here;
        ++runs[t];
    });
    EXPECT_EQ(depth, expected);
    EXPECT_EQ(runs, std::vector<int>(static_cast<std::size_t>(tasks), 1));
    EXPECT_EQ(failures, std::vector<int>(static_cast<std::size_t>(team.size()), 0));
    EXPECT_EQ(stats.tasks(), tasks);
    EXPECT_EQ(stats.workers.size(), static_cast<std::size_t>(team.size()));
    for (WorkerStats const& worker : stats.workers) {
        EXPECT_GE(worker.busy_s, 0);
        EXPECT_LE(worker.busy_s, stats.seconds * 1.001);
    }
}

TEST(WorkerTeam, RunsAFunctionOnceOnEveryWorker) {
    for (int const size : team_sizes) {
        WorkerTeam team(machine(), size);
        ASSERT_EQ(team.size(), size);
        EXPECT_EQ(team.places().size(), static_cast<std::size_t>(size));
        std::vector<std::thread::id> ids(static_cast<std::size_t>(size));
        std::vector<int> calls(static_cast<std::size_t>(size), 0);
        for (int round = 0; round < 50; ++round)
            team.for_each_worker([&](WorkerId w) {
                ++calls[w];
                ids[w] = std::this_thread::get_id();
            });
        EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(size), 50));
        EXPECT_EQ(ids[0], std::this_thread::get_id());
        EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), static_cast<std::size_t>(size));
    }
}

TEST(WorkerTeam, RunsEveryTaskOnceAfterItsPredecessors) {
    for (int const size : team_sizes) {
        WorkerTeam team(machine(), size);
        for (unsigned seed = 0; seed < 6; ++seed) {
            FifoPolicy policy(size);
            run_checked(team, random_edges(1500, static_cast<int>(seed % 3) + 1, seed), 1500, policy);
        }
    }
}

TEST(WorkerTeam, RunsChainsFansAndEmptyGraphs) {
    for (int const size : team_sizes) {
        WorkerTeam team(machine(), size);
        FifoPolicy policy(size);
        run_checked(team, chain_edges(500), 500, policy);
        std::vector<Edge> fan; // 0 -> all -> last
        for (TaskId t = 1; t < 499; ++t) fan.insert(fan.end(), {{0, t}, {t, 499}});
        run_checked(team, fan, 500, policy);
        run_checked(team, {}, 300, policy);
        run_checked(team, {{0, 1}, {0, 1}, {0, 1}}, 2, policy); // parallel edges
        run_checked(team, {}, 1, policy);
        EXPECT_EQ(team.run(TaskGraph{}, policy, nothing).tasks(), 0);
    }
}

TEST(WorkerTeam, WorksOnAMachineThatIsNotHere) {
    auto const far = Topology::synthetic("numa:2 core:4 pu:1");
    WorkerTeam team(far);
    ASSERT_EQ(team.size(), 8);
    EXPECT_FALSE(team.bound());
    EXPECT_EQ(team.places()[3].node, 0);
    EXPECT_EQ(team.places()[4].node, 1);
    FifoPolicy policy(8);
    run_checked(team, random_edges(500, 2, 3), 500, policy);
}

TEST(WorkerTeam, BindsWorkersButGivesTheCallerItsAffinityBack) {
    if (machine().num_cores() < 2) GTEST_SKIP() << "one core";
    WorkerTeam team(machine(), 2);
    if (!team.bound()) GTEST_SKIP() << "the system refuses to bind";
    cpu_set_t before, after;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    std::vector<int> allowed(2, 0), right_core(2, 0);
    team.for_each_worker([&](WorkerId w) {
        cpu_set_t mine;
        if (sched_getaffinity(0, sizeof mine, &mine) != 0) return;
        allowed[w] = CPU_COUNT(&mine);
        right_core[w] = CPU_ISSET(team.places()[w].pu, &mine);
    });
    EXPECT_EQ(allowed, (std::vector<int>{1, 1}));
    EXPECT_EQ(right_core, (std::vector<int>{1, 1}));
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
    EXPECT_FALSE(WorkerTeam(machine(), 2, false).bound());
}

TEST(WorkerTeam, RefusesAbsurdSizes) {
    std::string message;
    EXPECT_EQ(status_of([] { WorkerTeam(machine(), -1); }), Status::usage);
    EXPECT_EQ(status_of([] { WorkerTeam(machine(), 1'000'000); }, &message), Status::usage);
    EXPECT_TRUE(contains(message, "1000000 threads"));
    EXPECT_EQ(WorkerTeam(machine()).size(), machine().default_threads());
}

TEST(WorkerTeam, RethrowsTheFirstExceptionAndGoesOn) {
    auto const graph = graph_of(300, random_edges(300, 2, 17));
    std::mt19937 random(23);
    for (int const size : team_sizes) {
        WorkerTeam team(machine(), size);
        for (int round = 0; round < 30; ++round) {
            auto const fails = static_cast<TaskId>(random() % 300);
            FifoPolicy policy(size);
            std::atomic<int> started{0};
            try {
                team.run(graph, policy, [&](TaskId t, WorkerId) {
                    ++started;
                    if (t == fails) throw std::runtime_error("task " + std::to_string(t));
                });
                FAIL() << "the exception was lost";
            } catch (std::runtime_error const& e) {
                EXPECT_EQ(e.what(), "task " + std::to_string(fails));
            }
            EXPECT_LE(started.load(), 300);
            FifoPolicy fresh(size);
            EXPECT_EQ(team.run(graph, fresh, nothing).tasks(), 300);
        }
        try {
            team.for_each_worker([&](WorkerId w) {
                if (w == size - 1) throw std::out_of_range("worker");
            });
            FAIL() << "the exception was lost";
        } catch (std::out_of_range const&) {
        }
    }
}

TEST(WorkerTeam, StopsIssuingTasksAfterAnException) {
    WorkerTeam team(machine(), 2);
    FifoPolicy policy(2);
    std::atomic<int> started{0};
    auto const body = [&](TaskId, WorkerId) {
        if (started++ == 0) throw std::runtime_error("first");
        std::this_thread::sleep_for(1ms);
    };
    EXPECT_THROW(team.run(graph_of(1000, {}), policy, body), std::runtime_error);
    EXPECT_LT(started.load(), 100);
}

TEST(WorkerTeam, CanBeCancelledByAFlag) {
    for (int const size : team_sizes) {
        WorkerTeam team(machine(), size);
        for (int const after : {0, 1, 40}) {
            std::atomic<bool> cancel{after == 0};
            std::atomic<int> started{0};
            FifoPolicy policy(size);
            RunOptions options;
            options.cancel = &cancel;
            auto const body = [&](TaskId, WorkerId) {
                if (++started == after) cancel = true;
            };
            EXPECT_EQ(status_of([&] { team.run(graph_of(5000, chain_edges(5000)), policy, body, options); }),
                      Status::cancelled);
            EXPECT_GE(started.load(), after);
            EXPECT_LE(started.load(),
                      after == 0 ? 0 : after + size - 1); // one under way on each other worker
        }
        FifoPolicy policy(size);
        run_checked(team, random_edges(300, 2, 1), 300, policy);
    }
}

TEST(WorkerTeam, AsksTheCallerNowAndThenWhetherToGoOn) {
    WorkerTeam team(machine(), 2);
    FifoPolicy policy(2);
    auto const caller = std::this_thread::get_id();
    int questions = 0;
    RunOptions options;
    options.should_cancel = [&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        return ++questions == 3;
    };
    auto const body = [](TaskId, WorkerId) { std::this_thread::sleep_for(1ms); };
    EXPECT_EQ(status_of([&] { team.run(graph_of(2000, {}), policy, body, options); }), Status::cancelled);
    EXPECT_EQ(questions, 3);
}

TEST(WorkerTeam, SleepersNoticeACancellationThatNobodyAnnounces) {
    for (int const size : {1, 3}) {
        WorkerTeam team(machine(), size);
        FifoPolicy policy(size);
        auto graph = graph_of(1, {});
        graph.num_predecessors[0] = 1; // a message that never comes
        std::atomic<bool> cancel{false};
        RunOptions options;
        options.cancel = &cancel;
        options.external_events = 1;
        std::thread signal([&] {
            std::this_thread::sleep_for(30ms);
            cancel = true;
        });
        EXPECT_EQ(status_of([&] { team.run(graph, policy, nothing, options); }), Status::cancelled);
        signal.join();
    }
}

TEST(WorkerTeam, ReportsACycleInsteadOfHanging) {
    for (int const size : team_sizes) {
        WorkerTeam team(machine(), size);
        FifoPolicy policy(size);
        auto const graph = graph_of(5, {{0, 1}, {1, 2}, {2, 3}, {3, 2}, {3, 4}});
        std::string message;
        EXPECT_EQ(status_of([&] { team.run(graph, policy, nothing); }, &message), Status::internal);
        EXPECT_TRUE(contains(message, "2 of 5 tasks done"));
        EXPECT_TRUE(contains(message, "3 wait for predecessors (a cycle?)"));
        run_checked(team, chain_edges(20), 20, policy);
    }
}

/// Loses task `lost`, or hands out task `twice` a second time, or makes up a task.
class BrokenPolicy : public FifoPolicy {
  public:
    using FifoPolicy::FifoPolicy;
    WorkerId push(TaskId task, WorkerId by) override {
        if (task == lost) return any_worker;
        if (task == twice) FifoPolicy::push(task, by);
        if (task == makes_up) FifoPolicy::push(invented, by);
        return FifoPolicy::push(task, by);
    }
    TaskId lost = no_task, twice = no_task, makes_up = no_task, invented = no_task;
};

TEST(WorkerTeam, ReportsWhatABrokenPolicyDoes) {
    auto const graph = graph_of(40, chain_edges(40));
    for (int const size : team_sizes) {
        WorkerTeam team(machine(), size);
        auto const message_of = [&](auto breakage) {
            BrokenPolicy policy(size);
            breakage(policy);
            std::string message;
            EXPECT_EQ(status_of([&] { team.run(graph, policy, nothing); }, &message), Status::internal);
            return message;
        };
        EXPECT_TRUE(
            contains(message_of([](BrokenPolicy& p) { p.lost = 10; }), "10 of 40 tasks done: 1 are ready"));
        EXPECT_TRUE(contains(message_of([](BrokenPolicy& p) { p.twice = 3; }), "task 3 twice"));
        EXPECT_TRUE(
            contains(message_of([](BrokenPolicy& p) { p.makes_up = 3, p.invented = 40; }), "does not exist"));
        EXPECT_TRUE(contains(message_of([](BrokenPolicy& p) { p.makes_up = 3, p.invented = 30; }),
                             "before it was ready"));
    }
}

TEST(WorkerTeam, ReportsGraphsWhoseCountsAreWrong) {
    WorkerTeam team(machine(), 2);
    std::string message;
    auto graph = graph_of(4, chain_edges(4));
    graph.num_predecessors[2] = 0; // pushed at the start, then released by task 1
    FifoPolicy policy(2);
    EXPECT_EQ(status_of([&] { team.run(graph, policy, nothing); }, &message), Status::internal);
    EXPECT_TRUE(contains(message, "task 2 is released by more than its 0 predecessors"));
    graph = graph_of(4, chain_edges(4));
    graph.successors[1] = 4;
    policy.clear();
    EXPECT_EQ(status_of([&] { team.run(graph, policy, nothing); }, &message), Status::internal);
    EXPECT_TRUE(contains(message, "task 4 does not exist"));
    graph.successor_ptr.pop_back();
    policy.clear();
    EXPECT_EQ(status_of([&] { team.run(graph, policy, nothing); }), Status::internal);
}

TEST(WorkerTeam, RefusesNestedCalls) {
    WorkerTeam team(machine(), 2);
    FifoPolicy policy(2), inner(2);
    auto const graph = graph_of(4, {});
    auto const body = [&](TaskId, WorkerId) { team.run(graph, inner, nothing); };
    EXPECT_EQ(status_of([&] { team.run(graph, policy, body); }), Status::usage);
    EXPECT_EQ(
        status_of([&] { team.for_each_worker([&](WorkerId) { team.for_each_worker([](WorkerId) {}); }); }),
        Status::usage);
    EXPECT_EQ(team.run(graph, inner, nothing).tasks(), 4);
}

TEST(WorkerTeam, ServesAThousandRunsInARow) {
    auto const graph = graph_of(12, random_edges(12, 2, 9));
    for (int const size : {1, 2, 4}) {
        WorkerTeam team(machine(), size);
        FifoPolicy policy(size);
        std::int64_t done = 0;
        for (int round = 0; round < 1000; ++round) done += team.run(graph, policy, nothing).tasks();
        EXPECT_EQ(done, 12'000);
    }
}

TEST(WorkerTeam, ManyTeamsComeAndGo) {
    for (int round = 0; round < 40; ++round) {
        WorkerTeam team(machine(), 1 + round % 5);
        if (round % 3 == 0) continue; // never used
        FifoPolicy policy(team.size());
        EXPECT_EQ(team.run(graph_of(10, chain_edges(10)), policy, nothing).tasks(), 10);
    }
}

// One task of 200 ms; the other workers must not look for work all that time.
TEST(WorkerTeam, IdleWorkersSleep) {
    for (int const size : {2, 4}) {
        WorkerTeam team(machine(), size);
        std::vector<double> before(static_cast<std::size_t>(size)), after(before);
        FifoPolicy policy(size);
        team.for_each_worker([&](WorkerId w) { before[w] = thread_cpu_seconds(); });
        team.run(graph_of(2, {{0, 1}}), policy, [](TaskId t, WorkerId) {
            if (t == 0) std::this_thread::sleep_for(200ms); // the one that runs it uses no time either
        });
        team.for_each_worker([&](WorkerId w) { after[w] = thread_cpu_seconds(); });
        for (int w = 0; w < size; ++w)
            EXPECT_LT(after[w] - before[w], 0.05) << "worker " << w << " of " << size;
    }
}

// Between two runs, too.
TEST(WorkerTeam, IdleTeamsSleep) {
    WorkerTeam team(machine(), 3);
    std::vector<double> before(3), after(3);
    team.for_each_worker([&](WorkerId w) { before[w] = thread_cpu_seconds(); });
    std::this_thread::sleep_for(100ms);
    team.for_each_worker([&](WorkerId w) { after[w] = thread_cpu_seconds(); });
    for (int w = 0; w < 3; ++w) EXPECT_LT(after[w] - before[w], 0.03);
}

// A sleeping worker is woken for a task that any may take: two tasks that wait for each other finish.
TEST(WorkerTeam, ReadyTasksWakeSleepers) {
    WorkerTeam team(machine(), 2);
    for (int round = 0; round < 10; ++round) {
        FifoPolicy policy(2);
        std::atomic<int> arrived{0};
        team.run(graph_of(3, {{0, 1}, {0, 2}}), policy, [&](TaskId t, WorkerId) {
            if (t == 0) return std::this_thread::sleep_for(2ms); // the other worker falls asleep
            ++arrived;
            auto const deadline = std::chrono::steady_clock::now() + 10s;
            while (arrived < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
        });
        EXPECT_EQ(arrived.load(), 2);
    }
}

TEST(WorkerTeam, BusyTimeAndStealsAreCounted) {
    WorkerTeam team(machine(), 2);
    FifoPolicy policy(2);
    auto graph = graph_of(20, {});
    graph.home.assign(20, 1);
    auto const stats = team.run(graph, policy, [](TaskId, WorkerId) { std::this_thread::sleep_for(1ms); });
    EXPECT_GE(stats.busy_s(), 0.020);
    EXPECT_EQ(stats.steals(), stats.workers[0].tasks); // all were pushed by worker 1
    auto const again = team.run(graph, policy, nothing);
    EXPECT_EQ(again.steals(), again.workers[0].tasks); // of this run alone
}

TEST(WorkerTeam, EventsFromOutsideReleaseTasks) {
    for (int const size : team_sizes) {
        WorkerTeam team(machine(), size);
        TaskId const tasks = 200;
        auto const edges = random_edges(tasks, 1, 4);
        auto graph = graph_of(tasks, edges);
        for (TaskId t = 0; t < tasks; t += 2) ++graph.num_predecessors[t];
        std::vector<int> message(static_cast<std::size_t>(tasks), 0);
        std::vector<int> seen(static_cast<std::size_t>(tasks), 0);
        std::atomic<bool> started{false};
        std::thread progress([&] {
            while (!started) std::this_thread::yield();
            for (TaskId t = 0; t < tasks; t += 2) {
                message[t] = t + 1;
                if (t % 50 == 0) std::this_thread::sleep_for(1ms);
                EXPECT_TRUE(team.release(t));
            }
        });
        RunOptions options;
        options.external_events = check_graph(graph);
        options.on_start = [&] { started = true; };
        FifoPolicy policy(size);
        auto const stats = team.run(
            graph, policy, [&](TaskId t, WorkerId) { seen[t] = message[t]; }, options);
        progress.join();
        EXPECT_EQ(stats.tasks(), tasks);
        EXPECT_EQ(seen, message);
        EXPECT_FALSE(team.release(0)); // no run goes on
    }
}

TEST(WorkerTeam, AnEventThatDoesNotHelpEndsInAReport) {
    WorkerTeam team(machine(), 2);
    FifoPolicy policy(2);
    auto graph = graph_of(2, {});
    graph.num_predecessors = {2, 1};
    RunOptions options;
    options.external_events = 2; // the graph needs three
    std::thread progress;
    options.on_start = [&] {
        progress = std::thread([&] {
            team.release(1);
            std::this_thread::sleep_for(20ms); // all asleep
            team.release(0);
        });
    };
    std::string message;
    EXPECT_EQ(status_of([&] { team.run(graph, policy, nothing, options); }, &message), Status::internal);
    progress.join();
    EXPECT_TRUE(contains(message, "1 of 2 tasks done"));
}

TEST(WorkerTeam, AFailureOfTheStartHookEndsTheRun) {
    WorkerTeam team(machine(), 2);
    FifoPolicy policy(2);
    std::atomic<int> started{0};
    RunOptions options;
    options.on_start = [] { throw Error(Status::io_error, "start"); };
    auto const body = [&](TaskId, WorkerId) { ++started; };
    EXPECT_EQ(status_of([&] { team.run(graph_of(9, {}), policy, body, options); }), Status::io_error);
    EXPECT_EQ(started.load(), 0);
}

TEST(WorkerTeam, CanBeStoppedFromOutside) {
    for (int const size : {1, 3}) {
        WorkerTeam team(machine(), size);
        EXPECT_FALSE(team.stop(Error(Status::internal, "nobody runs")));
        FifoPolicy policy(size);
        auto graph = graph_of(1, {});
        graph.num_predecessors[0] = 1;
        RunOptions options;
        options.external_events = 1;
        std::thread other;
        options.on_start = [&] {
            other = std::thread([&] {
                std::this_thread::sleep_for(5ms);
                EXPECT_TRUE(team.stop(Error(Status::singular, "on another process")));
            });
        };
        EXPECT_EQ(status_of([&] { team.run(graph, policy, nothing, options); }), Status::singular);
        other.join();
        EXPECT_EQ(team.run(graph_of(3, {}), policy, nothing).tasks(), 3);
    }
}

/// Each worker has its own queue, and a task goes to its home: wakes exactly that worker.
class HomePolicy : public Policy {
  public:
    HomePolicy(std::vector<WorkerId> home, int workers) : home_(std::move(home)) {
        for (int w = 0; w < workers; ++w) queues_.push_back(std::make_unique<FifoPolicy>(workers));
    }
    WorkerId push(TaskId task, WorkerId by) override {
        queues_[home_[task]]->push(task, by);
        return home_[task];
    }
    TaskId pop(WorkerId worker) override { return queues_[worker]->pop(worker); }
    [[nodiscard]] bool serves(WorkerId worker, TaskId task) const override { return home_[task] == worker; }

  private:
    std::vector<WorkerId> home_;
    std::vector<std::unique_ptr<FifoPolicy>> queues_;
};

TEST(WorkerTeam, NoWakeUpIsLostWhenTasksGoToTheirHomes) {
    for (int const size : {2, 4}) {
        WorkerTeam team(machine(), size);
        TaskId const tasks = 1500;
        std::vector<WorkerId> home;
        for (TaskId t = 0; t < tasks; ++t) home.push_back(t % size);
        HomePolicy policy(home, size);
        run_checked(team, chain_edges(tasks), tasks, policy); // every hop wakes another worker
        run_checked(team, random_edges(tasks, 1, 8), tasks, policy);
    }
}

} // namespace
} // namespace espalier
