// Incomplete factors on every runtime and with every policy of Espalier's runtime.
#include "incomplete/chunk_runs.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "core/status_of.hpp"
#include "espalier/coarsening.hpp"
#include "incomplete/incomplete_factor.hpp"
#include "solver/generated.hpp"

namespace espalier {
namespace {

struct NamedRuntime {
    char const* name;
    ChunkRuntime runtime;
};

ChunkRuntime with_policy(SchedulePolicy policy, bool strict = false) {
    ChunkRuntime runtime;
    runtime.schedule.schedule = policy;
    runtime.schedule.strict = strict;
    return runtime;
}

/// The runtimes of this build, and the policies of Espalier's runtime.
std::vector<NamedRuntime> all_runtimes() {
    std::vector<NamedRuntime> all{{"static", with_policy(SchedulePolicy::static_order)},
                                  {"auto", with_policy(SchedulePolicy::automatic)},
                                  {"dynamic", with_policy(SchedulePolicy::dynamic_tree)},
                                  {"dynamic strict", with_policy(SchedulePolicy::dynamic_tree, true)},
                                  {"places", with_policy(SchedulePolicy::places)},
                                  {"nas", with_policy(SchedulePolicy::nas)},
                                  {"nas strict", with_policy(SchedulePolicy::nas, true)}};
    if (has_runtime(TaskRuntime::tbb)) all.push_back({"tbb", {.runtime = TaskRuntime::tbb}});
    if (has_runtime(TaskRuntime::openmp)) all.push_back({"openmp", {.runtime = TaskRuntime::openmp}});
    return all;
}

struct Applied {
    std::vector<double> x, transposed;
    IncompleteSizes sizes;
};

Applied apply(CscMatrix<double> const& a, WorkerTeam& team, ChunkRuntime const& runtime,
              std::string const& coarse_string, int block_size) {
    IncompleteOptions options;
    options.levels = 1;
    options.block_size = block_size;
    options.coarse_string = coarse_string;
    options.runtime = runtime;
    IncompleteFactor<double> factor(a, options, team);
    Index const nrhs = 5;
    std::vector<double> b(a.rows * nrhs);
    std::mt19937 random(3);
    for (double& entry : b) entry = std::uniform_real_distribution<double>(-1, 1)(random);
    std::vector<double> x(b.size()), transposed(b.size());
    for (int round = 0; round < 2; ++round) { // a second run gives the same result
        EXPECT_EQ(factor.factorize(a).replaced, 0);
        factor.solve(b.data(), x.data(), nrhs);
        factor.solve(b.data(), transposed.data(), nrhs, MatrixOp::transpose);
    }
    // The sweeps run one after the other.
    auto const rows = factor.row_of();
    std::vector<double> in_order(a.rows);
    for (Index k = 0; k < a.rows; ++k) in_order[k] = b[rows[k]];
    factor.solve_in_order(in_order.data(), TriangularPart::lower);
    factor.solve_in_order(in_order.data(), TriangularPart::upper);
    for (Index k = 0; k < a.rows; ++k) EXPECT_EQ(in_order[k], x[rows[k]]);
    return {std::move(x), std::move(transposed), factor.sizes()};
}

// Sanitizers take most of their time here. They run each runtime with each team and coarse string, but on one
// matrix.
#ifdef ESPALIER_SANITIZED
constexpr int matrices_of_case = 1;
#else
constexpr int matrices_of_case = 3;
#endif

TEST(ChunkRuns, GiveTheSameBitsOnEveryRuntime) {
    auto const two_nodes = Topology::synthetic("numa:2 core:2 pu:1");
    WorkerTeam one(Topology::detect(), 1), two(Topology::detect(), 2), four(two_nodes, 4);
    struct {
        char const* matrix;
        int block_size;
    } const cases[] = {{"lap3d:7", 1}, {"spe10like:4x5x3", 3}, {"convdiff3d:6", 1}};
    for (int c = 0; auto const& [spec, block_size] : cases) {
        int number = c++;
        auto const a = generated<double>(spec);
        auto const expected = apply(a, one, {}, "one", block_size);
        for (auto const& [name, runtime] : all_runtimes())
            for (WorkerTeam* const team : {&one, &two, &four})
                for (char const* text : {"", "none", "CD(4)", "D(40)", "F(8)"}) {
                    if (number++ % 3 >= matrices_of_case) continue;
                    SCOPED_TRACE(
                        fmt::format("{}, {}, {} workers, coarse string {}", spec, name, team->size(), text));
                    auto const found = apply(a, *team, runtime, text, block_size);
                    EXPECT_EQ(found.x, expected.x);
                    EXPECT_EQ(found.transposed, expected.transposed);
                }
    }
}

TEST(ChunkRuns, CountWaitsOfListsAndEdgesOfTasks) {
    WorkerTeam two(Topology::detect(), 2);
    auto const a = generated<double>("lap3d:6");
    auto const lists = apply(a, two, {}, "none", 1).sizes;
    EXPECT_EQ(lists.coarse_edges, 3 * 6 * 6 * 5 + /* fill of level 1 */ 3 * 5 * 5 * 6);
    EXPECT_LT(lists.synchronizations, 2 * lists.coarse_edges);
    auto const tasks = apply(a, two, with_policy(SchedulePolicy::nas), "none", 1).sizes;
    EXPECT_EQ(tasks.coarse_edges, lists.coarse_edges);
    EXPECT_EQ(tasks.synchronizations, 2 * lists.coarse_edges);
}

TEST(ChunkRuns, ReverseTheTasksOfABackwardSweep) {
    TaskGraph forward;
    std::vector<TaskEdge> const edges{{2, 0}, {0, 1}, {2, 1}};
    connect_tasks(forward, 4, edges);
    forward.cost = {1, 2, 4, 8};
    forward.home = {0, 1, 0, 1};
    EXPECT_EQ(path_priorities(forward), (std::vector<double>{3, 2, 7, 8}));
    auto const backward = reversed_tasks(forward);
    EXPECT_EQ(backward.num_predecessors, (std::vector<std::int32_t>{1, 0, 2, 0}));
    EXPECT_EQ(path_priorities(backward), (std::vector<double>{5, 7, 4, 8}));
    EXPECT_EQ(backward.home, forward.home);
}

// There are two virtual nodes with two workers each.
TEST(ChunkRuns, AreDistributedOverTheNodesWithNas) {
    WorkerTeam four(Topology::synthetic("numa:2 core:2 pu:1"), 4);
    auto const nodes = nodes_of(four);
    EXPECT_EQ(nodes.of_worker, (std::vector<int>{0, 0, 1, 1}));
    EXPECT_EQ(nodes.os_index.size(), 2u);
    auto const pattern = block_pattern(generated<double>("lap3d:12"), 1);
    auto const order = make_execution_order(pattern, 4, "CD(4)", nodes.of_worker);
    ASSERT_EQ(std::ssize(order.node_of_chunk), order.num_chunks());
    double cost[2] = {0, 0};
    for (WorkerId w = 0; w < 4; ++w)
        for (std::int32_t c = order.worker_ptr[w]; c < order.worker_ptr[w + 1]; ++c) {
            EXPECT_EQ(order.node_of_chunk[c], nodes.of_worker[w]);
            cost[order.node_of_chunk[c]] += order.tasks.cost[c];
        }
    EXPECT_LT(std::abs(cost[0] - cost[1]), 0.2 * (cost[0] + cost[1]));
    EXPECT_TRUE(make_execution_order(pattern, 4, "CD(4)").node_of_chunk.empty());
}

TEST(ChunkRuns, StayOnTheirNodeWithStrictNas) {
    WorkerTeam four(Topology::synthetic("numa:2 core:2 pu:1"), 4);
    auto const nodes = nodes_of(four);
    auto const pattern = block_pattern(generated<double>("lap3d:10"), 1);
    for (bool const strict : {true, false}) {
        auto order = make_execution_order(pattern, 4, "CD(4)", nodes.of_worker);
        ChunkRuns runs(order, four, with_policy(SchedulePolicy::nas, strict));
        std::atomic<int> elsewhere{0}, ran{0};
        auto const check = [&](std::int32_t chunk, WorkerId w) {
            ++ran;
            elsewhere += nodes.of_worker[w] != order.node_of_chunk[chunk];
        };
        runs.run(TriangularPart::both, check, check);
        EXPECT_EQ(ran, 2 * order.num_chunks());
        EXPECT_EQ(strict ? elsewhere.load() : 0, 0);
    }
}

TEST(ChunkRuns, PlaceTheirPagesWithNas) {
    WorkerTeam four(Topology::synthetic("numa:2 core:2 pu:1"), 4);
    auto const a = generated<double>("lap3d:24");
    for (auto const allocation : {Allocation::local, Allocation::interleave, Allocation::global}) {
        auto runtime = with_policy(SchedulePolicy::nas);
        runtime.schedule.allocation = allocation;
        auto const sizes = apply(a, four, runtime, "CD(4)", 1).sizes;
        EXPECT_EQ(sizes.moved_bytes, 0u); // the nodes are virtual
        if (allocation != Allocation::local) {
            EXPECT_TRUE(sizes.affinity_bytes.empty());
            continue;
        }
        ASSERT_EQ(sizes.affinity_bytes.size(), 2u);
        auto const total = static_cast<double>(sizes.affinity_bytes[0] + sizes.affinity_bytes[1]);
        EXPECT_GE(total, static_cast<double>(sizes.nnz_factor) * sizeof(double));
        EXPECT_GT(static_cast<double>(sizes.affinity_bytes[0]), 0.3 * total);
        EXPECT_GT(static_cast<double>(sizes.affinity_bytes[1]), 0.3 * total);
    }
    EXPECT_TRUE(apply(a, four, with_policy(SchedulePolicy::places), "CD(4)", 1).sizes.affinity_bytes.empty());
}

TEST(IncompleteFactor, CanBeCancelledDuringItsAnalysis) {
    WorkerTeam team(Topology::detect(), 2);
    auto const a = generated<double>("lap3d:6");
    for (int k = 1; k <= 4; ++k) {
        int calls = 0;
        Interrupt at_call([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(11)); // so that each check calls this
            return ++calls == k;
        });
        EXPECT_EQ(status_of([&] { IncompleteFactor<double>(a, {}, team, &at_call); }), Status::cancelled)
            << k;
        EXPECT_EQ(calls, k);
    }
}

// The interrupt is requested while rows are factorized. The factor can be used again.
TEST(ChunkRuns, CanBeCancelledOnEveryRuntime) {
    auto const a = generated<double>("lap3d:16");
    for (auto const& [name, runtime] : all_runtimes())
        for (char const* text : {"CD(4)", "one"}) {
            WorkerTeam team(Topology::detect(), 2);
            IncompleteOptions options;
            options.levels = 2;
            options.coarse_string = text;
            options.runtime = runtime;
            IncompleteFactor<double> factor(a, options, team);
            Interrupt at_once([] { return true; });
            EXPECT_EQ(status_of([&] { factor.factorize(a, {}, &at_once); }), Status::cancelled) << name;
            Interrupt failing([]() -> bool { throw Error(Status::bad_input, "the caller's function"); });
            Status const failed = status_of([&] { factor.factorize(a, {}, &failing); });
            EXPECT_EQ(failed, Status::bad_input) << name << " " << text;
            Interrupt never([] { return false; });
            EXPECT_EQ(factor.factorize(a, {}, &never).replaced, 0) << name;
        }
}

TEST(IncompleteFactor, AcceptsTheCoarseOperatorOfAProgram) {
    constexpr Index n = 12, width = 4; // squares of cells of a grid
    add_coarse_operator('P', CoarseArgument::none, [](TaskDependences const& tasks, std::optional<Index>) {
        std::vector<std::int32_t> squares(tasks.successor_ptr.size() - 1);
        for (Index task = 0; task < n * n; ++task)
            squares[task] = static_cast<std::int32_t>(task % n / width + task / n / width * (n / width));
        return squares;
    });
    auto const a = generated<double>("lap2d:12");
    WorkerTeam team(Topology::synthetic("core:2"), 2, false);
    IncompleteFactor<double> squares(a, {.coarse_string = "P"}, team), standard(a, {}, team);
    EXPECT_EQ(squares.sizes().chunks, 9);
    std::vector<double> const b(a.rows, 1.0);
    std::vector<double> x(a.rows), y(a.rows);
    squares.factorize(a);
    standard.factorize(a);
    squares.solve(b.data(), x.data());
    standard.solve(b.data(), y.data());
    EXPECT_EQ(x, y);
}

TEST(ChunkRuns, RefuseARuntimeThatTheBuildLacks) {
    WorkerTeam two(Topology::detect(), 2);
    auto const a = generated<double>("lap3d:3");
    for (auto const runtime : {TaskRuntime::tbb, TaskRuntime::openmp}) {
        IncompleteOptions options;
        options.runtime.runtime = runtime;
        EXPECT_EQ(status_of([&] { IncompleteFactor<double>(a, options, two); }),
                  has_runtime(runtime) ? Status::ok : Status::unsupported);
    }
}

} // namespace
} // namespace espalier
