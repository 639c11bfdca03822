// Messages that the workers move themselves, and the detection that all of them wait.

#include "support.hpp"

namespace espalier {
namespace {

using namespace std::chrono_literals;

/// Whether it becomes true within ten seconds.
bool becomes_true(std::function<bool()> const& condition) {
    auto const deadline = std::chrono::steady_clock::now() + 10s;
    while (!condition())
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        else
            std::this_thread::yield();
    return true;
}

RunOptions polling(Offset events, std::function<bool(WorkerId)> poll) {
    RunOptions options;
    options.external_events = events;
    options.poll = std::move(poll);
    return options;
}

using PollingTeam = TeamOfEachSize;
INSTANTIATE_TEST_SUITE_P(Sizes, PollingTeam, ::testing::ValuesIn(team_sizes));
using SmallPollingTeam = TeamOfEachSize;
INSTANTIATE_TEST_SUITE_P(Sizes, SmallPollingTeam, ::testing::Values(1, 3));

// Every event comes from a poll; the workers poll one after another.
TEST_P(PollingTeam, WorkersReleaseTasksByThemselves) {
    TaskId const tasks = 300;
    auto const edges = random_edges(tasks, 1, 4);
    auto graph = graph_of(tasks, edges);
    for (TaskId t = 0; t < tasks; t += 2) ++graph.num_predecessors[t];
    std::vector<int> message(tasks, 0), seen(message);
    std::mutex one;
    TaskId next = 0;
    auto const poll = [&](WorkerId worker) {
        std::unique_lock const lock(one, std::try_to_lock);
        if (!lock || next >= tasks || next / 2 % size != worker) return false;
        message[next] = next + 1;
        EXPECT_TRUE(team.release(next));
        next += 2;
        return true;
    };
    auto const stats =
        team.run(graph, policy, [&](TaskId t, WorkerId) { seen[t] = message[t]; }, polling(tasks / 2, poll));
    EXPECT_EQ(stats.tasks(), tasks);
    EXPECT_EQ(seen, message);
}

TEST_P(SmallPollingTeam, IsDoneBetweenTasksByEveryWorker) {
    std::vector<int> polls(size, 0), tasks(polls);
    team.run(
        graph_of(400, {}), policy, [&](TaskId, WorkerId w) { ++tasks[w]; },
        polling(0, [&](WorkerId w) { return ++polls[w], false; }));
    for (int w = 0; w < size; ++w) EXPECT_GE(polls[w], tasks[w]);
}

// No worker is woken for these events, so only workers that poll see them.
TEST_P(SmallPollingTeam, IdleWorkersNeverSleepForLong) {
    int const rounds = 50;
    std::atomic<int> sent{0};
    int received = 0;
    std::mutex one;
    auto const poll = [&](WorkerId) {
        std::unique_lock const lock(one, std::try_to_lock);
        if (!lock || received == sent) return false;
        return team.release(received++);
    };
    std::atomic<int> done{0};
    std::thread sender([&] {
        for (int i = 0; i < rounds; ++i) {
            EXPECT_TRUE(becomes_true([&] { return team.idle(); }));
            ++sent;
            EXPECT_TRUE(becomes_true([&] { return done == i + 1; }));
        }
    });
    team.run(awaiting(rounds), policy, [&](TaskId, WorkerId) { ++done; }, polling(rounds, poll));
    sender.join();
    EXPECT_EQ(done, rounds);
}

TEST_P(SmallPollingTeam, AWorkerAnnouncesThatItWillSleep) {
    int const rounds = 50;
    std::atomic<int> slept{0};
    std::atomic<int> done{0};
    std::thread sender([&] {
        for (int i = 0; i < rounds; ++i) {
            EXPECT_TRUE(becomes_true([&] { return team.idle(); }));
            EXPECT_TRUE(team.waits());
            EXPECT_GE(slept, i + size); // all of them, and then one for each task
            team.release(i);
            EXPECT_TRUE(becomes_true([&] { return done == i + 1; }));
        }
    });
    RunOptions options;
    options.external_events = rounds;
    options.on_sleep = [&] {
        EXPECT_TRUE(team.waits());
        ++slept;
    };
    auto const body = [&](TaskId, WorkerId) {
        EXPECT_FALSE(size == 1 && team.waits());
        ++done;
    };
    team.run(awaiting(rounds), policy, body, options);
    sender.join();
    EXPECT_EQ(done, rounds);
}

TEST_P(PollingTeam, AnExceptionEndsTheRun) {
    for (int const fails : {1, 40}) { // between tasks; with nothing left to do
        std::atomic<int> polls{0};
        auto const poll = [&](WorkerId) {
            if (++polls == fails) throw std::runtime_error("lost the network");
            return false;
        };
        EXPECT_THROW(team.run(awaiting(1), policy, nothing, polling(1, poll)), std::runtime_error);
    }
    // A message that nobody expects.
    auto const poll = [&](WorkerId) { return team.release(0); };
    EXPECT_EQ(status_of([&] { team.run(awaiting(1), policy, nothing, polling(0, poll)); }), Status::internal);
    EXPECT_EQ(team.run(graph_of(9, {}), policy, nothing).tasks(), 9);
}

TEST_P(PollingTeam, ACycleIsStillReported) {
    std::atomic<bool> sent{false};
    auto graph = graph_of(4, {{0, 1}, {2, 3}, {3, 2}});
    ++graph.num_predecessors[0]; // the last event comes when all wait
    auto const poll = [&](WorkerId) { return team.idle() && !sent.exchange(true) && team.release(0); };
    EXPECT_TRUE(throws_error(Status::internal, "2 of 4 tasks done",
                             [&] { team.run(graph, policy, nothing, polling(1, poll)); }));
}

TEST(Polling, SleepersNoticeACancellation) {
    WorkerTeam team(machine(), 2);
    FifoPolicy policy(2);
    Interrupt interrupt;
    auto options = polling(1, [&](WorkerId) {
        if (team.idle()) interrupt.request();
        return false;
    });
    options.interrupt = &interrupt;
    EXPECT_EQ(status_of([&] { team.run(awaiting(1), policy, nothing, options); }), Status::cancelled);
}

TEST(Polling, IdleIsTrueForGoodWhileOnlyAnEventCanHelp) {
    for (int const size : team_sizes) {
        for (bool const polls : {false, true}) {
            WorkerTeam team(machine(), size);
            EXPECT_FALSE(team.idle()); // no worker runs
            auto graph = graph_of(3, {{0, 1}});
            ++graph.num_predecessors[2];
            std::atomic<bool> busy_is_idle{false};
            RunOptions options;
            if (polls) options.poll = [](WorkerId) { return false; };
            options.external_events = 1;
            std::thread other;
            options.on_start = [&] {
                EXPECT_FALSE(team.idle());
                other = std::thread([&] {
                    EXPECT_TRUE(becomes_true([&] { return team.idle(); }));
                    int interrupted = 0;
                    for (int i = 0; i < 200; ++i) {
                        interrupted += !team.idle();
                        if (i % 20 == 0) std::this_thread::sleep_for(200us);
                    }
                    EXPECT_EQ(interrupted, 0);
                    EXPECT_TRUE(team.release(2));
                });
            };
            FifoPolicy policy(size);
            auto const stats = team.run(
                graph, policy,
                [&](TaskId, WorkerId) {
                    std::this_thread::sleep_for(1ms); // the others fall asleep
                    if (team.idle()) busy_is_idle = true;
                },
                options);
            other.join();
            EXPECT_EQ(stats.tasks(), 3);
            EXPECT_FALSE(busy_is_idle);
            EXPECT_FALSE(team.idle());
        }
    }
}

} // namespace
} // namespace espalier
