// Runs every factorization and scalar with every schedule, allocation and splitting.
#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/scalar.hpp"
#include "core/status_of.hpp"

#include "solver/generated.hpp"
#include "solver/problems.hpp"

namespace espalier {
namespace {

using enum SchedulePolicy;
template <class T> class Schedules : public ::testing::Test {};
TYPED_TEST_SUITE(Schedules, test::Scalars);

TYPED_TEST(Schedules, AllSolveToTheSameBackwardError) {
    using T = TypeParam;
    for (auto const& [spec, kind] : problems<T>()) {
        CscMatrix<T> matrix = generated<T>(spec);
        if (kind == Factorization::llh && is_complex<T>) matrix.symmetry = Symmetry::hermitian;
        std::vector<T> const b(static_cast<std::size_t>(matrix.rows), T(1));
        for (SchedulePolicy const schedule : all_schedules)
            for (Splitting const splitting : {Splitting::one_d, Splitting::two_d, Splitting::dynamic})
                for (int const threads : {2, 4}) {
                    Options options = many_tasks(schedule, splitting, threads);
                    options.factorization = kind;
                    options.refine = RefineMethod::none;
                    options.topology = "numa:2 core:2";
                    options.allocation = threads == 2 ? Allocation::local : Allocation::interleave;
                    auto solver = factorized(matrix, options);
                    EXPECT_LE(solve_and_refine(solver, matrix, b).backward_error,
                              1e3 * static_cast<double>(epsilon<T>))
                        << fmt::format("{} {} {} {} {}", spec, to_string(kind), to_string(schedule),
                                       to_string(splitting), threads);
                }
    }
}

TEST(DynamicSchedules, TwoDimensionsMakeMoreTasks) {
    auto const matrix = generated<double>("lap3d:8");
    for (SchedulePolicy const schedule : all_schedules) {
        Index tasks[2];
        for (Splitting const splitting : {Splitting::one_d, Splitting::two_d}) {
            auto solver = factorized(matrix, many_tasks(schedule, splitting, 4));
            tasks[splitting == Splitting::two_d] = solver.report().factor.tasks;
        }
        EXPECT_GT(tasks[1], tasks[0] + 20) << to_string(schedule);
    }
}

// Workers are idle near the root of the tree, so some run divides a task.
TEST(DynamicSchedules, TasksAreDividedWhileTheyRun) {
    auto const matrix = generated<double>("lap3d:12");
    for (SchedulePolicy const schedule : all_schedules) {
        Options options = many_tasks(schedule, Splitting::dynamic, 4);
        auto solver = factorized(matrix, options);
        if (schedule == static_order) {
            EXPECT_EQ(solver.report().factor.tasks_divided, 0);
            continue;
        }
        // On a loaded machine the threads may seldom run at the same time.
        auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (solver.report().factor.tasks_divided == 0 && std::chrono::steady_clock::now() < deadline)
            solver.factorize(matrix);
        EXPECT_GT(solver.report().factor.tasks_divided, 0) << to_string(schedule);
    }
}

// Blocks above the subtrees have up to 93 columns. TasksAreDividedWhileTheyRun waits until threads are idle
// at the right time; this test does not.
TEST(DynamicSchedules, DividedDiagonalBlocksGiveTheSameSolution) {
    auto const matrix = generated<double>("elast3d:6");
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1.0);
    for (Factorization const kind : {Factorization::llh, Factorization::ldlt, Factorization::lu}) {
        Options options = many_tasks(dynamic_tree, Splitting::dynamic, 4);
        options.factorization = kind;
        options.refine = RefineMethod::none;
        options.max_block_width = 96;
        options.split_width = 12;
        auto solver = factorized(matrix, options);
        options.splitting = Splitting::one_d;
        std::vector<double> const whole = factorized(matrix, options).solve(b);
        double const scale = *std::ranges::max_element(whole);
        for (int run = 0; run < 4; ++run) {
            solver.factorize(matrix);
            std::vector<double> const x = solver.solve(b);
            for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], whole[i], 1e-11 * scale);
        }
    }
}

TEST(DynamicSchedules, SplittingWithoutEffectIsNoted) {
    auto const matrix = generated<double>("lap3d:8");
    for (Splitting const splitting : {Splitting::one_d, Splitting::two_d, Splitting::dynamic})
        for (Index const width : {6, 1000}) {
            Options options = many_tasks(dynamic_tree, splitting, 2);
            options.split_width = width;
            auto const notes = factorized(matrix, options).report().notes;
            bool const noted = std::ranges::any_of(notes, [](std::string const& note) {
                return note.find("has no effect with 2 threads: no column block has 1000 columns") !=
                       std::string::npos;
            });
            EXPECT_EQ(noted, splitting != Splitting::one_d && width == 1000);
        }
    std::pair<Options, char const*> const others[] = {
        {many_tasks(dynamic_tree, Splitting::two_d, 1), "split 2d has no effect with one thread"},
        {many_tasks(static_order, Splitting::dynamic, 2),
         "split dynamic has no effect with the static schedule, whose lists fix all tasks"}};
    for (auto const& [options, note] : others) {
        auto const notes = factorized(matrix, options).report().notes;
        EXPECT_EQ(std::ranges::count(notes, std::string(note)), 1) << note;
    }
}

TEST(DynamicSchedules, EveryStrategyOfPlacesSolves) {
    auto const matrix = generated<double>("lap3d:7");
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1.0);
    for (char const* const push : {"pLoc", "pLocNum", "pNumaW", "pNumaWLoc"})
        for (char const* const select : {"sRand", "sRandNuma", "sProc", "sNuma", "sProcNuma", "sNumaProc"}) {
            Options options = many_tasks(places, Splitting::two_d, 4);
            options.topology = "numa:2 core:2";
            set_option(options, "push", push);
            set_option(options, "select", select);
            options.strict = std::string_view(select) == "sNuma";
            options.push_init = options.strict ? PushInit::randnuma : PushInit::cyclicnuma;
            auto solver = factorized(matrix, options);
            EXPECT_EQ(solve_and_refine(solver, matrix, b).status, Status::ok) << push << " " << select;
            FactorReport const& report = solver.report().factor;
            double steals = 0;
            for (double const count : report.steals_by_distance) steals += count;
            EXPECT_EQ(steals, static_cast<double>(report.steals));
        }
}

TEST(DynamicSchedules, KeepTheUnknownsOfASchurComplement) {
    auto const matrix = generated<double>("lap3d:7");
    DenseMatrix<double> expected;
    for (SchedulePolicy const schedule : all_schedules) {
        Options options = many_tasks(schedule, Splitting::two_d, 4);
        for (Index i = 0; i < 40; ++i) options.schur.push_back(i * 8);
        auto solver = factorized(matrix, options);
        DenseMatrix<double> const schur = solver.schur_complement();
        if (schedule == static_order) expected = schur;
        ASSERT_EQ(schur.values.size(), expected.values.size());
        for (std::size_t i = 0; i < schur.values.size(); ++i)
            ASSERT_NEAR(schur.values[i], expected.values[i], 1e-12);
    }
}

TEST(DynamicSchedules, NameTheRowThatIsNotPositive) {
    auto matrix = generated<double>("lap3d:7");
    matrix.values[matrix.col_ptr[100]] = -5;
    for (SchedulePolicy const schedule : all_schedules) {
        Options options = many_tasks(schedule, Splitting::two_d, 4);
        options.factorization = Factorization::llh;
        Solver<double> solver(options);
        EXPECT_TRUE(throws_error(Status::not_positive_definite, "column 101 of the matrix", [&] {
            solver.factorize(matrix);
        })) << to_string(schedule);
        matrix.values[matrix.col_ptr[100]] = 6;
        solver.factorize(matrix); // the solver can be used again
        matrix.values[matrix.col_ptr[100]] = -5;
    }
}

TEST(DynamicSchedules, KnowWhichNumaNodesAreNear) {
    // Behind the nearest node of the four, in the same package, those of the other package come at
    // distance 3.
    Options options = many_tasks(nas, Splitting::two_d, 0);
    options.topology = "package:2 numa:2 core:2";
    Solver<double> solver(options);
    auto const matrix = generated<double>("lap3d:10");
    solver.analyze(matrix);
    EXPECT_EQ(solver.predict(1, 8).steals_by_distance.size(), 4u);
    bool seen = false; // not in each run, because threads vary in time
    for (int run = 0; run < 50 && !seen; ++run) {
        solver.factorize(matrix);
        seen = solver.report().factor.steals_by_distance.size() == 4;
        ASSERT_LE(solver.report().factor.steals_by_distance.size(), 4u);
    }
    EXPECT_TRUE(seen);
}

} // namespace
} // namespace espalier
