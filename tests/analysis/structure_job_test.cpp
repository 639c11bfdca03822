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
