#include "simulation/message_network.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "policies/static_policy.hpp"
#include "simulation/factor_plan.hpp"
#include "structures.hpp"

namespace espalier {
namespace {

// Every task runs once on a worker of its process, after its predecessors. Messages take the time of the
// network. The owners run the factor tasks and are candidates.
void expect_consistent(BlockStructure const& structure, Schedule const& schedule) {
    MachineModel const& machine = schedule.machine;
    auto const& graph = schedule.tasks.graph;
    auto const& run = schedule.run;
    std::size_t const tasks = schedule.tasks.tasks.size();
    std::vector<int> seen(tasks, 0);
    for (std::size_t w = 0; w < run.lists.size(); ++w) {
        double now = 0;
        for (TaskId const t : run.lists[w]) {
            ++seen[t];
            ASSERT_EQ(run.worker_of_task[t], static_cast<WorkerId>(w));
            ASSERT_EQ(machine.process_of(static_cast<int>(w)), schedule.tasks.tasks[t].process);
            ASSERT_GE(run.start[t], now);
            now = run.end[t];
        }
    }
    for (std::size_t t = 0; t < tasks; ++t) {
        FactorTask const& task = schedule.tasks.tasks[t];
        ASSERT_EQ(seen[t], task.kind == TaskKind::message ? 0 : 1);
        double const delay = run.end[t] - run.start[t] - graph.cost[t];
        ASSERT_GE(delay, -1e-9 * (1 + run.end[t]));
        ASSERT_TRUE(task.kind == TaskKind::message || delay <= 1e-9 * (1 + run.end[t]));
        for (TaskId const next : graph.successors_of(static_cast<TaskId>(t))) {
            ASSERT_GT(next, static_cast<TaskId>(t)); // predecessors come first
            ASSERT_GE(run.start[next], run.end[t]);
            if (task.kind != TaskKind::message) { // only messages cross
                ASSERT_EQ(schedule.tasks.tasks[next].process, task.process);
            }
        }
        if (task.kind == TaskKind::message) {
            ASSERT_NE(task.process, task.peer);
            ASSERT_DOUBLE_EQ(graph.cost[t], machine.network.seconds(task.bytes));
            FactorTask const& added = schedule.tasks.tasks[t + 1];
            ASSERT_TRUE(added.kind == TaskKind::fan_in && added.process == task.peer &&
                        added.target == task.target);
        }
    }
    for (CblkId k = 0; k < structure.num_cblks(); ++k) {
        BranchId const u = schedule.partition.branch_of_cblk[k];
        TaskId const factor = schedule.tasks.factor_of_branch[u];
        ASSERT_EQ(schedule.owner_of_cblk[k], run.worker_of_task[factor]);
        ASSERT_EQ(schedule.process_of_cblk[k], machine.process_of(schedule.owner_of_cblk[k]));
        CblkId const root = schedule.partition.branches[u].root;
        if (root >= structure.first_kept_cblk)
            ASSERT_EQ(schedule.process_of_cblk[k], 0); // a Schur complement is in one place
        else
            ASSERT_TRUE(schedule.mapping.processes_of(root).contains(schedule.process_of_cblk[k]));
    }
    EXPECT_GE(schedule.makespan(), schedule.critical_path() * (1 - 1e-9));
    EXPECT_LE(schedule.efficiency(), 1 + 1e-9);
}

// Each process sends at most one message for a cblk of another process, and exactly if it contributes to it.
void expect_one_message_a_contributor(BlockStructure const& structure, Schedule const& schedule) {
    std::set<std::pair<std::int32_t, CblkId>> wanted, found;
    for (CblkId j = 0; j < structure.num_cblks(); ++j)
        for (BlokId const b : structure.bloks_facing(j)) {
            CblkId const source = structure.owner_of_blok[b];
            auto const from = schedule.process_of_cblk[source];
            if (!structure.is_kept(source) && from != schedule.process_of_cblk[j]) wanted.emplace(from, j);
        }
    for (FactorTask const& task : schedule.tasks.tasks)
        if (task.kind == TaskKind::message) {
            EXPECT_TRUE(found.emplace(task.process, task.target).second);
        }
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(schedule.messages(), static_cast<std::int64_t>(wanted.size()));
}

// A fan-in block has the rows of the target that its process contributes to, and no others.
void expect_exact_rows(BlockStructure const& structure, Schedule const& schedule) {
    FanInBlocks const& fan_in = schedule.tasks.fan_in;
    std::vector<std::int32_t> updates(fan_in.blocks.size(), 0);
    for (FactorTask const& task : schedule.tasks.tasks)
        if (task.kind == TaskKind::update && task.block != no_block) ++updates[task.block];
    for (std::size_t n = 0; n < fan_in.blocks.size(); ++n) {
        FanInBlock const& block = fan_in.blocks[n];
        EXPECT_EQ(updates[n], block.updates);
        std::set<Index> wanted, found;
        Cblk const& target = structure.cblk(block.target);
        for (BlokId const first : structure.bloks_facing(block.target)) {
            CblkId const source = structure.owner_of_blok[first];
            if (schedule.process_of_cblk[source] != block.from) continue;
            for (BlokId b = first; b < structure.cblk(source).end_blok; ++b)
                for (Index row = structure.blok(b).first_row; row < structure.blok(b).end_row; ++row)
                    for (Blok const& blok : structure.bloks_of(target))
                        if (blok.first_row <= row && row < blok.end_row)
                            wanted.insert(blok.panel_row + row - blok.first_row);
        }
        Index below = 0;
        for (BlockRows const& run : fan_in.rows_of(block)) {
            EXPECT_EQ(run.at, static_cast<Index>(found.size()));
            for (Index row = run.begin; row < run.end; ++row) {
                EXPECT_TRUE(found.empty() || *found.rbegin() < row);
                found.insert(row);
                below += row >= target.width();
            }
        }
        EXPECT_EQ(found, wanted);
        EXPECT_EQ(block.rows, static_cast<Index>(found.size()));
        EXPECT_EQ(block.rows_below, below);
    }
}

void expect_sound_memory(BlockStructure const& structure, Schedule const& schedule, PanelFormat format) {
    double panels = 0, wanted = 0, sent = 0, received = 0;
    for (ProcessUse const& process : schedule.processes) {
        panels += process.panels;
        sent += process.sent;
        received += process.received;
        EXPECT_LE(process.fan_in_peak, process.sent + process.received);
        EXPECT_EQ(process.fan_in_peak > 0, process.messages_sent + process.messages_received > 0);
    }
    for (Cblk const& cblk : structure.cblks) wanted += format.bytes(cblk.stride, cblk.width());
    EXPECT_DOUBLE_EQ(panels, wanted);
    EXPECT_DOUBLE_EQ(sent, received);
    EXPECT_DOUBLE_EQ(sent, schedule.message_bytes());
}

// The peaks of fan-in memory, from the blocks that exist whenever one is added.
void expect_exact_peaks(Schedule const& schedule) {
    struct Life {
        std::int32_t process;
        double begin, end, bytes;
    };
    auto const& tasks = schedule.tasks.tasks;
    auto const& run = schedule.run;
    std::map<std::pair<std::int32_t, CblkId>, double> first_update;
    std::vector<Life> lives;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
        FactorTask const& task = tasks[t];
        if (task.kind == TaskKind::update)
            first_update.try_emplace({task.process, task.target}, run.start[t]);
        if (task.kind != TaskKind::message) continue;
        lives.push_back({task.process, first_update.at({task.process, task.target}), run.end[t], task.bytes});
        lives.push_back({task.peer, run.end[t], run.end[t + 1], task.bytes});
    }
    std::vector<double> peak(schedule.processes.size(), 0.0);
    for (Life const& at : lives) {
        double alive = 0;
        for (Life const& life : lives)
            if (life.process == at.process && life.begin <= at.begin && at.begin < life.end)
                alive += life.bytes;
        double& most = peak[at.process];
        most = std::max(most, alive);
    }
    for (std::size_t p = 0; p < peak.size(); ++p)
        EXPECT_DOUBLE_EQ(schedule.processes[p].fan_in_peak, peak[p]);
}

TEST(Schedule, UpdatesThatAreTasksReadTheirSourcesFromMemory) {
    std::vector<CblkId> parent{2, 2, 6, 5, 5, 6, no_cblk};
    BlockStructure const structure = structure_of(parent, std::vector<Index>(parent.size(), 30), 1);
    CostModel const warm;
    CostModel cold = warm;
    cold.update_seconds[UpdateTerm::cold] = 1e-9;
    auto const work = [&](CostModel const& model, int threads) {
        MachineModel machine;
        machine.threads = threads;
        return simulate_schedule(structure, model, machine).total_work();
    };
    EXPECT_DOUBLE_EQ(work(cold, 1), work(warm, 1)); // one subtree
    EXPECT_GT(work(cold, 2), work(warm, 2));
    EXPECT_NEAR(work(warm, 2), work(warm, 1), 1e-12);
}

TEST(Schedule, IsConsistentOnRandomForestsAndAllMachines) {
    for (unsigned seed = 0; seed < 6; ++seed) {
        auto structure = random_structure(40 + static_cast<int>(seed) * 31, seed);
        if (seed % 3 == 2) structure.first_kept_cblk -= 1;
        ScheduleOptions options;
        options.format = {16, seed % 2 == 1};
        options.subtrees_per_worker = 1 + seed;
        for (int processes = 1; processes <= 8; ++processes)
            for (int threads = 1; threads <= 4; ++threads) {
                MachineModel machine = machine_of(processes, threads);
                if (threads == 4) machine.node_of_thread = {0, 0, 1, 1};
                auto const schedule = simulate_schedule(structure, CostModel{}, machine, options);
                expect_consistent(structure, schedule);
                expect_one_message_a_contributor(structure, schedule);
                expect_exact_rows(structure, schedule);
                expect_sound_memory(structure, schedule, options.format);
                if (threads == 2) expect_exact_peaks(schedule);
            }
    }
}

TEST(Schedule, TakesTreesOfExtremeShapes) {
    for (auto const& parent : {chain(1), chain(60), star(60), std::vector<CblkId>(20, no_cblk)}) {
        auto const structure = structure_of(parent, std::vector<Index>(parent.size(), 5), 1);
        CostModel nothing; // all tasks at time 0
        nothing.panel_seconds = {};
        nothing.update_seconds = {};
        nothing.bandwidth = std::numeric_limits<double>::infinity();
        for (CostModel const& model : {CostModel{}, nothing})
            for (auto const& [processes, threads] : {std::pair{1, 1}, {1, 4}, {3, 1}, {4, 4}}) {
                auto const schedule = simulate_schedule(structure, model, machine_of(processes, threads));
                expect_consistent(structure, schedule);
                expect_one_message_a_contributor(structure, schedule);
                expect_exact_rows(structure, schedule);
            }
    }
    auto const empty = simulate_schedule(tree_of({}), CostModel{}, machine_of(2, 2));
    EXPECT_EQ(empty.makespan(), 0);
}

// Round times for bloks of order 30, and two processes of one thread.
std::pair<CostModel, MachineModel> by_hand() {
    CostModel model;
    model.panel_seconds = {}; // a diagonal block takes 1 / 2, a panel with one blok 2 seconds,
    model.panel_seconds[PanelTerm::diagonal_flop] = model.panel_seconds[PanelTerm::solve_flop] =
        1 / (30.0 * 30 * 30 * 2 / 3);
    model.update_seconds = {}; // a product 1 and adding it 1 / 4: an update 5 / 4,
    model.update_seconds[UpdateTerm::flop] = 1 / (2 * 30.0 * 30 * 30);
    model.update_seconds[UpdateTerm::target] = 1 / (4 * 30.0 * 30);
    model.bandwidth = 4 * 3 * 30.0 * 30 * 8; // and adding a block that came from elsewhere 1 / 4
    MachineModel machine = machine_of(2, 1);
    machine.network = {0.5, 30.0 * 30 * 8}; // a block takes 3 / 2
    return {model, machine};
}

// Three cblks, the smallest tree with a join: 0 and 1 below 2, every cblk c columns wide, bloks full.
TEST(Schedule, WorksTwoProcessesByHand) {
    auto const structure = structure_of({2, 2, no_cblk}, {30, 30, 30}, 0);
    auto const [model, machine] = by_hand();
    auto const schedule = simulate_schedule(structure, model, machine);

    // Both leaves start at 0 and give their updates at 2 + 5 / 4. The root goes to process 0, as it would end
    // no sooner on process 1: the other sum arrives 3 / 2 later, is added in 1 / 4, the root takes 1 / 2.
    EXPECT_EQ(schedule.process_of_cblk, (std::vector<std::int32_t>{0, 1, 0}));
    ASSERT_EQ(schedule.tasks.tasks.size(), 7U);
    EXPECT_EQ(schedule.messages(), 1);
    EXPECT_DOUBLE_EQ(schedule.message_bytes(), 30 * 30 * 8);
    auto const factor_root = static_cast<std::size_t>(schedule.tasks.factor_of_branch[2]);
    EXPECT_NEAR(schedule.run.start[factor_root], 2 + 1.25 + 1.5 + 0.25, 1e-9);
    EXPECT_NEAR(schedule.makespan(), 5.5, 1e-9);
    EXPECT_NEAR(schedule.critical_path(), 5.5, 1e-9);
    EXPECT_NEAR(schedule.run.busy[0], 2 + 1.25 + 0.25 + 0.5, 1e-9);
    EXPECT_NEAR(schedule.run.busy[1], 3.25, 1e-9);
    EXPECT_NEAR(schedule.run.idle(1), 2.25, 1e-9);
    EXPECT_DOUBLE_EQ(schedule.processes[0].panels, (60 + 30) * 30 * 8);
    EXPECT_DOUBLE_EQ(schedule.processes[1].panels, 60 * 30 * 8);
    EXPECT_DOUBLE_EQ(schedule.processes[0].fan_in_peak, 30 * 30 * 8);
    EXPECT_DOUBLE_EQ(schedule.processes[1].fan_in_peak, 30 * 30 * 8);
    EXPECT_EQ(tree_levels(structure), (std::vector<std::int32_t>{1, 1, 0}));
}

TEST(Schedule, DependsOnWhoSendsAndReceives) {
    // The tree and the costs are those of the previous test. A communication thread needs 0.1 for each block
    // and 0.2 to copy it.
    auto const structure = structure_of({2, 2, no_cblk}, {30, 30, 30}, 0);
    auto [model, machine] = by_hand();
    machine.network.overhead = 0.1;
    machine.network.copy_bandwidth = 30.0 * 30 * 8 / 0.2;
    ScheduleOptions options;
    for (int const threads : {1, 2}) {
        options.comm_threads = threads;
        EXPECT_NEAR(simulate_schedule(structure, model, machine, options).makespan(), 5.5, 1e-9);
    }
    options.comm_threads = 0; // both workers are idle and spend 0.3, of which the latency has 0.1
    for (bool const models_memory : {false, true}) {
        options.models_memory = models_memory;
        auto const schedule = simulate_schedule(structure, model, machine, options);
        EXPECT_NEAR(schedule.makespan(), 5.5 + 0.4, 1e-9);
        EXPECT_NEAR(schedule.communication_seconds(), 0.6, 1e-9);
    }
}

TEST(MessageNetwork, LetsMessagesWaitForEachOther) {
    MachineModel machine = machine_of(3, 1);
    machine.network = {1, 10, 0};
    FactorTasks tasks;
    auto const message = [&tasks](std::int32_t from, std::int32_t to, double bytes) {
        tasks.tasks.push_back({.kind = TaskKind::message, .process = from, .peer = to, .bytes = bytes});
        return static_cast<TaskId>(tasks.tasks.size() - 1);
    };
    TaskId const first = message(0, 1, 20), same_way = message(0, 2, 30), same_end = message(2, 1, 10),
                 late = message(0, 1, 5);
    MessageNetwork network(tasks, machine, {.count = 2});
    EXPECT_EQ(network.reach(first, 0), 1);
    EXPECT_EQ(network.arrive(first, 1), 1 + 2);
    EXPECT_EQ(network.reach(same_way, 1), 2 + 1); // leaves when the first has left
    EXPECT_EQ(network.arrive(same_way, 3), 3 + 3);
    EXPECT_EQ(network.reach(same_end, 1.5), 2.5);
    EXPECT_EQ(network.arrive(same_end, 2.5), 3 + 1); // arrives after the first
    EXPECT_EQ(network.reach(late, 20), 20 + 1);
    EXPECT_EQ(network.arrive(late, 21), 21 + 0.5);
}

TEST(Schedule, GivesACblkToTheProcessThatWouldFinishItFirst) {
    // As above, but leaf 1 is twice as wide: its update is ready at 10 + 9 / 4, long after the other.
    auto const structure = structure_of({2, 2, no_cblk}, {30, 60, 30}, 0);
    auto const [model, machine] = by_hand();
    auto const schedule = simulate_schedule(structure, model, machine);
    EXPECT_EQ(schedule.process_of_cblk, (std::vector<std::int32_t>{0, 1, 1}));
    // Sums are taken in the order of the sources: at 10 the fan-in of leaf 0, then the update of leaf 1.
    EXPECT_NEAR(schedule.makespan(), 10 + 0.25 + 2.25 + 0.5, 1e-9);
}

TEST(Schedule, IsTheSameEveryTime) {
    auto const structure = random_structure(200, 3);
    for (auto const& [processes, threads] : {std::pair{1, 3}, {3, 2}}) {
        auto const machine = machine_of(processes, threads);
        auto const one = simulate_schedule(structure, CostModel{}, machine);
        auto const two = simulate_schedule(structure, CostModel{}, machine);
        EXPECT_EQ(one.run.lists, two.run.lists);
        EXPECT_EQ(one.run.start, two.run.start);
    }
}

TEST(Schedule, DividesAMachineWellWhenThereIsWorkForAll) {
    // 64 equal subtrees under a small root.
    std::vector<CblkId> parent = star(65);
    std::vector<Index> width(65, 40);
    width.back() = 4;
    auto const structure = structure_of(parent, width, 0);
    CostModel model;
    model.panel_seconds[PanelTerm::call] = model.update_seconds[UpdateTerm::call] =
        model.update_seconds[UpdateTerm::run] = 0;
    for (auto const& [processes, threads] : {std::pair{1, 4}, {4, 1}, {2, 2}, {4, 4}}) {
        MachineModel machine = machine_of(processes, threads);
        machine.network = {1e-9, 1e12};
        auto const schedule = simulate_schedule(structure, model, machine);
        EXPECT_GT(schedule.efficiency(), 0.85) << processes << " x " << threads;
        auto const& uses = schedule.processes;
        auto const [least, most] = std::minmax_element(
            uses.begin(), uses.end(), [](auto const& a, auto const& b) { return a.panels < b.panels; });
        EXPECT_LT(most->panels, 1.25 * least->panels);
    }
}

TEST(Schedule, KeepsThreadsOnTheirNode) {
    auto const structure = random_structure(300, 5);
    MachineModel machine = machine_of(2, 4);
    machine.node_of_thread = {0, 0, 1, 1};
    ScheduleOptions options;
    options.subtrees_per_worker = 1;
    auto const schedule = simulate_schedule(structure, CostModel{}, machine, options);
    expect_consistent(structure, schedule);
    int inner = 0; // tasks whose candidates are all on one node
    for (std::size_t t = 0; t < schedule.tasks.tasks.size(); ++t) {
        FactorTask const& task = schedule.tasks.tasks[t];
        if (task.kind == TaskKind::message) continue;
        Candidates const own = schedule.mapping.workers_in(cblk_of(task, schedule.partition), task.process);
        if (machine.node_of(own.first) != machine.node_of(own.end - 1)) continue;
        ++inner;
        EXPECT_EQ(machine.node_of(schedule.run.worker_of_task[t]), machine.node_of(own.first));
    }
    EXPECT_GT(inner, 20);
}

TEST(FactorPlan, IsTheScheduleOfOneProcess) {
    auto const structure = random_structure(150, 7);
    auto const plan = make_factor_plan(structure, CostModel{}, 3);
    auto const schedule = simulate_schedule(structure, CostModel{}, machine_of(1, 3));
    EXPECT_EQ(plan.factor_schedule.lists, schedule.run.lists);
    EXPECT_EQ(plan.owner_of_cblk, schedule.owner_of_cblk);
    EXPECT_DOUBLE_EQ(plan.factor_schedule.makespan, schedule.makespan());
    for (FactorTask const& task : plan.factor.tasks)
        EXPECT_TRUE(task.kind == TaskKind::factor || task.kind == TaskKind::update);
    // All work is there: the tasks cost what the cblks cost.
    double sum = 0;
    for (double const cost : plan.factor.graph.cost) sum += cost;
    EXPECT_NEAR(sum, plan.total_cost(), 1e-9 * sum);
}

} // namespace
} // namespace espalier
