// Dense right-hand sides. Each factorization, scalar and op is checked by a product with the dense matrix,
// for several partitions of the tree into branches.
#include "solve/solve.hpp"

#include <chrono>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "solve/system.hpp"

namespace espalier {
namespace {

using namespace testing;

template <class T> class SolveTyped : public ::testing::Test {};
TYPED_TEST_SUITE(SolveTyped, Scalars);

template <class T> bool has_local_permutation(Factor<T> const& factor) {
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) {
        auto const perm = factor.perm(k);
        for (std::size_t i = 0; i < perm.size(); ++i)
            if (perm[i] != static_cast<std::int32_t>(i)) return true;
    }
    return false;
}

// The residual of a backward stable solve is small beside |A| |x|, whatever the condition of A.
TYPED_TEST(SolveTyped, SolvesWithEveryOpOfEveryFactorization) {
    using T = TypeParam;
    Index const n = 90;
    for (Factorization const kind : all_factorizations) {
        auto const a = random_system<T>(kind, n, 7);
        for (int const workers : {1, 3}) {
            Factorized<T> f(a, kind, workers);
            EXPECT_GT(f.plan.partition.branches.size(), 5U); // the partition has several branches
            EXPECT_GT(std::ranges::count(f.plan.solve.tasks, SolveTaskKind::backward_rows, &SolveTask::kind),
                      2);
            if (kind == Factorization::lu || f.factor.form().has_d()) {
                EXPECT_TRUE(has_local_permutation(f.factor));
            }
            for (MatrixOp const op : all_ops)
                for (Index const nrhs : {1, 2, 5, 67}) {
                    auto const x = random_vector<T>(n * nrhs, 3);
                    auto const b = product(to_dense(a, op), x);
                    auto solved = b;
                    solve<T>(f.factor, f.plan, f.view(solved), f.team, {op, nullptr});
                    auto const back = product(to_dense(a, op), solved);
                    ASSERT_LE(difference(back, b), 1e4 * epsilon<T>)
                        << to_string(kind) << ", op " << to_string(op) << ", " << nrhs << " columns, "
                        << workers << " workers";
                }
        }
    }
}

TEST(Solve, ReturnsAKnownSolutionOnAMesh) {
    auto const a = real("elast3d:4");
    for (int const cut_for : {1, 2, 7}) {
        Factorized<double> f(a, Factorization::llh, 2, cut_for);
        auto const x = random_vector<double>(a.cols * 3, 1);
        auto solved = product(to_dense(a), x);
        solve<double>(f.factor, f.plan, f.view(solved), f.team);
        EXPECT_LE(difference(solved, x), 1e-11) << "cut for " << cut_for;
    }
}

// The workspace holds the numbers of an earlier sweep, here not-a-numbers.
TEST(Solve, KeptMemoryGivesTheSameBits) {
    auto const a = real("elast3d:5");
    for (Factorization const kind : {Factorization::llh, Factorization::ldlt}) {
        Factorized<double> f(a, kind, 2);
        Workspace memory;
        for (Index const nrhs : {64, 1, 8, 13}) {
            auto const b = random_vector<double>(a.cols * nrhs, 3);
            auto once = b, again = b, bad = b;
            std::ranges::fill(bad, std::numeric_limits<double>::quiet_NaN());
            solve<double>(f.factor, f.plan, f.view(bad), f.team, {.memory = &memory});
            std::byte const* const kept = memory.as<std::byte>();
            solve<double>(f.factor, f.plan, f.view(once), f.team);
            solve<double>(f.factor, f.plan, f.view(again), f.team, {.memory = &memory});
            EXPECT_EQ(memory.as<std::byte>(), kept);
            EXPECT_EQ(once, again) << to_string(kind) << ", " << nrhs << " columns";
        }
    }
}

TEST(Solve, LeavesEntriesBetweenTheColumnsUnchanged) {
    auto const a = random_system<double>(Factorization::lu, 40, 2);
    Index const ld = 47;
    for (int const workers : {1, 2, 3})
        for (Index const nrhs : {3, 20}) { // few columns move branch by branch, many at once
            Factorized<double> f(a, Factorization::lu, workers);
            std::vector<double> x(static_cast<std::size_t>(ld * nrhs), 1.0);
            solve<double>(f.factor, f.plan, {x.data(), 40, nrhs, ld}, f.team);
            for (Index j = 0; j < nrhs; ++j) {
                EXPECT_NE(x[static_cast<std::size_t>(j * ld + 39)], 1.0);
                for (Index i = 40; i < ld; ++i) EXPECT_EQ(x[static_cast<std::size_t>(j * ld + i)], 1.0);
            }
        }
}

// The calling thread then does the work of all workers.
TEST(Solve, MovesManyColumnsOfAShortRun) {
    constexpr Index n = 12, ld = 30, nrhs = 8;
    auto const a = random_system<double>(Factorization::lu, n, 2);
    for (int const workers : {1, 2, 3}) {
        Factorized<double> f(a, Factorization::lu, workers);
        ASSERT_TRUE(is_short(f.plan.solve.graph, workers, nrhs));
        std::vector<double> x(ld * nrhs, 1.0), one(n, 1.0);
        solve<double>(f.factor, f.plan, {x.data(), n, nrhs, ld}, f.team);
        solve<double>(f.factor, f.plan, {one.data(), n, 1, n}, f.team);
        for (Index j = 0; j < nrhs; ++j)
            for (Index i = 0; i < ld; ++i) EXPECT_NEAR(x[i + j * ld], i < n ? one[i] : 1.0, 1e-12);
    }
}

TEST(Solve, RefusesRightHandSidesOfAnotherSize) {
    auto const a = random_system<double>(Factorization::lu, 40, 2);
    Factorized<double> f(a, Factorization::lu, 1);
    std::vector<double> x(100);
    auto const status_for = [&](MatrixView<double> view) {
        return status_of([&] { solve<double>(f.factor, f.plan, view, f.team); });
    };
    EXPECT_EQ(status_for({x.data(), 39, 2, 40}), Status::usage);
    EXPECT_EQ(status_for({x.data(), 41, 2, 41}), Status::usage);
    EXPECT_EQ(status_for({x.data(), 40, 2, 39}), Status::usage);
    EXPECT_EQ(status_for({x.data(), 40, 0, 40}), Status::ok);
    EXPECT_EQ(status_for({x.data(), 40, 2, 40}), Status::ok);
    f.structure.first_kept_cblk = f.structure.num_cblks() - 1;
    EXPECT_EQ(status_for({x.data(), 40, 2, 40}), Status::usage);
}

TEST(Solve, StopsWhenItIsCancelledAndCanBeUsedAgain) {
    auto const a = real("lap3d:8");
    for (int const workers : {1, 3}) {
        Factorized<double> f(a, Factorization::llh, workers);
        auto const b = random_vector<double>(a.cols, 5);
        auto x = b;
        Interrupt interrupt;
        interrupt.request();
        EXPECT_EQ(status_of([&] {
                      solve<double>(f.factor, f.plan, f.view(x), f.team, {MatrixOp::none, &interrupt});
                  }),
                  Status::cancelled);
        x = b;
        solve<double>(f.factor, f.plan, f.view(x), f.team);
        EXPECT_LE(difference(product(to_dense(a), x), b), 1e-12);
    }
}

// One worker and one branch: there are three checks between the tasks, so the fourth is inside a task.
TEST(Solve, ChecksForCancellationInsideABranch) {
    auto const a = real("lap3d:12");
    Factorized<double> f(a, Factorization::llh, 1, 1);
    ASSERT_EQ(f.plan.partition.branches.size(), 1U);
    int asked = 0;
    Interrupt interrupt([&] {
        // long enough that every check calls this function
        std::this_thread::sleep_for(std::chrono::milliseconds(11));
        return ++asked > 3;
    });
    auto b = random_vector<double>(a.cols * 60, 5);
    EXPECT_THROW(solve<double>(f.factor, f.plan, f.view(b), f.team, {MatrixOp::none, &interrupt}), Error);
    EXPECT_EQ(asked, 4);
}

// Contributions are added in the same order whichever worker computes them.
TEST(Solve, EveryPolicyGivesTheSameBits) {
    auto const a = real("lap3d:8");
    Factorized<double> f(a, Factorization::llh, 3, 3);
    auto const b = random_vector<double>(a.cols * 3, 1);
    auto expected = b;
    solve<double>(f.factor, f.plan, f.view(expected), f.team);
    for (PushInit const init : {PushInit::cyclicnuma, PushInit::randnuma})
        for (SchedulePolicy const policy :
             {SchedulePolicy::dynamic_tree, SchedulePolicy::places, SchedulePolicy::nas}) {
            MachineModel machine;
            machine.threads = 3;
            machine.node_of_thread = {0, 0, 1};
            ScheduleOptions options = f.options_of_plan();
            options.schedule = policy;
            options.push_init = init;
            FactorPlan plan = make_factor_plan(f.structure, CostModel{}, machine, options);
            auto x = b;
            for (int turn = 0; turn < 3; ++turn) {
                x = b;
                solve<double>(f.factor, plan, f.view(x), f.team);
                ASSERT_EQ(x, expected) << to_string(policy);
            }
        }
}

} // namespace
} // namespace espalier
