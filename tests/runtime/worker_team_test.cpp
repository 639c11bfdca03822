
#include <filesystem>
#include <iterator>
#include <numeric>
#include <set>

#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support.hpp"

namespace espalier {
namespace {

using namespace std::chrono_literals;

double thread_cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

using TeamOf = TeamOfEachSize;
INSTANTIATE_TEST_SUITE_P(Sizes, TeamOf, ::testing::ValuesIn(team_sizes));
using TeamOfSeveral = TeamOfEachSize;
INSTANTIATE_TEST_SUITE_P(Sizes, TeamOfSeveral, ::testing::Values(2, 4));

TEST_P(TeamOf, RunsAFunctionOnceOnEveryWorker) {
    ASSERT_EQ(team.size(), size);
    EXPECT_EQ(team.places().size(), static_cast<std::size_t>(size));
    std::vector<std::thread::id> ids(size);
    std::vector<int> calls(size, 0);
    for (int round = 0; round < 50; ++round)
        team.for_each_worker([&](WorkerId w) {
            ++calls[w];
            ids[w] = std::this_thread::get_id();
        });
    EXPECT_EQ(calls, std::vector<int>(size, 50));
    EXPECT_EQ(ids[0], std::this_thread::get_id());
    EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), static_cast<std::size_t>(size));
}

TEST_P(TeamOf, RunsShortWorkOnTheCallingThread) {
    std::vector<WorkerId> workers;
    auto const caller = std::this_thread::get_id();
    bool is_here = true;
    auto const visit = [&](WorkerId w) {
        workers.push_back(w);
        is_here = is_here && std::this_thread::get_id() == caller;
    };
    team.for_each_worker(false, visit);
    std::vector<WorkerId> all(size);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(workers, all);

    TaskGraph graph = graph_of(7, chain_edges(7));
    graph.home.assign(7, size - 1);
    graph.home[3] = any_worker;
    workers.clear();
    std::vector<TaskId> tasks;
    team.run_alone(graph, [&](TaskId task, WorkerId worker) {
        tasks.push_back(task);
        visit(worker);
        EXPECT_THROW(team.run_alone(graph, nothing), Error); // one call at a time
    });
    EXPECT_EQ(tasks, (std::vector<TaskId>{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(workers,
              (std::vector<WorkerId>{size - 1, size - 1, size - 1, 0, size - 1, size - 1, size - 1}));
    EXPECT_TRUE(is_here);
}

TEST(WorkerTeam, AGraphIsShortIfWakingAThreadTakesAsLong) {
    TaskGraph graph = graph_of(10, chain_edges(10));
    graph.cost.assign(10, 1e-6);
    EXPECT_TRUE(is_short(graph, 2));
    EXPECT_FALSE(is_short(graph, 2, 64));
    EXPECT_TRUE(is_short(graph, 1, 64)); // no thread needs waking
    graph.cost[4] = 1e-3;
    EXPECT_FALSE(is_short(graph, 2));
    EXPECT_TRUE(is_short(graph, 1));
    graph.cost[4] = 1; // an interrupt would have to wait
    EXPECT_FALSE(is_short(graph, 1));
    TaskGraph many = graph_of(100'000, {});
    many.cost.assign(100'000, 0);
    EXPECT_FALSE(is_short(many, 2));
}

TEST_P(TeamOf, RunsEveryTaskOnceAfterItsPredecessors) {
    for (unsigned seed = 0; seed < 6; ++seed) {
        FifoPolicy policy(size);
        run_checked(team, random_edges(1500, static_cast<int>(seed % 3) + 1, seed), 1500, policy);
    }
}

TEST_P(TeamOf, RunsChainsFansAndEmptyGraphs) {
    run_checked(team, chain_edges(500), 500, policy);
    std::vector<Edge> fan; // 0 -> all -> last
    for (TaskId t = 1; t < 499; ++t) fan.insert(fan.end(), {{0, t}, {t, 499}});
    run_checked(team, fan, 500, policy);
    run_checked(team, {}, 300, policy);
    run_checked(team, {{0, 1}, {0, 1}, {0, 1}}, 2, policy); // parallel edges
    run_checked(team, {}, 1, policy);
    EXPECT_EQ(team.run(TaskGraph{}, policy, nothing).tasks(), 0);
}

// One task of each round is divided; the others leave workers idle.
TEST_P(TeamOf, SharesThePiecesOfATaskWithIdleWorkers) {
    constexpr int pieces = 40;
    for (int round = 0; round < 30; ++round) {
        std::vector<std::atomic<int>> ran(pieces);
        std::atomic<int> outside{0};
        WorkerRange const helpers{size / 2, size};
        FifoPolicy policy(size);
        TaskGraph const graph = graph_of(3, {{0, 1}, {1, 2}});
        team.run(graph, policy, [&](TaskId task, WorkerId worker) {
            if (task != 1) return;
            team.share(worker, helpers, pieces, [&](int piece, WorkerId by) {
                outside += by != worker && !helpers.contains(by);
                ++ran[piece];
                std::this_thread::yield();
            });
            for (auto const& one : ran) EXPECT_EQ(one, 1);
        });
        EXPECT_EQ(outside, 0);
    }
}

// Each piece waits for all others, so each needs a worker of its own.
TEST_P(TeamOfSeveral, WakesWorkersForPieces) {
    std::atomic<int> arrived{0};
    team.run(graph_of(1, {}), policy, [&](TaskId, WorkerId worker) {
        while (team.count_idle({0, size}) < size - 1) std::this_thread::yield();
        std::this_thread::sleep_for(5ms); // the others sleep
        team.share(worker, {0, size}, size, [&](int, WorkerId) {
            ++arrived;
            auto const deadline = std::chrono::steady_clock::now() + 20s;
            while (arrived < size && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
            EXPECT_EQ(arrived, size);
        });
    });
}

TEST_P(TeamOfSeveral, NoWorkerIsIdleWhileAllHaveTasks) {
    Interrupt interrupt;
    RunOptions options;
    options.interrupt = &interrupt;
    auto const wait_then_cancel = [&](TaskId, WorkerId) {
        while (team.count_idle({0, size}) < size - 1) std::this_thread::yield();
        interrupt.request();
        std::this_thread::sleep_for(60ms); // the others notice it while they sleep
    };
    EXPECT_THROW(team.run(graph_of(2, {{0, 1}}), policy, wait_then_cancel, options), Error);
    FifoPolicy next(size);
    std::atomic<int> running{0};
    team.run(graph_of(size, {}), next, [&](TaskId, WorkerId) {
        ++running;
        while (running < size) std::this_thread::yield();
        EXPECT_EQ(team.count_idle({0, size}), 0);
        ++running;
        while (running < 2 * size) std::this_thread::yield();
    });
}

TEST_P(TeamOf, AnErrorOfAPieceEndsTheRun) {
    TaskGraph const graph = graph_of(2, {{0, 1}});
    EXPECT_THROW(team.run(graph, policy,
                          [&](TaskId, WorkerId worker) {
                              team.share(worker, {0, size}, 8, [](int piece, WorkerId) {
                                  if (piece == 5) throw Error(Status::singular, "piece 5");
                              });
                          }),
                 Error);
    EXPECT_EQ(team.run(graph, policy, nothing).tasks(), 2); // the team can be used again
}

// A child has the memory of a team but not its threads.
TEST_P(TeamOf, AForkedChildCanDestroyACopy) {
    auto copy = std::make_unique<WorkerTeam>(Topology::detect(), size);
    copy->run(graph_of(2, {{0, 1}}), policy, nothing);
    std::this_thread::sleep_for(5ms); // the workers sleep
    pid_t const child = fork();
    if (child == 0) {
        copy.reset();
        _exit(0);
    }
    int status = -1;
    auto const deadline = std::chrono::steady_clock::now() + 30s;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > deadline) kill(child, SIGKILL);
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(copy->run(graph_of(2, {{0, 1}}), policy, nothing).tasks(), 2);
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

TEST(WorkerTeam, StartsItsThreadsWhenTheyAreNeeded) {
    auto const threads = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
    };
    WorkerTeam(machine(), 2).for_each_worker([](WorkerId) {
    }); // a sanitizer may start a thread of its own with the first
    auto const before = threads();
    WorkerTeam team(Topology::synthetic("core:4"), 4, false);
    team.run_alone(graph_of(2, {{0, 1}}), nothing);
    EXPECT_EQ(threads(), before);
    team.for_each_worker([](WorkerId) {});
    EXPECT_EQ(threads(), before + 3);
}

TEST(WorkerTeam, RefusesAbsurdSizes) {
    EXPECT_TRUE(throws_error(Status::usage, "-1 threads", [] { WorkerTeam(machine(), -1); }));
    EXPECT_TRUE(throws_error(Status::usage, "1000000 threads", [] { WorkerTeam(machine(), 1'000'000); }));
    EXPECT_EQ(WorkerTeam(machine()).size(), machine().default_threads());
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

/// The most processor time that a worker uses during `idle`.
double busiest(WorkerTeam& team, std::function<void()> const& idle) {
    std::vector<double> seconds(team.size());
    team.for_each_worker([&](WorkerId w) { seconds[w] = thread_cpu_seconds(); });
    idle();
    team.for_each_worker([&](WorkerId w) { seconds[w] = thread_cpu_seconds() - seconds[w]; });
    return *std::max_element(seconds.begin(), seconds.end());
}

// There is one task of 200 ms, which uses no processor time. The other workers must not search for work
// meanwhile.
TEST_P(TeamOfSeveral, IdleWorkersSleep) {
    auto const run = [&] {
        team.run(graph_of(2, {{0, 1}}), policy, [](TaskId t, WorkerId) {
            if (t == 0) std::this_thread::sleep_for(200ms);
        });
    };
    EXPECT_LT(busiest(team, run), 0.05) << size << " workers";
}

TEST(WorkerTeam, IdleTeamsSleepBetweenTwoRuns) {
    WorkerTeam team(machine(), 3);
    EXPECT_LT(busiest(team, [] { std::this_thread::sleep_for(100ms); }), 0.03);
}

// A sleeping worker is woken for a task that any worker may take, so two tasks that wait for each other
// finish.
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
    EXPECT_EQ(again.steals(), again.workers[0].tasks); // in this run
}

TEST_P(TeamOf, EventsFromOutsideReleaseTasks) {
    TaskId const tasks = 200;
    auto const edges = random_edges(tasks, 1, 4);
    auto graph = graph_of(tasks, edges);
    for (TaskId t = 0; t < tasks; t += 2) ++graph.num_predecessors[t];
    std::vector<int> message(tasks, 0);
    std::vector<int> seen(tasks, 0);
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
    options.external_events = tasks / 2;
    options.on_start = [&] { started = true; };
    auto const stats = team.run(graph, policy, [&](TaskId t, WorkerId) { seen[t] = message[t]; }, options);
    progress.join();
    EXPECT_EQ(stats.tasks(), tasks);
    EXPECT_EQ(seen, message);
    EXPECT_FALSE(team.release(0)); // no run is active
}

/// Each worker has its own queue. A task goes to its home and wakes exactly that worker.
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
    [[nodiscard]] bool may_run(WorkerId worker, TaskId task) const override { return home_[task] == worker; }

  private:
    std::vector<WorkerId> home_;
    std::vector<std::unique_ptr<FifoPolicy>> queues_;
};

TEST_P(TeamOfSeveral, NoWakeUpIsLostWhenTasksGoToTheirHomes) {
    TaskId const tasks = 1500;
    std::vector<WorkerId> home;
    for (TaskId t = 0; t < tasks; ++t) home.push_back(t % size);
    HomePolicy policy(home, size);
    run_checked(team, chain_edges(tasks), tasks, policy); // every hop wakes another worker
    run_checked(team, random_edges(tasks, 1, 8), tasks, policy);
}

} // namespace
} // namespace espalier
