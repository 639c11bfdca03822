// Times of tasks that depend on the place of their memory, worked by hand and on random structures.
#include "simulation/memory_clock.hpp"

#include <gtest/gtest.h>

#include "structures.hpp"

namespace espalier {
namespace {

// Two threads, each on a NUMA node of its own, three times as slow on the other's memory.
MachineModel two_nodes(int processes = 1, int threads_of_node = 1) {
    MachineModel machine = machine_of(processes, 2 * threads_of_node);
    for (int t = 0; t < machine.threads; ++t) machine.node_of_thread.push_back(t / threads_of_node);
    machine.memory.factors = {1, 3, 3, 1};
    machine.memory.node_bandwidth = 1e18;
    return machine;
}

ScheduleOptions options_for(SchedulePolicy policy, std::optional<Allocation> allocation) {
    ScheduleOptions options;
    options.schedule = policy;
    options.models_memory = allocation.has_value();
    options.allocation = allocation.value_or(Allocation::local);
    return options;
}

TEST(MemoryClock, WorksAnUpdateByHand) {
    // Cblk 0 (10 columns) faces cblk 1 (30): the update reads 30 x 10 numbers and writes 30 x 30.
    BlockStructure const structure = structure_of({1, no_cblk}, {10, 30}, 1);
    CostModel const model;
    ScheduleOptions options = options_for(SchedulePolicy::dynamic_tree, std::nullopt);
    options.subtrees_per_worker = 100; // two branches
    Schedule schedule = simulate_schedule(structure, model, two_nodes(), options);
    ASSERT_EQ(schedule.tasks.tasks.size(), 3u);
    ASSERT_EQ(schedule.tasks.tasks[1].kind, TaskKind::update);
    schedule.owner_of_cblk = {0, 1};
    schedule.tasks.graph.cost = {1, 8, 1};

    MemoryClock local(structure, model, options.format, schedule, Allocation::local);
    // On node 0 a quarter of the bytes is local, and the rest takes three times as long. On node 1 it is the
    // reverse.
    EXPECT_DOUBLE_EQ(local.begin(1, 0, 0), 8 * (0.25 + 0.75 * 3));
    EXPECT_DOUBLE_EQ(local.touched()[0].share(), 0.25);
    local.end(1, 0);
    EXPECT_DOUBLE_EQ(local.begin(1, 1, 0), 8 * (0.75 + 0.25 * 3));
    EXPECT_DOUBLE_EQ(local.touched()[0].share(), 0.5);

    MemoryClock global(structure, model, options.format, schedule, Allocation::global);
    EXPECT_DOUBLE_EQ(global.begin(1, 0, 0), 8);
    EXPECT_DOUBLE_EQ(global.begin(2, 1, 0), 3);
    MemoryClock interleave(structure, model, options.format, schedule, Allocation::interleave);
    EXPECT_DOUBLE_EQ(interleave.begin(1, 1, 0), 16);
    EXPECT_DOUBLE_EQ(interleave.touched()[0].share(), 0.5);
}

TEST(MemoryClock, DividesTheBandwidthOfANodeAmongThoseWhoUseIt) {
    BlockStructure const structure = structure_of({1, no_cblk}, {10, 30}, 1);
    CostModel model;
    ScheduleOptions options = options_for(SchedulePolicy::dynamic_tree, std::nullopt);
    options.subtrees_per_worker = 100;
    MachineModel machine = two_nodes();
    machine.memory.factors = {1, 1, 1, 1};
    Schedule schedule = simulate_schedule(structure, model, machine, options);
    schedule.tasks.graph.cost = {1, 1, 1};
    // The update's traffic is 8 x (300 read + 2 x 900 written and read) bytes, and the node gives half of it.
    schedule.machine.memory.node_bandwidth = 8400;
    MemoryClock clock(structure, model, options.format, schedule, Allocation::global);
    EXPECT_DOUBLE_EQ(clock.begin(1, 0, 0), 2);
    EXPECT_DOUBLE_EQ(clock.begin(1, 1, 0), 4) << "two at a time";
    clock.end(1, 0);
    clock.end(1, 1);
    EXPECT_DOUBLE_EQ(clock.begin(1, 1, 0), 2) << "those that have ended ask for nothing";
    // A thread requests no more than it can stream.
    model.bandwidth = 4200;
    MemoryClock slow(structure, model, options.format, schedule, Allocation::global);
    EXPECT_DOUBLE_EQ(slow.begin(1, 0, 0), 1);
    EXPECT_DOUBLE_EQ(slow.begin(1, 1, 0), 1);
}

TEST(MemoryClock, DistanceSlowsATaskThatIsBoundByMemoryByTheStreamFactor) {
    MachineModel machine = two_nodes();
    machine.memory.factors = {1, 1.2, 1.2, 1};
    machine.memory.stream_factors = {1, 4, 4, 1};
    NodeMemory memory(machine, 100); // bytes per second of a thread
    auto const slowdown = [&](double seconds, std::vector<NodeMemory::Access> const& accesses) {
        double const time = memory.begin(0, seconds, accesses);
        memory.end(0);
        return time / seconds;
    };
    EXPECT_DOUBLE_EQ(slowdown(1, {{100, 1, false}}), 4) << "it only streams";
    EXPECT_DOUBLE_EQ(slowdown(2, {{100, 1, false}}), 2) << "it could stream for half of its time";
    EXPECT_DOUBLE_EQ(slowdown(100, {{100, 1, false}}), 1.2) << "it computes";
    EXPECT_DOUBLE_EQ(slowdown(1, {{100, 0, false}}), 1);
    EXPECT_DOUBLE_EQ(slowdown(1, {{100, NodeMemory::all_nodes, false}}), 2.5);
    // Written bytes are read, too: two thirds of the traffic are remote.
    EXPECT_DOUBLE_EQ(slowdown(3, {{100, 0, false}, {100, 1, true}}), 3);
    EXPECT_DOUBLE_EQ(slowdown(3, {{100, 1, false}, {100, 0, true}}), 2);
}

TEST(MemoryClock, ThreadsInExcessOfTheCoresTakeTurns) {
    MachineModel machine = machine_of(2, 4);
    machine.cores = 2;
    NodeMemory memory(machine, 100);
    NodeMemory::Access const computing[] = {{1, 0, false}}, streaming[] = {{100, 0, false}};
    EXPECT_DOUBLE_EQ(memory.begin(0, 1, computing), 1);
    EXPECT_DOUBLE_EQ(memory.begin(2, 1, computing), 1) << "on the other core";
    EXPECT_DOUBLE_EQ(memory.begin(4, 1, computing), 1) << "on a core of the other process";
    EXPECT_DOUBLE_EQ(memory.begin(1, 1, computing), 2);
    memory.end(0);
    EXPECT_DOUBLE_EQ(memory.begin(0, 1, computing), 2);
    for (WorkerId const w : {0, 1, 2, 4}) memory.end(w);
    EXPECT_DOUBLE_EQ(memory.begin(3, 1, computing), 1) << "nothing runs any more";
    memory.end(3);
    memory.end(3); // idle workers change nothing
    EXPECT_DOUBLE_EQ(memory.begin(2, 1, computing), 1);
    memory.end(2);
    // The node serves as many threads as it has cores, and threads that take turns ask for less.
    EXPECT_DOUBLE_EQ(memory.begin(0, 1, streaming), 1);
    EXPECT_DOUBLE_EQ(memory.begin(2, 1, streaming), 1);
    EXPECT_DOUBLE_EQ(memory.begin(3, 1, streaming), 2 * 1.25) << "it adds half of the demand of a thread";
}

TEST(MemoryClock, RemoteWritesUseTheBandwidthOfTheNodeThatTheyGoTo) {
    MachineModel machine = two_nodes(1, 2);
    machine.memory.factors = {1, 1, 1, 1};
    machine.memory.node_bandwidth = 100;
    NodeMemory memory(machine, 100);
    NodeMemory::Access const remote[] = {{50, 0, true}}, local[] = {{100, 0, false}},
                             other[] = {{100, 1, false}};
    EXPECT_DOUBLE_EQ(memory.begin(2, 1, remote), 1) << "from node 1";
    EXPECT_DOUBLE_EQ(memory.begin(0, 1, local), 2) << "node 0 serves two";
    EXPECT_DOUBLE_EQ(memory.begin(3, 1, other), 1) << "node 1 serves one";
    memory.end(2);
    EXPECT_DOUBLE_EQ(memory.begin(2, 1, other), 2);
}

TEST(MemoryClock, OneNodeIsAsFastAsNone) {
    BlockStructure const structure = random_structure(200, 3);
    MachineModel const machine = machine_of(2, 4);
    for (auto const policy : {SchedulePolicy::static_order, SchedulePolicy::dynamic_tree}) {
        auto const plain = simulate_schedule(structure, {}, machine, options_for(policy, std::nullopt));
        for (auto const where : {Allocation::local, Allocation::global, Allocation::interleave}) {
            auto const run = simulate_schedule(structure, {}, machine, options_for(policy, where));
            EXPECT_EQ(run.run.start, plain.run.start);
            EXPECT_EQ(run.local_share(), 1);
            EXPECT_NEAR(run.memory_seconds(), 0, 1e-12 * plain.total_work());
        }
    }
}

TEST(MemoryClock, RunsThePlanOfAStaticScheduleAndOnlyTimesDiffer) {
    BlockStructure const structure = random_structure(300, 4);
    auto const machine = two_nodes(2, 2);
    auto const plain =
        simulate_schedule(structure, {}, machine, options_for(SchedulePolicy::static_order, std::nullopt));
    auto const global = simulate_schedule(structure, {}, machine,
                                          options_for(SchedulePolicy::static_order, Allocation::global));
    EXPECT_EQ(global.run.lists, plain.run.lists);
    EXPECT_EQ(global.owner_of_cblk, plain.owner_of_cblk);
    EXPECT_GT(global.makespan(), plain.makespan());
    EXPECT_GT(global.memory_seconds(), 0);
    auto const local = simulate_schedule(structure, {}, machine,
                                         options_for(SchedulePolicy::static_order, Allocation::local));
    EXPECT_GT(local.local_share(), global.local_share());
    EXPECT_LT(local.memory_seconds(), global.memory_seconds());
}

TEST(MemoryClock, SharesAndStealsAddUpOverTheProcesses) {
    BlockStructure const structure = random_structure(400, 5);
    ScheduleOptions options = two_d(16, 16);
    options.schedule = SchedulePolicy::dynamic_tree;
    options.models_memory = true;
    auto const schedule = simulate_schedule(structure, {}, two_nodes(3, 3), options);
    double bytes = 0;
    std::int64_t steals = 0;
    for (ProcessUse const& process : schedule.processes) {
        EXPECT_LE(process.local_bytes, process.bytes);
        bytes += process.bytes;
        steals += process.steals;
    }
    EXPECT_GT(bytes, 0);
    EXPECT_EQ(schedule.steals(), steals);
    std::int64_t by_distance = 0;
    for (std::int64_t const count : schedule.steals_by_distance) by_distance += count;
    EXPECT_EQ(by_distance, steals);
    ASSERT_GT(schedule.run.steals.size(), 0u);
    for (TimedSteal const& steal : schedule.run.steals) {
        auto const t = static_cast<std::size_t>(steal.task);
        EXPECT_EQ(schedule.run.worker_of_task[t], steal.thief);
        EXPECT_EQ(schedule.run.start[t], steal.time);
        EXPECT_EQ(schedule.machine.process_of(steal.thief), schedule.machine.process_of(steal.victim));
    }
}

} // namespace
} // namespace espalier
