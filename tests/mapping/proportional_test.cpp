#include "mapping/proportional.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "trees.hpp"

namespace espalier {
namespace {

std::vector<double> random_costs(std::size_t size, unsigned seed) {
    std::mt19937 engine(seed);
    std::vector<double> costs(size);
    // Costs over many decades, some of them zero.
    for (double& cost : costs)
        cost = engine() % 5 == 0
                   ? 0.0
                   : std::ldexp(static_cast<double>(1 + engine() % 100), static_cast<int>(engine() % 12));
    return costs;
}

void expect_nested(BlockStructure const& structure, Mapping const& mapping) {
    int const workers = mapping.processes * mapping.threads;
    for (std::size_t k = 0; k < structure.cblks.size(); ++k) {
        Candidates const own = mapping.candidates[k];
        CblkId const parent = structure.cblks[k].parent;
        ASSERT_LT(own.first, own.end) << k;
        Candidates const around = parent == no_cblk ? Candidates{0, workers} : mapping.candidates[parent];
        ASSERT_TRUE(around.contains(own)) << k;
        auto const id = static_cast<CblkId>(k);
        Candidates const processes = mapping.processes_of(id);
        int count = 0;
        for (int p = processes.first; p < processes.end; ++p) {
            Candidates const here = mapping.workers_in(id, p);
            ASSERT_LT(here.first, here.end);
            ASSERT_TRUE(own.contains(here) && here.first / mapping.threads == p &&
                        (here.end - 1) / mapping.threads == p);
            count += here.count();
        }
        ASSERT_EQ(count, own.count());
    }
}

// The cost of every cblk is assigned once, and no worker gets too much or too little.
void expect_balanced(std::vector<double> const& costs, Mapping const& mapping,
                     MappingOptions const& options) {
    auto const workers = static_cast<std::size_t>(mapping.processes * mapping.threads);
    std::vector<double> work(workers, 0.0);
    for (std::size_t k = 0; k < costs.size(); ++k) {
        double whole = 0;
        for (int w = mapping.candidates[k].first; w < mapping.candidates[k].end; ++w) {
            double const share = mapping.share(static_cast<CblkId>(k), w);
            EXPECT_GE(share, 0);
            work[w] += share * costs[k];
            whole += share;
        }
        ASSERT_NEAR(whole, 1, 1e-9) << k;
    }
    double const mean = std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(workers);
    double const bound = (1 + options.process_grain) * (1 + options.thread_grain) - 1;
    for (double const one : work) EXPECT_NEAR(one, mean, (bound + 1e-6) * mean);
}

TEST(Mapping, WorksASmallExampleByHand) {
    // The root 6 (cost 4) has the subtrees {0, 1, 2} of cost 6 + 4 + 1 = 11 and {3, 4, 5} of 5 + 3 + 1 = 9,
    // so these get [0, 1.1] and [1.1, 2] of the line of two processes. The leaves below have 6 : 4 of the
    // first interval, [0, 0.66] and [0.66, 1.1], and 5 : 3 of the second, [1.1, 1.6625] and [1.6625, 2].
    auto const structure = tree_of({2, 2, 6, 5, 5, 6, no_cblk});
    std::vector<double> const costs{6, 4, 1, 5, 3, 1, 4};
    // A quarter of a process: the cut at 1 is 0.1 from the end of subtree 2, and moves there. So the threads
    // of process 0 meet at 0.55, inside leaf 0, those of process 1 at 1.55, inside leaf 3.
    auto const mapping = proportional_mapping(structure, costs, machine_of(2, 2), {0.25, 0});
    EXPECT_NEAR(mapping.intervals[1].begin, 0.66, 1e-6);
    EXPECT_NEAR(mapping.intervals[4].begin, 1.6625, 1e-6);
    EXPECT_NEAR(mapping.worker_begin[2], 1.1, 1e-6);
    EXPECT_EQ(mapping.candidates,
              (std::vector<Candidates>{{0, 2}, {1, 2}, {0, 2}, {2, 4}, {3, 4}, {2, 4}, {0, 4}}));
    EXPECT_NEAR(mapping.share(0, 1), 0.11 / 0.66, 1e-6);
    EXPECT_NEAR(mapping.share(6, 0), 0.55 / 2, 1e-6);

    // Without freedom the cut at 1 stays inside leaf 1 (process 0 has 0.34 of its 0.44) and all above it.
    auto const exact = proportional_mapping(structure, costs, machine_of(2, 2), {0, 0});
    EXPECT_EQ(exact.candidates[1], (Candidates{1, 3}));
    EXPECT_EQ(exact.processes_of(1), (Candidates{0, 2}));
    EXPECT_EQ(exact.workers_in(1, 1), (Candidates{2, 3}));
    EXPECT_EQ(exact.processes_of(0), (Candidates{0, 1}));

    // A grain of 1 / 2 in a process: the ranges of its threads end at those of its leaves, if these are near
    // enough.
    auto const coarse = proportional_mapping(structure, costs, machine_of(2, 2), {0.25, 0.5});
    EXPECT_EQ(coarse.candidates,
              (std::vector<Candidates>{{0, 1}, {1, 2}, {0, 2}, {2, 3}, {3, 4}, {2, 4}, {0, 4}}));
}

TEST(Mapping, IsNestedAndBalancedOnRandomForests) {
    for (unsigned seed = 0; seed < 25; ++seed) {
        auto const structure = tree_of(random_forest(1 + static_cast<int>(seed * 17), seed));
        auto const costs = random_costs(structure.cblks.size(), seed);
        MappingOptions const options{0.01 * (seed % 10), 0.1 * (seed % 8)};
        for (int processes = 1; processes <= 8; ++processes)
            for (int threads = 1; threads <= 4; ++threads) {
                auto const mapping =
                    proportional_mapping(structure, costs, machine_of(processes, threads), options);
                expect_nested(structure, mapping);
                expect_balanced(costs, mapping, options);
            }
    }
}

TEST(Mapping, TakesTreesOfExtremeShapes) {
    for (auto const& parent : {chain(1), chain(300), star(300), std::vector<CblkId>(20, no_cblk)}) {
        auto const structure = tree_of(parent);
        std::vector<double> const ones(parent.size(), 1.0), zeros(parent.size(), 0.0);
        for (auto const& [processes, threads] : {std::pair{1, 1}, {1, 4}, {3, 1}, {8, 4}}) {
            auto const mapping = proportional_mapping(structure, ones, machine_of(processes, threads));
            expect_nested(structure, mapping);
            expect_balanced(ones, mapping, {});
            expect_nested(structure, proportional_mapping(structure, zeros, machine_of(processes, threads)));
        }
    }
    EXPECT_TRUE(proportional_mapping(tree_of({}), {}, machine_of(2, 2)).candidates.empty());
}

TEST(Mapping, GivesEqualSubtreesOneCandidateEach) {
    // A complete binary tree of 2^k - 1 cblks in postorder; rounding must not cut anything off.
    std::vector<CblkId> parent(127, no_cblk);
    auto const number = [&](auto const& self, int height, CblkId first) -> CblkId {
        if (height == 0) return first;
        CblkId const left = self(self, height - 1, first);
        CblkId const right = self(self, height - 1, left + 1);
        parent[left] = parent[right] = right + 1;
        return right + 1;
    };
    ASSERT_EQ(number(number, 6, 0), 126);
    auto const structure = tree_of(parent);
    std::vector<double> const costs(127, 0.1);
    auto const mapping = proportional_mapping(structure, costs, machine_of(2, 4));
    for (std::size_t k = 0; k < 127; ++k) {
        Index const size = static_cast<Index>(k) + 1 - structure.cblks[k].first_descendant;
        EXPECT_EQ(mapping.candidates[k].count(), std::max<Index>(1, (size + 1) / 16)) << k;
    }
}

TEST(Mapping, MapsKeptCblksAboveTheRest) {
    auto structure = tree_of({1, 4, 3, 4, 5, no_cblk});
    structure.first_kept_cblk = 4;
    auto const mapping = proportional_mapping(structure, {1, 1, 1, 1, 0, 0}, machine_of(2, 1));
    EXPECT_EQ(mapping.candidates, (std::vector<Candidates>{{0, 1}, {0, 1}, {1, 2}, {1, 2}, {0, 2}, {0, 2}}));
}

TEST(Mapping, RejectsInvalidMachinesAndCosts) {
    auto const structure = tree_of(chain(3));
    std::vector<double> const costs(3, 1.0);
    EXPECT_THROW(proportional_mapping(structure, costs, machine_of(0, 1)), Error);
    EXPECT_THROW(proportional_mapping(structure, costs, machine_of(1, -2)), Error);
    EXPECT_THROW(proportional_mapping(structure, costs, machine_of(1 << 16, 1 << 16)), Error);
    EXPECT_THROW(proportional_mapping(structure, costs, machine_of(1, 1), {1, 0.1}), Error);
    MachineModel machine = machine_of(1, 3);
    machine.node_of_thread = {0, 1};
    EXPECT_THROW(proportional_mapping(structure, costs, machine), Error);
    machine = machine_of(2, 1);
    machine.network.bandwidth = 0;
    EXPECT_THROW(proportional_mapping(structure, costs, machine), Error);
    for (double const bad :
         {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        EXPECT_THROW(proportional_mapping(structure, {1, bad, 1}, machine_of(1, 1)), Error);
}

} // namespace
} // namespace espalier
