// Ordering and symbolic factorization as a job, with a limit of memory.
#include "analysis/structure_job.hpp"

#include <gtest/gtest.h>

#include "common/graphs.hpp"
#include "core/random.hpp"
#include "core/status_of.hpp"
#include "matrix/adjacency.hpp"
#include "solver/generated.hpp"

namespace espalier {
namespace {

using namespace test;

// A grid whose first vertex has very many neighbors: irregular, so that minimum degree comes first, although
// a dissection has fewer operations.
StructureJob irregular_grid() {
    auto a = generated<double>("lap3d:24");
    Offset at = a.col_ptr[1];
    for (Index i = 600; i < a.rows; i += 100, ++at) {
        a.row_ind.insert(a.row_ind.begin() + at, i);
        a.values.insert(a.values.begin() + at, -0.01);
    }
    Offset const added = at - a.col_ptr[1];
    for (Index j = 1; j <= a.cols; ++j) a.col_ptr[j] += added;
    StructureJob job;
    job.graph = adjacency_graph(a);
    job.chooses = true;
    return job;
}

// A chain with random connections, which has no small separators.
StructureJob network() {
    Index const n = 20'000;
    SplitMix64 random(4);
    Edges edges;
    for (Index v = 1; v < n; ++v) edges.emplace_back(v - 1, v);
    for (Index k = 0; k < n / 10; ++k) edges.emplace_back(random.below(n), random.below(n));
    StructureJob job;
    job.graph = graph_from(n, edges);
    job.chooses = true;
    return job;
}

StructureJob ordered_twice(std::uint64_t max_bytes) {
    StructureJob job = irregular_grid();
    job.max_bytes = max_bytes;
    job.order_vertices();
    EXPECT_EQ(job.ordering.method, OrderingMethod::amd);
    job.find_supernodes();
    job.order_again(OrderingMethod::dissection);
    EXPECT_EQ(std::ssize(job.order.perm), job.compressed.graph.num_vertices);
    return job;
}

TEST(StructureJob, KeepsTheOrderingWithFewerOperations) {
    StructureJob first = irregular_grid();
    first.order_vertices();
    first.find_supernodes();
    auto const both = ordered_twice(0);
    EXPECT_EQ(both.ordering.method, OrderingMethod::dissection);
    EXPECT_LT(both.structure.flops, first.structure.flops);
}

TEST(StructureJob, FindsSmallSeparatorsOfGridsButNotOfNetworks) {
    for (bool const is_grid : {true, false}) {
        StructureJob job = is_grid ? irregular_grid() : network();
        job.order_vertices();
        ASSERT_EQ(job.ordering.method, OrderingMethod::amd);
        job.find_supernodes();
        EXPECT_EQ(job.has_small_separators(), is_grid);
    }
}

// A band with the given numbers of vertices and of neighbors on each side.
StructureJob band(Index n, Index width, int workers) {
    Edges edges;
    for (Index v = 0; v < n; ++v)
        for (Index w = v + 1; w < std::min(n, v + width + 1); ++w) edges.emplace_back(v, w);
    StructureJob job;
    job.graph = graph_from(n, edges);
    job.chooses = true;
    job.workers = workers;
    return job;
}

TEST(StructureJob, OrdersBandsAlongTheirLength) {
    for (Index const width : {4, 40}) {
        StructureJob job = band(20'000, width, 4);
        job.order_vertices();
        EXPECT_EQ(job.ordering.method, OrderingMethod::rcm);
        job.find_supernodes();
        EXPECT_LT(job.structure.flops, static_cast<double>(20'000 * (width + 1) * (width + 1)));
    }
    StructureJob grid;
    grid.graph = test::grid(2000, 12);
    grid.chooses = true;
    grid.order_vertices();
    EXPECT_NE(grid.ordering.method, OrderingMethod::rcm);
    StructureJob with_last = band(20'000, 4, 1);
    with_last.schur = {7, 8};
    with_last.order_vertices();
    EXPECT_NE(with_last.ordering.method, OrderingMethod::rcm);
}

// Many workers prefer independent branches if the factorization takes long.
TEST(StructureJob, DissectsWideBandsForManyWorkers) {
    for (auto const& [width, method] :
         {std::pair{Index{4}, OrderingMethod::rcm}, {300, OrderingMethod::dissection}}) {
        StructureJob job = band(4000, width, 32);
        job.order_vertices();
        EXPECT_EQ(job.ordering.method, method);
    }
}

// Dissection needs more memory than minimum degree.
TEST(StructureJob, KeepsTheFirstOrderingIfAnotherNeedsTooMuchMemory) {
    EXPECT_EQ(ordered_twice(6'500'000).ordering.method, OrderingMethod::amd);
    EXPECT_EQ(ordered_twice(20'000'000).ordering.method, OrderingMethod::dissection);
    StructureJob job = irregular_grid();
    job.max_bytes = 1'000'000;
    EXPECT_EQ(status_of([&] { job.order_vertices(); }), Status::out_of_memory);
}

} // namespace
} // namespace espalier
