#include <gtest/gtest.h>

#include <sched.h>

#include "runtime/binding.hpp"

namespace espalier {
namespace {

TEST(Binding, PlacesWorkersCompactlyAndWrapsRound) {
    auto const machine = Topology::synthetic("numa:2 core:2 pu:1");
    auto const places = place_workers(machine, 6, true);
    std::vector<int> cores, nodes;
    for (WorkerPlace const& place : places) {
        cores.push_back(place.core);
        nodes.push_back(place.node);
        EXPECT_EQ(place.pu, -1); // not this machine
    }
    EXPECT_EQ(cores, (std::vector<int>{0, 1, 2, 3, 0, 1}));
    EXPECT_EQ(nodes, (std::vector<int>{0, 0, 1, 1, 0, 0}));
}

TEST(Binding, BindsOnlyWorkersThatHaveACoreOfTheirOwn) {
    auto const machine = Topology::detect();
    int const cores = machine.num_cores();
    for (WorkerPlace const& place : place_workers(machine, cores + 1, true)) EXPECT_EQ(place.pu, -1);
    for (WorkerPlace const& place : place_workers(machine, cores, false)) EXPECT_EQ(place.pu, -1);
    EXPECT_EQ(place_workers(machine, 1, true)[0].pu, -1);
    if (cores < 2) GTEST_SKIP() << "one core";
    auto const places = place_workers(machine, cores, true);
    for (int w = 0; w < cores; ++w) EXPECT_EQ(places[w].pu, machine.cores()[w].pu);
    for (WorkerPlace const& place : place_workers(machine.share(0, cores + 1), 1, true))
        EXPECT_EQ(place.pu, -1);
}

TEST(Binding, AffinityComesBackAtTheEndOfTheScope) {
    cpu_set_t before, during, after;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    int const pu = Topology::detect().cores().back().pu;
    {
        AffinityScope const scope(pu);
        ASSERT_EQ(sched_getaffinity(0, sizeof during, &during), 0);
    }
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_EQ(CPU_COUNT(&during), 1);
    EXPECT_TRUE(CPU_ISSET(pu, &during));
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
    EXPECT_FALSE(bind_this_thread(1 << 20)); // no such hardware thread
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

std::vector<WorkerPlace> places_on(std::vector<int> const& nodes) {
    std::vector<WorkerPlace> places(nodes.size());
    for (std::size_t w = 0; w < nodes.size(); ++w) places[w].node = nodes[w];
    return places;
}

TEST(WorkersAtData, AreOnItsNodeInTurn) {
    auto const places = places_on({0, 0, 1, 1});
    std::vector<WorkerId> const owners{0, 1, 2, 0, any_worker, 0, 3};
    EXPECT_EQ(workers_at_data(owners, {1, 1, 1, 1, 1, -1, 0}, places),
              (std::vector<WorkerId>{2, 3, 2, 2, any_worker, 0, 0}));
    // No worker is on nodes 2 and 5.
    EXPECT_EQ(workers_at_data(owners, {2, 5, 1, 0, 0, 0, 1}, places), owners);
}

} // namespace
} // namespace espalier
