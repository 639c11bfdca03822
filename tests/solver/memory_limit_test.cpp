// Options::max_memory bounds whole calls: analysis, right-hand sides, and the vectors of methods.
#include <numeric>

#include <gtest/gtest.h>

#include "core/status_of.hpp"
#include "espalier/distributed.hpp"
#include "espalier/espalier.hpp"

#include "comm/thread_processes.hpp"
#include "solver/generated.hpp"
#include "solver/problems.hpp"

namespace espalier {
namespace {

std::vector<double> ones(Index n, Index columns = 1) {
    return std::vector<double>(static_cast<std::size_t>(n * columns), 1.0);
}

std::uint64_t predicted(CscMatrix<double> const& a, Options options) {
    options.max_memory = 0;
    Solver<double> solver(options);
    solver.analyze(a);
    return solver.report().analysis.memory_bytes;
}

TEST(MemoryLimit, AtThePredictionAllowsOneRightHandSideAndRefuses500) {
    auto const a = generated<double>("lap3d:16");
    Options options = on_threads(1);
    options.max_memory = predicted(a, options);
    Solver<double> solver(options);
    solver.factorize(a);
    auto const b = ones(a.rows);
    auto x = solver.solve(b);
    EXPECT_TRUE(solver.refine(a, b, x).converged);

    auto const many = ones(a.rows, 500);
    EXPECT_TRUE(throws_error(Status::out_of_memory, "a solve with 500 right-hand sides needs",
                             [&] { (void)solver.solve(many, 500); }));
    std::vector<double> out = many;
    EXPECT_TRUE(throws_error(Status::out_of_memory, "a refinement with 500 right-hand sides needs",
                             [&] { (void)solver.refine(a, many, out, 500); }));
    EXPECT_EQ(out, many); // x is unchanged
    EXPECT_EQ(solver.solve(b), x);
}

// The basis of GMRES has the length that the limit allows.
TEST(MemoryLimit, BoundsTheVectorsOfGmres) {
    auto const a = generated<double>("convdiff3d:12");
    Options options = on_threads(1);
    options.supernodes = Toggle::on;
    options.refine = RefineMethod::gmres;
    std::uint64_t const vector = static_cast<std::uint64_t>(a.rows) * sizeof(double);
    std::uint64_t const least = predicted(a, options);
    int refused = 0, passed = 0;
    for (std::uint64_t const vectors : {0, 40}) {
        options.max_memory = least + vectors * vector;
        Solver<double> solver(options);
        solver.factorize(a);
        auto const b = ones(a.rows);
        auto x = b; // is not a solution
        auto const status = status_of([&] { passed += solver.refine(a, b, x).converged; });
        refused += status == Status::out_of_memory;
    }
    EXPECT_EQ(refused, 1);
    EXPECT_EQ(passed, 1);
}

TEST(MemoryLimit, CountsTheAnalysis) {
    auto const a = generated<double>("lap2d:60");
    Options options = on_threads(1);
    options.supernodes = Toggle::on;
    options.max_memory = 100'000;
    Solver<double> solver(options);
    EXPECT_TRUE(throws_error(Status::out_of_memory, "the analysis needs", [&] { solver.analyze(a); }));
}

// The processes of one computer share its memory, and the limit.
TEST(MemoryLimit, AppliesToAllProcessesOfAComputer) {
    auto const a = generated<double>("lap3d:8");
    Options options = many_tasks(SchedulePolicy::static_order, Splitting::one_d, 1);
    std::uint64_t sum = 0, most = 0;
    for (int turn = 0; turn < 3; ++turn) {
        if (turn > 0) options.max_memory = turn == 1 ? (sum + most) / 2 : sum;
        run_processes(2, [&](Communicator const& comm) {
            Solver<double> solver(options, comm);
            CscMatrix<double> const mine = on_process_0(comm, a);
            Status const status = status_of([&] { solver.factorize(mine); });
            EXPECT_EQ(status, turn == 1 ? Status::out_of_memory : Status::ok);
            if (turn > 0 || comm.rank() != 0) return;
            auto const& needs = solver.report().analysis.memory_bytes_of_process;
            sum = std::accumulate(needs.begin(), needs.end(), std::uint64_t{0});
            most = solver.report().analysis.memory_bytes;
        });
        ASSERT_LT(most, sum);
    }
}

} // namespace
} // namespace espalier
