// Homes of tasks whose panels are on other nodes than planned.
#include "factor/page_homes.hpp"

#include "factor/placement.hpp"
#include "support.hpp"

namespace espalier {
namespace {

using namespace testing;

// A system planned for `policy` on the cores of a machine.
struct Planned : System<double> {
    Planned(Topology machine, SchedulePolicy policy, int workers)
        : System(real("lap3d:9"), Factorization::llh, workers, {}, narrow_cblks(), machine),
          topology(std::move(machine)) {
        MachineModel model;
        model.threads = workers;
        model.node_of_thread = team.node_of_worker();
        ScheduleOptions options;
        options.schedule = policy;
        plan = make_factor_plan(structure, CostModel{}, model, options);
    }
    void factorize_with(Allocation allocation) {
        factor.allocate({kind}, plan.owner_of_cblk, allocation, team);
        FactorizeOptions options;
        options.topology = &topology;
        espalier::factorize(matrix, assembly, plan, factor, team, options);
    }
    Topology topology;
};

TEST(PageHomes, MoveTheTasksOfTheirPanelsOnly) {
    Planned const run(Topology::synthetic("numa:2 core:2"), SchedulePolicy::places, 4);
    FactorPlan const& plan = run.plan;
    auto workers = plan.owner_of_cblk;
    auto const moved = static_cast<CblkId>(workers.size()) - 1; // moves the root
    workers[moved] = (workers[moved] + 2) % 4;
    int changed = 0;
    auto const expect_moved = [&](auto const& tasks) {
        TaskGraph const graph = with_homes(plan, tasks, workers);
        EXPECT_EQ(graph.successors, tasks.graph.successors);
        for (TaskId t = 0; t < graph.num_tasks(); ++t) {
            bool const of_moved = cblk_of(tasks.tasks[t], plan.partition) == moved;
            EXPECT_EQ(graph.home[t], of_moved ? workers[moved] : tasks.graph.home[t]);
            changed += graph.home[t] != tasks.graph.home[t];
        }
    };
    expect_moved(plan.factor);
    EXPECT_GT(changed, 1); // its updates move too
    expect_moved(plan.solve);
}

TEST(PageHomes, AreThoseOfThePlanIfPagesAreNotReal) {
    for (SchedulePolicy const policy : {SchedulePolicy::places, SchedulePolicy::dynamic_tree}) {
        Planned run(Topology::synthetic("numa:2 core:2"), policy, 4);
        run.factorize_with(Allocation::global);
        EXPECT_TRUE(run.factor.workers_at_panels().empty());
    }
}

// All pages are on the node of worker 0.
TEST(PageHomes, FollowAGlobalArrayToItsNode) {
    Topology const machine = Topology::detect();
    Planned run(machine, SchedulePolicy::places, machine.num_cores());
    run.factorize_with(Allocation::global);
    auto const& workers = run.factor.workers_at_panels();
    if (machine.num_nodes() == 1) {
        EXPECT_TRUE(workers.empty());
        GTEST_SKIP() << "this machine has one NUMA node";
    }
    ASSERT_EQ(workers.size(), run.plan.owner_of_cblk.size());
    int const node = run.team.places()[0].node;
    for (WorkerId const worker : workers) EXPECT_EQ(run.team.places()[worker].node, node);
    run.factorize_with(Allocation::local);
    EXPECT_TRUE(run.factor.workers_at_panels().empty());
}

// With one node, panels cannot be moved.
TEST(PageHomes, PanelsReturnToTheNodeOfTheirOwner) {
    Topology const machine = Topology::detect();
    Planned run(machine, SchedulePolicy::dynamic_tree, machine.num_cores());
    run.factorize_with(Allocation::local);
    for (WorkerId w = 0; w < run.team.size(); ++w) {
        Arena const& arena = run.factor.arena_of(w);
        int const home = run.team.places()[w].node_os_index;
        for (int const node : memory_nodes()) {
            PageLocation const away = move_to_node(arena.bytes(), node);
            if (away.unknown_bytes > 0) GTEST_SKIP() << "the system does not report the nodes of pages";
            EXPECT_EQ(run.factor.move_to_owner(w, home), node == home ? 0 : arena.size());
            EXPECT_EQ(run.factor.move_to_owner(w, home), 0u);
        }
    }
    FactorizeOptions options;
    options.topology = &run.topology;
    for (WorkerId w = 0; w < run.team.size(); ++w)
        move_to_node(run.factor.arena_of(w).bytes(), memory_nodes().back());
    auto const stats = run.factorize(options);
    EXPECT_EQ(stats.moved_bytes > 0, machine.num_nodes() > 1 && run.team.bound());
}

} // namespace
} // namespace espalier
