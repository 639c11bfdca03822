// The system has no thread, or no memory to start one. The call ends with one clear error on all processes,
// or works without the thread. The same object works when it is called again.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/collective.hpp"
#include "comm/thread_processes.hpp"
#include "common/allocation_failure.hpp"
#include "common/failing_threads.hpp"
#include "core/error.hpp"
#include "core/status_of.hpp"
#include "espalier/coarsening.hpp"
#include "runtime/other_runtime.hpp"
#include "runtime/worker_team.hpp"
#include "solver/generated.hpp"
#include "solver/problems.hpp"

namespace espalier {
namespace {

#define SKIP_UNLESS_THREADS_FAIL()                                                                           \
    if (!failing_threads::possible) GTEST_SKIP() << "sanitizers replace pthread_create"

Error error_of_call(std::function<void()> const& call) {
    try {
        call();
        return {Status::ok, ""};
    } catch (...) {
        return current_error();
    }
}

// Repeats `call` until no failure is reached, with a later failure each time of the resource that `countdown`
// counts. Calls `again` after each failure. Returns the number of failures that were errors.
int fail_each(std::atomic<long>& countdown, std::function<void()> const& call,
              std::function<void()> const& again) {
    int errors = 0;
    for (long k = 0;; ++k) {
        SCOPED_TRACE(k);
        countdown = k;
        Error const error = error_of_call(call);
        bool const reached = countdown.exchange(-1) < 0;
        if (error.status() != Status::ok) {
            EXPECT_TRUE(reached);
            EXPECT_EQ(error.status(), Status::out_of_memory) << error.what();
            ++errors;
        }
        again();
        if (!reached || testing::Test::HasFailure()) return errors;
    }
}

TEST(LackOfThreads, GivesAClearErrorOfATeam) {
    SKIP_UNLESS_THREADS_FAIL();
    auto const start = [] {
        WorkerTeam(Topology::synthetic("core:4"), 4, false).for_each_worker([](WorkerId) {});
    };
    EXPECT_EQ(fail_each(failing_threads::countdown, start, [] {}), 3);
    failing_threads::countdown = 1;
    EXPECT_TRUE(throws_error(Status::out_of_memory, "cannot start a worker: Resource temporarily unavailable",
                             start));
}

TEST(LackOfThreads, EndsARunOfCoarseTasksWhichThenWorkAgain) {
    std::vector<std::int64_t> const ptr{0, 1, 2, 2};
    std::vector<std::int32_t> const successors{1, 2};
    for (auto* const countdown : {&failing_threads::countdown, &failing_new::countdown}) {
        if (countdown == &failing_threads::countdown && !failing_threads::possible) continue;
        CoarseTasks const tasks({ptr, successors, {}}, "S");
        auto const run = [&](int threads) {
            std::atomic<int> done{0};
            tasks.run(
                [&](std::span<std::int32_t const> parts, int) { done += static_cast<int>(parts.size()); },
                {.threads = threads});
            if (done != 3) throw Error(Status::internal, "a task was not run");
        };
        run(2);
        // The next run has the settings of the last successful one, whose threads have ended.
        EXPECT_GT(fail_each(*countdown, [&] { run(4); }, [&] { run(2); }), 2);
    }
}

// oneTBB and OpenMP themselves end the program if they cannot start a thread.
TEST(LackOfThreads, IsAClearErrorOfOtherRuntimesWhichThenWorkAgain) {
    SKIP_UNLESS_THREADS_FAIL();
    std::vector<std::int64_t> const ptr{0, 1, 2, 2};
    std::vector<std::int32_t> const successors{1, 2};
    CoarseTasks tasks({ptr, successors, {}}, "S");
    for (TaskRuntime const runtime : {TaskRuntime::tbb, TaskRuntime::openmp}) {
        if (!has_runtime(runtime)) continue;
        auto const run = [&](int threads) {
            std::atomic<int> done{0};
            tasks.run(
                [&](std::span<std::int32_t const> parts, int) { done += static_cast<int>(parts.size()); },
                {.threads = threads, .runtime = runtime});
            EXPECT_EQ(done, 3);
        };
        failing_threads::keeps_failing = true;
        for (long const k : {0L, 1L, 2L}) {
            failing_threads::countdown = k;
            EXPECT_TRUE(throws_error(Status::out_of_memory,
                                     "cannot start 3 threads: Resource temporarily unavailable",
                                     [&] { run(4); }));
            failing_threads::countdown = -1;
            run(2);
        }
        failing_threads::keeps_failing = false;
        run(4);
    }
}

// Threads order in the background, serve as workers, or help in single steps, which also work without them.
TEST(LackOfThreads, EndsOrSlowsACallOfASolverWhichThenWorksAgain) {
    SKIP_UNLESS_THREADS_FAIL();
    auto const a = generated<double>("lap3d:8");
    std::vector<double> const b(static_cast<std::size_t>(a.cols), 1.0);
    int errors = 0, turn = 0;
    for (bool const keeps_failing : {false, true}) {
        failing_threads::keeps_failing = keeps_failing;
        Options options = many_tasks(SchedulePolicy::dynamic_tree, Splitting::one_d, 3);
        options.cancel = [] { return false; };
        auto solver = std::make_unique<Solver<double>>(options);
        auto const solve_all = [&] {
            // every second call uses the same solver
            if (++turn % 2 == 0) solver = std::make_unique<Solver<double>>(options);
            solver->analyze(a);
            solver->factorize(a);
            EXPECT_EQ(solve_and_refine(*solver, a, b).status, Status::ok);
        };
        for (long k = 0; k < 40; ++k) {
            failing_threads::countdown = k;
            Error const error = error_of_call(solve_all);
            failing_threads::countdown = -1;
            EXPECT_TRUE(error.status() == Status::ok || error.status() == Status::out_of_memory)
                << error.what();
            if (error.status() != Status::ok) {
                ++errors;
                EXPECT_NE(std::string(error.what()).find("cannot start a"), std::string::npos)
                    << error.what();
            }
            --turn;
            EXPECT_EQ(error_of_call(solve_all).status(), Status::ok);
        }
    }
    failing_threads::keeps_failing = false;
    EXPECT_GT(errors, 3);
}

TEST(LackOfThreads, DoesNotConcernSmallSystems) {
    SKIP_UNLESS_THREADS_FAIL();
    auto const a = generated<double>("convdiff3d:3");
    std::vector<double> const b(static_cast<std::size_t>(a.cols), 1.0);
    constexpr long many = 1'000;
    for (Toggle const supernodes : {Toggle::off, Toggle::on}) {
        Options options;
        options.threads = 2;
        options.supernodes = supernodes;
        options.calibration = Toggle::off; // calibrated costs of a slow machine may be worth a thread
        options.cancel = [] { return false; };
        failing_threads::countdown = many; // each thread that starts decrements it
        Solver<double> solver(options);
        solver.factorize(a);
        EXPECT_EQ(solve_and_refine(solver, a, b).status, Status::ok);
        EXPECT_EQ(failing_threads::countdown.exchange(-1), many);
    }
}

TEST(LackOfThreads, OfOneProcessEndsTheCallOnAll) {
    SKIP_UNLESS_THREADS_FAIL();
    auto const a = generated<double>("lap3d:6");
    std::vector<double> const b(static_cast<std::size_t>(a.cols), 1.0);
    for (int const comm_threads : {1, 2}) {
        std::vector<Error> outcomes(3, Error(Status::ok, ""));
        int errors = 0;
        bool goes_on = true;
        run_processes(3, [&](Communicator const& comm) {
            auto const rank = static_cast<std::size_t>(comm.rank());
            auto const& mine = on_process_0(comm, a);
            Options options = many_tasks(SchedulePolicy::static_order, Splitting::one_d, 2);
            options.comm_threads = comm_threads;
            Solver<double> solver(options, comm);
            solver.analyze(mine);
            for (long k = 0; goes_on; ++k) {
                barrier(comm);
                if (rank == 0) failing_threads::countdown = k;
                barrier(comm);
                outcomes[rank] = error_of_call([&] { solver.factorize(mine); });
                barrier(comm);
                if (rank == 0) {
                    for (Error const& one : outcomes)
                        EXPECT_EQ(one.status(), outcomes[0].status()) << one.what();
                    if (outcomes[0].status() != Status::ok) {
                        ++errors;
                        EXPECT_EQ(outcomes[0].status(), Status::out_of_memory) << outcomes[0].what();
                    }
                    goes_on = failing_threads::countdown.exchange(-1) < 0 && !testing::Test::HasFailure();
                }
                barrier(comm);
                solver.factorize(mine);
                EXPECT_EQ(solve_and_refine(solver, mine, on_process_0(comm, b)).status, Status::ok);
            }
        });
        EXPECT_GE(errors, 3 * comm_threads) << comm_threads;
    }
}

} // namespace
} // namespace espalier
