// Messages that are sent and received by workers, or by one or two communication threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "policies/static_policy.hpp"
#include "simulation/graphs.hpp"
#include "simulation/message_network.hpp"
#include "structures.hpp"

namespace espalier {
namespace {

constexpr CommThreads none{.count = 0}, one{.count = 1}, two{.count = 2};
constexpr CommThreads one_shared{.count = 1, .have_own_cores = false};
constexpr CommThreads two_shared{.count = 2, .have_own_cores = false};

// A message of 4 bytes takes 4 seconds on a link, 3 seconds of latency, and 1 + 2 seconds of a thread at each
// end.
constexpr Network slow{.latency = 5, .bandwidth = 1, .overhead = 1, .copy_bandwidth = 2};

MachineModel two_processes(int threads) {
    MachineModel machine = machine_of(2, threads);
    machine.network = slow;
    return machine;
}

// Tasks 0 (2) -> message 1 -> 2 (1), and 3 (10) after 0 on its worker. Task 4 keeps the receiver busy.
TimedRun send_one(CommThreads threads, double receiver_is_busy) {
    FactorTasks tasks;
    tasks.tasks.resize(5);
    tasks.tasks[1] = {.kind = TaskKind::message, .process = 0, .peer = 1, .bytes = 4};
    tasks.graph = graph_of({2, 9, 1, 10, receiver_is_busy}, {{1, 3}, {2}, {}, {}, {}});
    StaticPolicy policy({{0, 3}, {4, 2}, {1}}, 5);
    MessageNetwork network(tasks, two_processes(1), threads);
    return simulate(tasks.graph, policy, 2, &network);
}

TEST(CommThreads, ThreadsWithTheirOwnCoresDisturbNobody) {
    for (CommThreads const threads : {one, two}) {
        auto const run = send_one(threads, 8);
        EXPECT_EQ(run.start, (std::vector<double>{0, 2, 11, 2, 0}));
        EXPECT_EQ(run.end, (std::vector<double>{2, 2 + 5 + 4, 12, 12, 8}));
        EXPECT_EQ(run.communication, (std::vector<double>{0, 0}));
    }
}

TEST(CommThreads, AThreadOnTheCoreOfAWorkerDelaysItsTask) {
    // The sender's thread is busy in [2, 5], the receiver's in [6, 9].
    auto const run = send_one(one_shared, 8);
    EXPECT_EQ(run.end, (std::vector<double>{2, 11, 12, 2 + 10 + 3, 8 + 3}));
    EXPECT_EQ(run.communication, (std::vector<double>{3, 3}));
    EXPECT_EQ(run.busy, (std::vector<double>{12, 9}));
    EXPECT_DOUBLE_EQ(run.idle(1), 15 - 9 - 3);
    // A task that ends at 7 loses the time from 6 on; an idle worker loses nothing.
    EXPECT_EQ(send_one(one_shared, 7).end[4], 10);
    EXPECT_NEAR(send_one(one_shared, 6 + 1e-12).end[4], 9, 1e-9); // in few steps
    EXPECT_EQ(send_one(one_shared, 6).end[4], 6);
    EXPECT_EQ(send_one(one_shared, 6).communication, (std::vector<double>{3, 0}));
}

TEST(CommThreads, WithoutThreadsWorkersSendAndReceiveBetweenTasks) {
    // Sent in [2, 5], on the way until 5 + 3 + 4 = 12, received after task 4.
    auto const run = send_one(none, 14);
    EXPECT_EQ(run.start, (std::vector<double>{0, 2, 17, 5, 0}));
    EXPECT_EQ(run.end, (std::vector<double>{2, 17, 18, 15, 14}));
    EXPECT_EQ(run.communication, (std::vector<double>{3, 3}));
    ASSERT_EQ(run.transfers.size(), 2U);
    EXPECT_EQ(run.transfers[0].worker, 0);
    EXPECT_EQ(run.transfers[1].worker, 1);
    EXPECT_EQ(run.transfers[1].start, 14);
    EXPECT_EQ(run.transfers[1].end, Transit::End::receiver);
    // An idle worker receives at once.
    EXPECT_EQ(send_one(none, 8).end[1], 12 + 3);
}

TEST(CommThreads, WorkersOfAProcessHandleOneMessageAtATime) {
    // Tasks 0 and 1 end at 1 on workers 0 and 1 and send messages 2 and 3. Worker 1 continues with task 4.
    FactorTasks tasks;
    tasks.tasks.resize(5);
    for (TaskId const t : {2, 3})
        tasks.tasks[t] = {.kind = TaskKind::message, .process = 0, .peer = 1, .bytes = 4};
    tasks.graph = graph_of({1, 1, 9, 9, 1}, {{2}, {3}, {}, {}, {}});
    StaticPolicy policy({{0}, {1, 4}, {}, {}, {2, 3}}, 5);
    MessageNetwork network(tasks, two_processes(2), none);
    auto const run = simulate(tasks.graph, policy, 4, &network);
    EXPECT_EQ(run.start[4], 1);
    std::vector<double> starts;
    for (TimedTransfer const& transfer : run.transfers)
        if (transfer.end == Transit::End::sender) starts.push_back(transfer.start);
    EXPECT_EQ(starts, (std::vector<double>{1, 4}));
    EXPECT_EQ(run.end[4], 2);
}

TEST(CommThreads, OneThreadReceivesAfterItHasSentAndTwoDoBothAtOnce) {
    FactorTasks tasks;
    tasks.tasks.resize(2);
    tasks.tasks[0] = {.kind = TaskKind::message, .process = 1, .peer = 0, .bytes = 4};
    tasks.tasks[1] = {.kind = TaskKind::message, .process = 0, .peer = 1, .bytes = 4};
    for (bool const both : {false, true}) {
        MessageNetwork network(tasks, two_processes(1), both ? two : one);
        EXPECT_EQ(network.reach(0, 0), 1 + 3);             // the thread of process 1 is busy in [0, 3]
        EXPECT_EQ(network.arrive(1, 0), both ? 4 + 1 : 6); // and, if it is alone, receives in [3, 6]
        ASSERT_EQ(network.transfers().size(), 2U);
        EXPECT_EQ(network.transfers()[1].start, both ? 0 : 3);
    }
}

TEST(CommThreads, TwoThreadsShareTheCoresOfTheLastTwoWorkers) {
    FactorTasks tasks;
    tasks.tasks.push_back({.kind = TaskKind::message, .process = 1, .peer = 0, .bytes = 4});
    for (int const threads : {1, 3}) {
        MessageNetwork network(tasks, two_processes(threads), two_shared);
        network.reach(0, 0);
        network.arrive(0, 10);
        auto const taken = [&](int process, int thread) {
            return network.taken_from(process * threads + thread, 11);
        };
        EXPECT_EQ(taken(1, threads - 1), 3);              // sends
        EXPECT_EQ(taken(0, std::max(0, threads - 2)), 1); // receives in [10, 13]
        if (threads == 1) continue;
        EXPECT_EQ(taken(1, 1), 0);
        EXPECT_EQ(taken(0, 2), 0);
        EXPECT_EQ(taken(0, 0), 0);
    }
}

TEST(CommThreads, ShareCoresUnlessThereAreEnoughOfThem) {
    MachineModel machine = two_processes(2);
    machine.spare_cores = 0;
    ScheduleSettings settings;
    EXPECT_FALSE(comm_threads_of(settings, machine).have_own_cores);
    machine.spare_cores = 1;
    EXPECT_TRUE(comm_threads_of(settings, machine).have_own_cores);
    settings.comm_threads = 2;
    EXPECT_FALSE(comm_threads_of(settings, machine).have_own_cores);
    settings.comm_own_core = Toggle::on;
    EXPECT_TRUE(comm_threads_of(settings, machine).have_own_cores);
    EXPECT_EQ(comm_threads_of(settings, machine).count, 2);
    machine.processes = 1;
    EXPECT_EQ(comm_threads_of(settings, machine).count, 0);
}

TEST(CommThreads, AnOverheadIsAtMostHalfOfTheLatency) {
    Network network{.latency = 1, .bandwidth = 1, .overhead = 3, .copy_bandwidth = 4};
    EXPECT_EQ(network.overhead_seconds(), 0.5);
    EXPECT_EQ(network.wire_latency(), 0);
    EXPECT_EQ(network.handling_seconds(8), 0.5 + 2);
    EXPECT_EQ(network.receiving_seconds(8), 0.5 + 2); // the first touch is not known
    network.first_touch_bandwidth = 2;
    EXPECT_EQ(network.handling_seconds(8), 0.5 + 2);
    EXPECT_EQ(network.receiving_seconds(8), 0.5 + 2 + 4);
}

// A thread does one thing at a time: its tasks, sends and receives do not overlap.
void expect_one_thing_at_a_time(std::vector<std::pair<double, double>> intervals) {
    std::sort(intervals.begin(), intervals.end());
    for (std::size_t i = 1; i < intervals.size(); ++i)
        ASSERT_GE(intervals[i].first, intervals[i - 1].second - 1e-12);
}

TEST(CommThreads, ThreadsDoOneThingAtATimeOnRandomForests) {
    auto const structure = random_structure(150, 4);
    MachineModel machine = machine_of(3, 2);
    machine.network = {.latency = 1e-5, .bandwidth = 1e9, .overhead = 4e-6, .copy_bandwidth = 1e9};
    std::map<int, double> makespans;
    for (SchedulePolicy const schedule : {SchedulePolicy::static_order, SchedulePolicy::dynamic_tree})
        for (int const count : {0, 1, 2})
            for (Toggle const own : {Toggle::off, Toggle::on}) {
                ScheduleOptions options;
                options.schedule = schedule;
                options.comm_threads = count;
                options.comm_own_core = own;
                auto const result = simulate_schedule(structure, CostModel{}, machine, options);
                TimedRun const& run = result.run;
                ASSERT_GT(result.messages(), 10);
                ASSERT_EQ(std::ssize(run.transfers), 2 * result.messages());
                std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> doing;
                double tasks = 0, handled = 0;
                for (TaskId t = 0; t < result.tasks.graph.num_tasks(); ++t) {
                    WorkerId const worker = run.worker_of_task[t];
                    if (worker == any_worker) {
                        EXPECT_GE(run.end[t] - run.start[t], result.tasks.graph.cost[t] - 1e-12);
                        continue;
                    }
                    doing[{worker, 0}].emplace_back(run.start[t], run.end[t]);
                    tasks += run.end[t] - run.start[t];
                }
                for (TimedTransfer const& transfer : run.transfers) {
                    FactorTask const& message = result.tasks.tasks[transfer.message];
                    bool const sends = transfer.end == Transit::End::sender;
                    int const process = sends ? message.process : message.peer;
                    ASSERT_EQ(transfer.worker == any_worker, count > 0);
                    if (count == 0) {
                        ASSERT_EQ(machine.process_of(transfer.worker), process);
                        doing[{transfer.worker, 0}].emplace_back(transfer.start, transfer.finish);
                        handled += transfer.finish - transfer.start;
                    } else {
                        doing[{process, count == 2 && !sends ? 2 : 1}].emplace_back(transfer.start,
                                                                                    transfer.finish);
                    }
                }
                for (auto const& [thread, intervals] : doing) expect_one_thing_at_a_time(intervals);
                double const communication = result.communication_seconds();
                EXPECT_NEAR(tasks + handled, result.total_work() + communication, 1e-12);
                EXPECT_EQ(communication > 0, count == 0 || own == Toggle::off);
                if (own == Toggle::on) makespans[count] = result.makespan();
            }
    EXPECT_GT(makespans[0], makespans[2]);
}

} // namespace
} // namespace espalier
