// Systems solved with an incomplete factorization as preconditioner.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numeric>

#include "analysis/choose_method.hpp"
#include "comm/thread_processes.hpp"
#include "core/status_of.hpp"
#include "matrix/convert.hpp"
#include "runtime/other_runtime.hpp"
#include "solver/generated.hpp"
#include "solver/systems.hpp"

namespace espalier {
namespace {

Options with_ilu(Index levels = 0, int threads = 2) {
    Options options = on_threads(threads);
    options.method = SolveMethod::ilu;
    options.levels = levels;
    return options;
}

template <class T> double bound_of_incomplete() {
    return sizeof(Real<T>) == sizeof(double) ? 1e-12 : 1e-5;
}

template <class T> struct IncompleteRun {
    RefineReport refine;
    Report report;
    std::vector<T> x;
};

template <class T> IncompleteRun<T> run_incomplete(CscMatrix<T> const& a, Options const& options,
                                                   Index nrhs = 1, MatrixOp op = MatrixOp::none) {
    Solver<T> solver(options);
    solver.factorize(a);
    auto const b = random_vector<T>(a.cols * nrhs, 7);
    std::vector<T> x = solver.solve(b, nrhs, op);
    RefineReport const refine = solver.refine(a, b, x, nrhs, op);
    return {refine, solver.report(), std::move(x)};
}

template <class T> class IncompleteMethodOf : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(IncompleteMethodOf, Scalars);

TYPED_TEST(IncompleteMethodOf, SolvesSystemsOfEveryKindAndOperation) {
    using T = TypeParam;
    std::vector<char const*> specs{"lap3d:6", "convdiff3d:5", "spe10like:3x4x2"};
    if (is_complex<T>) specs.push_back("hermitian3d:5");
    for (char const* spec : specs)
        for (auto const op : {MatrixOp::none, MatrixOp::transpose, MatrixOp::adjoint})
            for (Index const nrhs : {1, 5}) {
                auto const found = run_incomplete(generated<T>(spec), with_ilu(1), nrhs, op);
                EXPECT_EQ(found.refine.status, Status::ok) << spec << " " << to_string(op);
                EXPECT_LE(found.refine.backward_error, bound_of_incomplete<T>())
                    << spec << " " << to_string(op);
                EXPECT_GT(found.report.incomplete.iterations, 0);
            }
}

TYPED_TEST(IncompleteMethodOf, TakesEveryOrderingAndCoarsening) {
    using T = TypeParam;
    auto const a = generated<T>("convdiff3d:4");
    for (auto const ordering : {OrderingMethod::automatic, OrderingMethod::scotch, OrderingMethod::metis,
                                OrderingMethod::amd, OrderingMethod::natural, OrderingMethod::rcm}) {
        Options options = with_ilu();
        options.ordering = ordering;
        auto const found = run_incomplete(a, options);
        EXPECT_EQ(found.refine.status, Status::ok) << to_string(ordering);
        EXPECT_EQ(found.report.ordering,
                  ordering == OrderingMethod::automatic ? OrderingMethod::natural : ordering);
    }
    auto const expected = run_incomplete(a, with_ilu(1)).x;
    for (char const* text : {"none", "F(32)", "D(20)", "CD(4)", "SD(300)F(32)"}) {
        Options options = with_ilu(1);
        options.coarsen = text;
        auto const found = run_incomplete(a, options);
        EXPECT_EQ(found.x, expected) << text;
        EXPECT_EQ(found.report.incomplete.coarsen, text);
    }
}

TEST(IncompleteMethod, GivesTheSameBitsOnEveryRuntimeAndPolicy) {
    auto const a = generated<double>("spe10like:4x5x3");
    auto const expected = run_incomplete(a, with_ilu(1)).x;
    for (auto const runtime : {TaskRuntime::tbb, TaskRuntime::openmp}) {
        Options options = with_ilu(1);
        options.runtime = runtime;
        options.coarsen = "CD(4)";
        if (!has_runtime(runtime)) {
            EXPECT_TRUE(throws_error(Status::unsupported, "does not have the runtime",
                                     [&] { Solver<double>(options).analyze(a); }));
            continue;
        }
        auto const found = run_incomplete(a, options);
        EXPECT_EQ(found.x, expected);
        EXPECT_EQ(found.report.incomplete.runtime, get_option(options, "runtime"));
        EXPECT_EQ(found.report.incomplete.synchronizations, 2 * found.report.incomplete.edges_coarse);
    }
    for (auto const policy : {SchedulePolicy::dynamic_tree, SchedulePolicy::places, SchedulePolicy::nas}) {
        Options options = with_ilu(1, 4);
        options.schedule = policy;
        options.topology = "numa:2 core:2";
        EXPECT_EQ(run_incomplete(a, options).x, expected) << to_string(policy);
    }
}

// So large that workers share vectors and products.
TEST(IncompleteMethod, KrylovMethodsGiveTheSameBitsForAnyNumberOfThreads) {
    auto const a = generated<double>("lap3d:48");
    auto const b = random_vector<double>(a.cols, 7);
    auto const solutions = [&](int threads) {
        Options options = with_ilu(0, threads);
        options.max_refine_iterations = 6; // far from convergence, so all digits depend on the rounding
        Solver<double> solver(options);
        solver.factorize(a);
        std::vector<std::vector<double>> all;
        for (auto const method : {RefineMethod::cg, RefineMethod::gmres, RefineMethod::bicgstab}) {
            options.refine = method;
            solver.set_options(options);
            all.push_back(solver.solve(b));
            solver.refine(a, b, all.back());
            EXPECT_EQ(solver.report().refine.method, method);
        }
        return all;
    };
    auto const expected = solutions(1);
    EXPECT_EQ(solutions(2), expected);
    EXPECT_EQ(solutions(3), expected);
}

TEST(IncompleteMethod, NeedsFewerIterationsWithMoreLevels) {
    for (char const* spec : {"lap3d:14", "convdiff3d:12", "spe10like:6x8x4"}) {
        int before = 100000;
        for (Index const levels : {0, 1, 3}) {
            auto const found = run_incomplete(generated<double>(spec), with_ilu(levels));
            EXPECT_EQ(found.refine.status, Status::ok) << spec;
            EXPECT_LT(found.refine.iterations, before) << spec << ", levels " << levels;
            before = found.refine.iterations;
        }
    }
}

TEST(IncompleteMethod, WithAllLevelsIsDirect) {
    auto const a = generated<double>("convdiff3d:4");
    auto const found = run_incomplete(a, with_ilu(a.rows));
    EXPECT_EQ(found.refine.status, Status::ok);
    EXPECT_LE(found.refine.iterations, 2);
}

TEST(IncompleteMethod, ChoosesConjugateGradientsForHermitianFactors) {
    auto const symmetric = run_incomplete(generated<double>("lap3d:8"), with_ilu());
    EXPECT_EQ(symmetric.refine.method, RefineMethod::cg);
    EXPECT_EQ(symmetric.report.factorization, Factorization::llh);
    auto const general = run_incomplete(generated<double>("convdiff3d:6"), with_ilu());
    EXPECT_EQ(general.refine.method, RefineMethod::gmres);
    EXPECT_EQ(general.report.factorization, Factorization::lu);
    for (auto const method : {RefineMethod::gmres, RefineMethod::bicgstab}) {
        Options options = with_ilu();
        options.refine = method;
        auto const found = run_incomplete(generated<double>("convdiff3d:6"), options);
        EXPECT_EQ(found.refine.method, method);
        EXPECT_EQ(found.refine.status, Status::ok);
    }
}

TEST(IncompleteMethod, FindsDenseBlocksAndReportsItsSizes) {
    auto const a = generated<double>("spe10like:4x5x3");
    auto const found = run_incomplete(a, with_ilu(1)).report;
    EXPECT_EQ(found.method, SolveMethod::ilu);
    EXPECT_EQ(found.incomplete.levels, 1);
    EXPECT_EQ(found.incomplete.block_size, 3);
    EXPECT_EQ(found.incomplete.tasks_fine, a.rows / 3);
    EXPECT_GT(found.incomplete.nnz_factor, a.nnz());
    EXPECT_GT(found.incomplete.solve_s, 0);
    // The coarse string that simulations chose gives the same result if the user requests it.
    Options same = with_ilu(1);
    same.coarsen = found.incomplete.coarsen;
    auto const asked = run_incomplete(a, same).report.incomplete;
    EXPECT_EQ(asked.tasks_coarse, found.incomplete.tasks_coarse);
    EXPECT_EQ(asked.synchronizations, found.incomplete.synchronizations);
    EXPECT_EQ(found.incomplete.runtime, "espalier");
    EXPECT_EQ(found.analysis.nnz_factor, found.incomplete.nnz_factor);
    EXPECT_GT(found.analysis.memory_bytes, sizeof(double) * found.incomplete.nnz_factor);
    EXPECT_GT(found.analysis.predicted_solve_s, 0);
    Options scalar = with_ilu(1, 1);
    scalar.block_size = 1;
    auto const by_rows = run_incomplete(a, scalar).report;
    EXPECT_EQ(by_rows.incomplete.tasks_fine, a.rows);
    EXPECT_EQ(by_rows.incomplete.coarsen, "one");
    EXPECT_EQ(by_rows.incomplete.synchronizations, 0);
}

TEST(IncompleteMethod, TakesAnOrderingOfTheUser) {
    auto const a = generated<double>("spe10like:4x5x3");
    Options options = with_ilu();
    options.ordering = OrderingMethod::user;
    // The blocks of 3 rows are ordered from last to first.
    for (Index i = 0; i < a.rows; ++i) options.ordering_positions.push_back(a.rows - 3 - i / 3 * 3 + i % 3);
    auto const found = run_incomplete(a, options);
    EXPECT_EQ(found.refine.status, Status::ok);
    EXPECT_EQ(found.report.incomplete.block_size, 3);
    // The single rows are ordered from last to first.
    std::iota(options.ordering_positions.rbegin(), options.ordering_positions.rend(), Index(0));
    options.block_size = 3;
    EXPECT_TRUE(throws_error(Status::usage, "separates the rows of dense blocks of size 3",
                             [&] { run_incomplete(a, options); }));
    options.block_size = 0;
    EXPECT_EQ(run_incomplete(a, options).report.incomplete.block_size, 1);
}

TEST(IncompleteMethod, TakesNewValuesWithoutANewAnalysis) {
    auto a = generated<double>("convdiff3d:6");
    Solver<double> solver(with_ilu(1));
    solver.analyze(a);
    auto const b = random_vector<double>(a.cols, 3);
    for (int round = 0; round < 3; ++round) {
        solver.factorize(a);
        EXPECT_EQ(solve_and_refine(solver, a, b).status, Status::ok);
        for (double& value : a.values) value *= value > 0 ? 1.5 : 0.7;
    }
    // The matrix is no longer positive definite.
    auto s = generated<double>("lap3d:6");
    solver.analyze(s);
    solver.factorize(s);
    EXPECT_EQ(solver.report().factorization, Factorization::llh);
    s.values[s.col_ptr[100]] = -6;
    solver.factorize(s);
    EXPECT_EQ(solver.report().factorization, Factorization::lu);
    auto const c = random_vector<double>(s.cols, 3);
    EXPECT_EQ(solve_and_refine(solver, s, c).status, Status::ok);
    auto const has_note = [&](std::string const& note) {
        return std::ranges::count(solver.report().notes, note) == 1;
    };
    std::string const indefinite = "auto chose lu: the matrix is not positive definite";
    std::string const definite = "auto chose llh: symmetric with a positive diagonal";
    EXPECT_TRUE(has_note(indefinite) && !has_note(definite));
    // The next one is.
    s.values[s.col_ptr[100]] = 6;
    solver.factorize(s);
    EXPECT_EQ(solver.report().factorization, Factorization::llh);
    EXPECT_TRUE(has_note(definite) && !has_note(indefinite));
    auto const again = solve_and_refine(solver, s, c);
    EXPECT_EQ(again.status, Status::ok);
    EXPECT_EQ(again.method, RefineMethod::cg);
    Solver<double> other(with_ilu(1));
    other.factorize(s);
    EXPECT_EQ(again.iterations, solve_and_refine(other, s, c).iterations);
    // The pattern for an lu factorization has no symmetry.
    s.values[s.col_ptr[100]] = -6;
    solver.analyze(s);
    s.values[s.col_ptr[100]] = 6;
    solver.factorize(s);
    EXPECT_EQ(solver.report().factorization, Factorization::lu);
    EXPECT_TRUE(has_note("auto keeps lu: the analyzed matrix was not positive definite"));
    EXPECT_FALSE(has_note(indefinite));
    EXPECT_EQ(solve_and_refine(solver, s, c).status, Status::ok);
}

TEST(IncompleteMethod, ReplacesPivotsAndCountsThem) {
    // Weak off-diagonal entries surround a zero on the diagonal, which no shift enlarges.
    auto const a =
        matrix_from<double>(Symmetry::general, {{1, 0, 0.5, 0}, {0, 0, 1, 0}, {0.5, 1, 1, 0}, {0, 0, 0, 1}});
    Options options = with_ilu();
    options.matching = options.scaling = Toggle::off;
    auto const found = run_incomplete(a, options);
    EXPECT_EQ(found.report.incomplete.pivots_shifted, 1);
    EXPECT_EQ(found.report.factor.pivots_replaced, 1);
    EXPECT_EQ(found.report.incomplete.restarts, 0);
    EXPECT_EQ(found.refine.status, Status::ok);
}

// Laplacians of a path and of a ring of six nodes. The last pivot of the path is 0, so its diagonal is
// shifted. The incomplete factors of the ring have no small pivot.
TEST(IncompleteMethod, ReportsASingularSystemWithoutASolution) {
    auto const path = matrix_of(30, Symmetry::symmetric, [](Index i, Index j) {
        return i == j ? (i == 0 || i == 29 ? 1.0 : 2.0) : std::abs(i - j) == 1 ? -1.0 : 0.0;
    });
    auto const ring = matrix_of(6, Symmetry::symmetric, [](Index i, Index j) {
        return i == j ? 2.0 : std::abs(i - j) == 1 || std::abs(i - j) == 5 ? -1.0 : 0.0;
    });
    for (auto const& a : {path, ring})
        for (Factorization const kind : {Factorization::automatic, Factorization::lu}) {
            Options options = with_ilu();
            options.factorization = kind;
            auto solver = factorized(a, options);
            EXPECT_EQ(solver.report().incomplete.pivots_shifted, 0) << to_string(kind) << a.cols;
            EXPECT_EQ(solver.report().incomplete.shift > 0, a.cols == path.cols) << to_string(kind) << a.cols;
            std::vector<double> const b(a.cols, 1.0);
            auto x = solver.solve(b);
            EXPECT_EQ(solver.refine(a, b, x).status, Status::singular) << to_string(kind) << a.cols;
            EXPECT_TRUE(solver.report().factor.numerically_singular);
            // This one has solutions.
            std::vector<double> consistent(a.cols, 0.0);
            consistent.front() = 1;
            consistent.back() = -1;
            x = solver.solve(consistent);
            EXPECT_NE(solver.refine(a, consistent, x).status, Status::inaccurate) << to_string(kind);
        }
}

TEST(IncompleteMethod, ShiftsTheDiagonalOfAGeneralMatrix) {
    // Weak off-diagonal entries surround a diagonal entry that the elimination cancels.
    auto const a =
        matrix_from<double>(Symmetry::general, {{1, 1, 0, 0}, {1, 1, 0.5, 0}, {0, 0.5, 1, 0}, {0, 0, 0, 1}});
    Options options = with_ilu();
    options.matching = options.scaling = Toggle::off;
    auto const found = run_incomplete(a, options);
    EXPECT_EQ(found.report.incomplete.pivots_shifted, 0);
    EXPECT_EQ(found.report.incomplete.restarts, 1);
    EXPECT_EQ(found.report.incomplete.shift, 0.001);
    EXPECT_EQ(found.refine.status, Status::ok);
}

TEST(IncompleteMethod, NeverReportsSuccessWithoutASmallBackwardError) {
    auto const a = generated<double>("lap3d:16");
    Options options = with_ilu();
    options.max_refine_iterations = 3;
    auto const stopped = run_incomplete(a, options);
    EXPECT_EQ(stopped.refine.status, Status::inaccurate);
    EXPECT_GT(stopped.refine.backward_error, 1e-12);
    EXPECT_NE(stopped.report.notes.back().find("ended at a backward error of"), std::string::npos);
    options.refine = RefineMethod::none;
    EXPECT_EQ(run_incomplete(a, options).refine.status, Status::inaccurate);
    // The matrix is singular: its rows sum to 0, and the right-hand side does not.
    auto const singular = matrix_from<double>(Symmetry::general, {{1, -1}, {-1, 1}});
    EXPECT_NE(run_incomplete(singular, with_ilu()).refine.status, Status::ok);
    auto const empty = matrix_from<double>(Symmetry::general, {{1, 1}, {0, 0}});
    EXPECT_TRUE(throws_error(Status::singular, "row 2", [&] { run_incomplete(empty, with_ilu()); }));
}

TEST(IncompleteMethod, RefusesCallsThatNeedCompleteFactors) {
    auto const a = generated<double>("lap3d:4");
    Solver<double> solver(with_ilu());
    solver.factorize(a);
    auto const refuses = [&](auto const& call) {
        return throws_error(Status::usage, "needs complete factors, but the method is ilu", call);
    };
    EXPECT_TRUE(refuses([&] { std::ignore = solver.inertia(); }));
    EXPECT_TRUE(refuses([&] { std::ignore = solver.determinant(); }));
    EXPECT_TRUE(refuses([&] { std::ignore = solver.reciprocal_condition(a); }));
    EXPECT_TRUE(refuses([&] { std::ignore = solver.null_space(a); }));
    EXPECT_TRUE(refuses([&] { std::ignore = solver.predict(1); }));
    EXPECT_TRUE(refuses([&] { std::ignore = solver.simulate({}); }));
    Options options = with_ilu();
    options.condition = true;
    EXPECT_TRUE(refuses([&] { Solver<double> const other(options); }));
    options = with_ilu();
    options.schur = {1};
    EXPECT_TRUE(refuses([&] { Solver<double> const other(options); }));
    options = with_ilu();
    options.factorization = Factorization::ldlt;
    EXPECT_TRUE(throws_error(Status::usage, "llh, lu or auto, not ldlt",
                             [&] { Solver<double>(options).analyze(a); }));
    options = with_ilu();
    options.block_size = 3;
    EXPECT_TRUE(throws_error(Status::usage, "blocks of size 3", [&] { Solver<double>(options).analyze(a); }));
    options = with_ilu(2);
    options.max_memory = 10'000;
    EXPECT_TRUE(
        throws_error(Status::out_of_memory, "10000 bytes", [&] { Solver<double>(options).analyze(a); }));
}

// The limit is reached by the copy of the factor for transposed solves, but not by the solves of the system
// itself.
TEST(IncompleteMethod, CountsTransposedFactorsInTheLimitOfMemory) {
    auto const a = generated<double>("convdiff3d:8");
    auto const b = random_vector<double>(a.cols, 3);
    Options options = with_ilu(1);
    Solver<double> solver(options);
    solver.factorize(a);
    auto const solve = [&](MatrixOp op) {
        return status_of([&] { EXPECT_EQ(std::ssize(solver.solve(b, 1, op)), a.cols); });
    };
    auto const report = solver.report();
    EXPECT_GT(report.incomplete.transposed_bytes, sizeof(double) * (report.incomplete.nnz_factor - a.cols));
    std::uint64_t const needed = report.analysis.memory_bytes + 2 * a.cols * sizeof(double);
    for (bool const suffices : {false, true}) {
        options.max_memory = needed + report.incomplete.transposed_bytes - (suffices ? 0 : 1);
        solver.set_options(options);
        EXPECT_EQ(solve(MatrixOp::none), Status::ok);
        for (auto const op : {MatrixOp::transpose, MatrixOp::adjoint})
            EXPECT_EQ(solve(op), suffices ? Status::ok : Status::out_of_memory);
        EXPECT_EQ(solve(MatrixOp::none), Status::ok);
    }
    // The copy remains.
    options.max_memory = needed + report.incomplete.transposed_bytes - 1;
    solver.set_options(options);
    EXPECT_EQ(solve(MatrixOp::none), Status::out_of_memory);
}

TEST(IncompleteMethod, SurvivesAChangeOfItsWorkers) {
    auto const a = generated<double>("lap3d:6");
    Solver<double> solver(with_ilu());
    solver.factorize(a);
    auto const b = random_vector<double>(a.cols, 3);
    EXPECT_EQ(solve_and_refine(solver, a, b).status, Status::ok);
    for (int const threads : {3, 1}) {
        Options options = with_ilu(0, threads);
        options.bind_threads = threads == 1;
        solver.set_options(options);
        EXPECT_TRUE(throws_error(Status::usage, "before factorize", [&] { std::ignore = solver.solve(b); }));
        solver.factorize(a);
        EXPECT_EQ(solve_and_refine(solver, a, b).status, Status::ok);
    }
}

TYPED_TEST(IncompleteMethodOf, SolvesAmongSeveralProcesses) {
    using T = TypeParam;
    for (char const* spec : {"lap3d:6", "convdiff3d:5", "spe10like:3x4x2", "lap2d:2"}) {
        auto const a = generated<T>(spec);
        auto const b = random_vector<T>(a.cols * 2, 7);
        for (int const processes : {2, 4})
            run_processes(processes, [&](Communicator const& comm) {
                Options options = with_ilu(1, 1);
                options.ordering = processes == 2 ? OrderingMethod::natural : OrderingMethod::rcm;
                Solver<T> solver(options, comm);
                auto const mine = on_process_0(comm, a);
                auto const right = on_process_0(comm, b);
                solver.factorize(mine);
                for (auto const op : {MatrixOp::none, MatrixOp::transpose, MatrixOp::adjoint}) {
                    std::vector<T> x = solver.solve(right, 2, op);
                    auto const refined = solver.refine(mine, right, x, 2, op);
                    EXPECT_EQ(refined.status, Status::ok) << spec << " " << to_string(op) << " " << processes;
                }
                auto const& report = solver.report();
                EXPECT_EQ(std::ssize(report.analysis.memory_bytes_of_process), processes);
                EXPECT_GE(report.incomplete.tasks_fine, a.cols / report.incomplete.block_size);
                EXPECT_TRUE(throws_error(Status::usage, "needs complete factors",
                                         [&] { std::ignore = solver.determinant(); }));
            });
    }
}

TEST(IncompleteMethod, TakesNewValuesAmongSeveralProcesses) {
    run_processes(3, [](Communicator const& comm) {
        auto a = on_process_0(comm, generated<double>("convdiff3d:5"));
        auto const b = on_process_0(comm, random_vector<double>(generated<double>("convdiff3d:5").rows, 7));
        Solver<double> solver(with_ilu(0, 2), comm);
        solver.analyze(a);
        for (int round = 0; round < 3; ++round) {
            solver.factorize(a);
            EXPECT_EQ(solve_and_refine(solver, a, b).status, Status::ok);
            for (double& value : a.values) value *= value > 0 ? 1.5 : 0.7;
        }
    });
}

TEST(IncompleteMethod, RefusesBlocksThatDoNotDivideTheMatrix) {
    for (int const processes : {1, 2})
        run_processes(processes, [](Communicator const& comm) {
            auto const a = on_process_0(comm, generated<double>("convdiff3d:5"));
            Options options = with_ilu(0, 1);
            options.block_size = 2;
            Solver<double> solver(options, comm);
            EXPECT_TRUE(throws_error(Status::usage, "blocks of size 2 do not divide a matrix of size 625",
                                     [&] { solver.analyze(a); }));
        });
}

TEST(AutomaticMethod, ChoosesByMemoryAndTime) {
    auto const a = generated<double>("lap3d:12");
    Options options = on_threads(1);
    options.calibration = Toggle::off;
    options.method = SolveMethod::automatic;
    auto const small = run_incomplete(a, options).report;
    EXPECT_EQ(small.method, SolveMethod::direct);
    EXPECT_NE(small.notes.back().find("auto chose direct: complete factors are predicted to take"),
              std::string::npos);
    options.max_memory = small.analysis.memory_bytes - 1;
    auto const tight = run_incomplete(a, options);
    EXPECT_EQ(tight.report.method, SolveMethod::ilu);
    EXPECT_EQ(tight.refine.status, Status::ok);
    auto const& notes = tight.report.notes;
    EXPECT_TRUE(std::ranges::any_of(notes, [](std::string const& note) {
        return note.starts_with("auto chose ilu: complete factors need") && note.ends_with("are allowed");
    }));
}

TEST(AutomaticMethod, NeverReplacesCompleteFactorsThatAreNeeded) {
    auto const a = generated<double>("lap3d:20");
    Options options = on_threads(1);
    options.calibration = Toggle::off;
    options.method = SolveMethod::automatic;
    options.max_memory = 3'000'000; // too little even for the analysis for complete factors
    EXPECT_EQ(run_incomplete(a, options).report.method, SolveMethod::ilu);
    std::vector<Options> demanding(5, options);
    demanding[0].condition = true;
    demanding[1].mixed_precision = true;
    demanding[2].allow_singular = true;
    demanding[3].schur = {1, 2, 3};
    demanding[4].factorization = Factorization::ldlt;
    for (Options const& demand : demanding) {
        Solver<double> solver(demand);
        EXPECT_TRUE(throws_error(Status::out_of_memory, "the analysis needs", [&] { solver.analyze(a); }));
    }
    AnalysisReport slow;
    slow.predicted_factor_s = 1e6;
    EXPECT_EQ(choose_method(slow, demanding[4], {}).method, SolveMethod::direct);
}

} // namespace
} // namespace espalier
