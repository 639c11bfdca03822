
#include <array>
#include <set>

#include "runtime/numa_factors.hpp"
#include "support.hpp"

namespace espalier {
namespace {

TEST(NumaFactors, TakeAllCoresOrOneOfEachGroup) {
    auto const machine = Topology::synthetic("package:2 numa:2 l3:2 core:4");
    std::string which;
    EXPECT_EQ(sampled_cores(machine, 4 * 32, which).size(), 32u);
    EXPECT_EQ(which, "every core");
    EXPECT_EQ(sampled_cores(machine, 4 * 32 - 1, which), (std::vector<int>{0, 4, 8, 12, 16, 20, 24, 28}));
    EXPECT_EQ(which, "8 of 32 cores: the first of each last-level cache");
    EXPECT_EQ(sampled_cores(machine, 4 * 8 - 1, which), (std::vector<int>{0, 8, 16, 24}));
    EXPECT_EQ(which, "4 of 32 cores: the first of each NUMA node");
    // One cache for several nodes says nothing about them.
    EXPECT_EQ(sampled_cores(Topology::synthetic("l3:1 numa:2 core:4"), 5, which), (std::vector<int>{0, 4}));
}

TEST(NumaFactors, FarthestNodesAreFarAndNotAllTheSame) {
    EXPECT_EQ(farthest_node(Topology::synthetic("core:4"), 0), 0);
    for (auto const* const description : {"numa:2 core:2", "numa:5 core:1", "package:4 numa:2 core:2"}) {
        auto const machine = Topology::synthetic(description);
        std::set<int> all;
        for (int node = 0; node < machine.num_nodes(); ++node) {
            int const far = farthest_node(machine, node);
            all.insert(far);
            EXPECT_NE(far, node);
            for (int other = 0; other < machine.num_nodes(); ++other)
                EXPECT_LE(machine.distance(node, other), machine.distance(node, far));
        }
        EXPECT_EQ(all.size(), static_cast<std::size_t>(machine.num_nodes())) << description;
    }
}

TEST(NumaFactors, OfThisMachineAreMultiplesOfTheFastestPair) {
    std::atomic<int> calls{0};
    auto const touch = [&calls](std::byte* block) {
        for (std::size_t i = 0; i < 4096; i += 64) block[i] = std::byte{1};
        calls.fetch_add(1, std::memory_order_relaxed);
    };
    std::array<BlockKernel, 2> const kernels{{{"touch", 4096, touch}, {"again", 4096, touch}}};
    NumaFactorOptions const options{.seconds = 0.02, .max_memory = 8 << 20};
    NumaFactors const factors = measure_numa_factors(machine(), kernels, options);
    EXPECT_EQ(factors.nodes, machine().num_nodes());
    EXPECT_LE(factors.region_bytes * static_cast<std::size_t>(machine().num_cores()), std::size_t{8} << 20);
    ASSERT_EQ(factors.kernels.size(), 2u);
    for (KernelFactors const& kernel : factors.kernels) {
        EXPECT_GT(kernel.unit_s, 0);
        ASSERT_EQ(kernel.alone.size(), factors.cores.size() * static_cast<std::size_t>(factors.nodes));
        EXPECT_EQ(*std::min_element(kernel.alone.begin(), kernel.alone.end()), 1);
        for (auto const* const times : {&kernel.local, &kernel.one_node, &kernel.worst}) {
            ASSERT_EQ(times->size(), factors.cores.size());
            EXPECT_GT(*std::min_element(times->begin(), times->end()), 0);
        }
    }
    EXPECT_GT(calls, 20);
}

TEST(NumaFactors, CannotBeMeasuredElsewhere) {
    EXPECT_EQ(status_of([] { (void)measure_numa_factors(Topology::synthetic("numa:2 core:2"), {}); }),
              Status::usage);
}

} // namespace
} // namespace espalier
