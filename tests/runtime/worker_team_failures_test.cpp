

#include "support.hpp"

namespace espalier {
namespace {

using namespace std::chrono_literals;

using FailingTeam = TeamOfEachSize;
INSTANTIATE_TEST_SUITE_P(Sizes, FailingTeam, ::testing::ValuesIn(team_sizes));
using SmallFailingTeam = TeamOfEachSize;
INSTANTIATE_TEST_SUITE_P(Sizes, SmallFailingTeam, ::testing::Values(1, 3));

TEST_P(FailingTeam, RethrowsTheFirstExceptionAndCanBeUsedAgain) {
    auto const graph = graph_of(300, random_edges(300, 2, 17));
    std::mt19937 random(23);
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
    auto const last_fails = [&](WorkerId w) {
        if (w == size - 1) throw std::out_of_range("worker");
    };
    EXPECT_THROW(team.for_each_worker(last_fails), std::out_of_range);
}

TEST(WorkerTeamFailures, StopsIssuingTasksAfterAnException) {
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

TEST_P(FailingTeam, CanBeCancelledByARequest) {
    for (int const after : {0, 1, 40}) {
        Interrupt interrupt;
        if (after == 0) interrupt.request();
        std::atomic<int> started{0};
        FifoPolicy policy(size);
        RunOptions options;
        options.interrupt = &interrupt;
        auto const body = [&](TaskId, WorkerId) {
            if (++started == after) interrupt.request();
        };
        EXPECT_EQ(status_of([&] { team.run(graph_of(5000, chain_edges(5000)), policy, body, options); }),
                  Status::cancelled);
        EXPECT_GE(started.load(), after);
        EXPECT_LE(started.load(),
                  after == 0 ? 0 : after + size - 1); // one under way on each other worker
    }
    run_checked(team, random_edges(300, 2, 1), 300, policy);
}

TEST(WorkerTeamFailures, AsksTheCallerNowAndThenWhetherToGoOn) {
    WorkerTeam team(machine(), 2);
    FifoPolicy policy(2);
    auto const caller = std::this_thread::get_id();
    int questions = 0;
    Interrupt interrupt([&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        return ++questions == 3;
    });
    RunOptions options;
    options.interrupt = &interrupt;
    auto const body = [](TaskId, WorkerId) { std::this_thread::sleep_for(1ms); };
    EXPECT_EQ(status_of([&] { team.run(graph_of(2000, {}), policy, body, options); }), Status::cancelled);
    EXPECT_EQ(questions, 3);
}

// The other worker may end such a run before the calling thread looks for a task.
TEST(WorkerTeamFailures, AsksTheCallerInEachRunHoweverShort) {
    WorkerTeam team(machine(), 2);
    for (int run = 0; run < 20'000; ++run) {
        Interrupt interrupt([] { return true; });
        RunOptions options;
        options.interrupt = &interrupt;
        FifoPolicy policy(2); // a policy keeps the tasks of a cancelled run
        ASSERT_EQ(status_of([&] { team.run(graph_of(1, {}), policy, nothing, options); }), Status::cancelled)
            << run;
    }
}

TEST_P(SmallFailingTeam, SleepersNoticeACancellationThatNobodyAnnounces) {
    Interrupt interrupt;
    RunOptions options;
    options.interrupt = &interrupt;
    options.external_events = 1; // a message that never comes
    std::thread signal([&] {
        std::this_thread::sleep_for(30ms);
        interrupt.request();
    });
    EXPECT_EQ(status_of([&] { team.run(awaiting(1), policy, nothing, options); }), Status::cancelled);
    signal.join();
}

TEST_P(FailingTeam, ReportsACycleInsteadOfHanging) {
    auto const graph = graph_of(5, {{0, 1}, {1, 2}, {2, 3}, {3, 2}, {3, 4}});
    EXPECT_TRUE(throws_error(Status::internal,
                             "2 of 5 tasks done: 0 are ready but the scheduling policy returns none of "
                             "them, 3 wait for predecessors (a cycle?)",
                             [&] { team.run(graph, policy, nothing); }));
    run_checked(team, chain_edges(20), 20, policy);
}

/// Loses task `lost`, or returns task `twice` a second time, or returns `invented` with task 3.
class BrokenPolicy : public FifoPolicy {
  public:
    using FifoPolicy::FifoPolicy;
    WorkerId push(TaskId task, WorkerId by) override {
        if (task == lost) return any_worker;
        if (task == twice) FifoPolicy::push(task, by);
        if (task == 3 && invented != no_task) FifoPolicy::push(invented, by);
        return FifoPolicy::push(task, by);
    }
    TaskId lost = no_task, twice = no_task, invented = no_task;
};

TEST_P(FailingTeam, ReportsWhatABrokenPolicyDoes) {
    auto const graph = graph_of(40, chain_edges(40));
    auto const expect = [&](std::string const& report, TaskId lost, TaskId twice, TaskId invented) {
        BrokenPolicy policy(size);
        policy.lost = lost;
        policy.twice = twice;
        policy.invented = invented;
        EXPECT_TRUE(throws_error(Status::internal, report, [&] { team.run(graph, policy, nothing); }));
    };
    expect("10 of 40 tasks done: 1 are ready", 10, no_task, no_task);
    expect("task 3 twice", no_task, 3, no_task);
    expect("does not exist", no_task, no_task, 40);
    expect("before it was ready", no_task, no_task, 30);
}

TEST(WorkerTeamFailures, ReportsGraphsWhoseCountsAreWrong) {
    WorkerTeam team(machine(), 2);
    auto const expect = [&](std::string const& report, TaskGraph const& graph) {
        FifoPolicy policy(2);
        EXPECT_TRUE(throws_error(Status::internal, report, [&] { team.run(graph, policy, nothing); }));
    };
    auto graph = graph_of(4, chain_edges(4));
    graph.num_predecessors[2] = 0; // pushed at the start, then released by task 1
    expect("task 2 is released by more than its 0 predecessors", graph);
    graph = graph_of(4, chain_edges(4));
    graph.successors[1] = 4;
    expect("task 4 does not exist", graph);
    graph.successor_ptr.pop_back();
    expect("successor_ptr and num_predecessors are inconsistent", graph);
}

TEST(WorkerTeamFailures, RefusesNestedCalls) {
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

TEST(WorkerTeamFailures, AnEventThatDoesNotHelpEndsInAReport) {
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
    EXPECT_TRUE(throws_error(Status::internal, "1 of 2 tasks done",
                             [&] { team.run(graph, policy, nothing, options); }));
    progress.join();
}

TEST(WorkerTeamFailures, AFailureOfTheStartHookEndsTheRun) {
    WorkerTeam team(machine(), 2);
    FifoPolicy policy(2);
    std::atomic<int> started{0};
    RunOptions options;
    options.on_start = [] { throw Error(Status::io_error, "start"); };
    auto const body = [&](TaskId, WorkerId) { ++started; };
    EXPECT_EQ(status_of([&] { team.run(graph_of(9, {}), policy, body, options); }), Status::io_error);
    EXPECT_EQ(started.load(), 0);
}

TEST_P(SmallFailingTeam, CanBeStoppedFromOutside) {
    EXPECT_FALSE(team.stop(Error(Status::internal, "nobody runs")));
    RunOptions options;
    options.external_events = 1;
    std::thread other;
    options.on_start = [&] {
        other = std::thread([&] {
            std::this_thread::sleep_for(5ms);
            EXPECT_TRUE(team.stop(Error(Status::singular, "on another process")));
        });
    };
    EXPECT_EQ(status_of([&] { team.run(awaiting(1), policy, nothing, options); }), Status::singular);
    other.join();
    EXPECT_EQ(team.run(graph_of(3, {}), policy, nothing).tasks(), 3);
}

} // namespace
} // namespace espalier
