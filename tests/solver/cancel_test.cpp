// Every step can be cancelled, returns soon, and leaves the solver usable.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "core/background.hpp"
#include "core/status_of.hpp"
#include "espalier/coarsening.hpp"
#include "solver/generated.hpp"
#include "solver/systems.hpp"

namespace espalier {
namespace {

TEST(Cancel, EndsEveryStepAndLeavesTheSolverUsable) {
    auto const a = generated<double>("lap3d:12");
    bool cancel = false;
    Options options = on_threads(2);
    options.cancel = [&] { return cancel; };
    Solver<double> solver(options);
    std::vector<double> const b(static_cast<std::size_t>(a.cols), 1.0);
    std::vector<double> x(b);

    cancel = true;
    EXPECT_EQ(status_of([&] { solver.analyze(a); }), Status::cancelled);
    cancel = false;
    solver.analyze(a);
    cancel = true;
    EXPECT_EQ(status_of([&] { solver.factorize(a); }), Status::cancelled);
    EXPECT_THROW((void)solver.solve(b), Error); // there are no factors
    cancel = false;
    solver.factorize(a);
    cancel = true;
    EXPECT_EQ(status_of([&] { x = solver.solve(b); }), Status::cancelled);
    EXPECT_EQ(status_of([&] { solver.refine(a, b, x); }), Status::cancelled);
    cancel = false;
    EXPECT_EQ(solve_and_refine(solver, a, b).status, Status::ok);
}

// The first operator asks for it, and the second one is not called.
TEST(Cancel, EndsTheAggregationOfRows) {
    auto const a = generated<double>("lap3d:6");
    static std::atomic<bool> cancel, called; // the operators outlive the test
    static auto const blocks = [](TaskDependences const& tasks) {
        std::vector<std::int32_t> block_of(tasks.successor_ptr.size() - 1);
        for (std::size_t t = 0; t < block_of.size(); ++t) block_of[t] = static_cast<std::int32_t>(t / 2);
        return block_of;
    };
    add_coarse_operator('Y', CoarseArgument::none, [](TaskDependences const& tasks, auto) {
        cancel = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the callback is called every 10 ms
        return blocks(tasks);
    });
    add_coarse_operator('Z', CoarseArgument::none, [](TaskDependences const& tasks, auto) {
        called = true;
        return blocks(tasks);
    });
    Options options = on_threads(2);
    options.method = SolveMethod::ilu;
    options.coarsen = "YZ";
    options.cancel = [] { return cancel.load(); };
    Solver<double> solver(options);
    EXPECT_EQ(status_of([&] { solver.analyze(a); }), Status::cancelled);
    EXPECT_FALSE(called);
}

TEST(Cancel, AnExceptionOfTheCallbackIsRethrown) {
    auto const a = generated<double>("lap2d:20");
    Options options = on_threads(2);
    options.cancel = []() -> bool { throw Error(Status::io_error, "thrown by the callback"); };
    EXPECT_EQ(status_of([&] { Solver<double>(options).factorize(a); }), Status::io_error);
}

TEST(Background, ReturnsWhileTheWorkContinues) {
    using Clock = std::chrono::steady_clock;
    auto const finished = std::make_shared<std::atomic<bool>>(false);
    {
        Background background;
        Interrupt interrupt([] { return true; });
        auto const start = Clock::now();
        EXPECT_THROW(background.run(
                         [finished] {
                             std::this_thread::sleep_for(std::chrono::milliseconds(300));
                             *finished = true;
                         },
                         interrupt),
                     Error);
        EXPECT_FALSE(*finished);
        EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(290));
    }
    EXPECT_TRUE(*finished); // the end of `background` waited for it
}

TEST(Background, RethrowsAndCanBeUsedAgain) {
    Background background;
    Interrupt interrupt;
    EXPECT_THROW(background.run([] { throw Error(Status::usage, "thrown by the job"); }, interrupt), Error);
    int done = 0;
    background.run([&] { ++done; }, interrupt);
    EXPECT_EQ(done, 1);
}

} // namespace
} // namespace espalier
