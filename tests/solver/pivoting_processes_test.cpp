// Delayed columns in solvers of several processes. Inertia, determinants and solutions are compared with
// LAPACK; reports, limits of memory, and panels split in two dimensions are checked.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/status_of.hpp"
#include "solver/pivoting.hpp"

namespace espalier {
namespace {

TEST(PivotingOnProcesses, GivesExactInertiaAndDeterminants) {
    for (int const processes : {2, 3, 4}) {
        auto const seed = static_cast<unsigned>(processes);
        auto const a = kkt_system<double>(Symmetry::symmetric, 120, 50, seed);
        auto const z = kkt_system<std::complex<double>>(Symmetry::hermitian, 90, 40, seed);
        Spectrum const of_a = spectrum(a), of_z = spectrum(z);
        run_processes(processes, [&](Communicator const& comm) {
            for (Pivoting const how : with_delays)
                for (Toggle const matching : {Toggle::automatic, Toggle::off}) {
                    expect_exact(a, pivoting(how, Factorization::ldlt, matching), of_a, comm);
                    expect_exact(z, pivoting(how, Factorization::ldlh, matching), of_z, comm);
                }
        });
    }
}

// A matrix with zeros and tiny numbers on the diagonal, and ones on the anti-diagonal.
CscMatrix<double> anti_diagonal(Index n, unsigned seed) {
    std::mt19937 draws(seed);
    std::uniform_real_distribution<double> value(-1, 1), chance(0, 1);
    test::Dense<double> a(n);
    for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i)
            if (chance(draws) < 3 / static_cast<double>(n)) a(i, j) = value(draws);
        a(j, j) = chance(draws) < 0.3 ? 1e-3 * value(draws) : 0;
        a(n - 1 - j, j) = 1;
    }
    return test::to_sparse(a);
}

// Refinement with the factors of static pivots does not converge for most of these matrices.
TEST(PivotingOnProcesses, EstimatesTheConditionAfterUselessStaticPivots) {
    int factorized_again = 0;
    for (int const processes : {1, 2})
        for (unsigned seed = 18; seed <= 20; ++seed) {
            auto const a = anti_diagonal(46, seed);
            auto const dense = test::to_dense<long double>(a);
            auto const truth = static_cast<double>(1 / (one_norm(dense) * one_norm(test::inverse(dense))));
            run_processes(processes, [&](Communicator const& comm) {
                bool const is_root = comm.rank() == 0;
                Options options = pivoting(Pivoting::static_pivots, Factorization::lu, Toggle::off);
                Solver<double> solver(options, comm);
                auto const& mine = is_root ? a : CscMatrix<double>();
                solver.factorize(mine);
                double const rcond = solver.reciprocal_condition(mine);
                EXPECT_GE(rcond, 0.9 * truth) << "seed " << seed;
                EXPECT_LE(rcond, 10 * truth) << "seed " << seed;
                EXPECT_EQ(solver.report().factor.rcond, rcond);
                EXPECT_EQ(solver.report().factor.pivots_replaced, 0) << "seed " << seed;
                if (is_root)
                    factorized_again += std::ranges::any_of(solver.report().notes, [](auto const& note) {
                        return note.ends_with("factorizing with delayed pivots");
                    });
            });
        }
    EXPECT_GT(factorized_again, 2);
}

template <class T> class PivotingOnProcessesTyped : public ::testing::Test {};
TYPED_TEST_SUITE(PivotingOnProcessesTyped, test::Scalars);

// Process 0 passes whole right-hand sides, or all processes pass their rows.
TYPED_TEST(PivotingOnProcessesTyped, SolvesUnderEverySchedule) {
    using T = TypeParam;
    constexpr std::pair<int, int> shapes[] = {{2, 2}, {3, 1}, {4, 1}};
    int turn = 0;
    for (Factorization const kind : factorizations_with_pivots) {
        auto const a = kkt_system<T>(symmetry_for<T>(kind), 150, 50, 2);
        for (SchedulePolicy const schedule : all_schedules)
            for (Splitting const splitting : {Splitting::one_d, Splitting::two_d, Splitting::dynamic}) {
                auto const [processes, threads] = shapes[turn % std::size(shapes)];
                Options options = many_tasks(schedule, splitting, threads);
                options.factorization = kind;
                options.matching = Toggle::off;
                options.pivoting = turn % 4 == 3 ? Pivoting::automatic : Pivoting::delayed;
                options.comm_threads = turn % 3;
                MatrixOp const op = test::all_ops[turn++ % 3];
                auto const b = dense_product(test::to_dense(a, op), random_vector<T>(a.cols * 3, 1));
                run_processes(processes, [&](Communicator const& comm) {
                    auto const mine = on_process_0(comm, a);
                    auto const right = on_process_0(comm, b);
                    auto solver = factorized(mine, options, comm);
                    FactorReport const& factor = solver.report().factor;
                    EXPECT_EQ(factor.pivots_replaced, 0);
                    EXPECT_EQ(factor.pivots_delayed > 0, factor.delayed_bytes > 0);
                    EXPECT_TRUE(factor.pivots_delayed > 0 || options.pivoting == Pivoting::automatic);
                    auto x = solver.solve(right, 3, op);
                    auto const refined = solver.refine(mine, right, x, 3, op);
                    EXPECT_TRUE(refined.converged);
                    double const growth = options.pivoting == Pivoting::delayed ? 1e4 : 1e6;
                    EXPECT_LE(refined.history.front(), growth * static_cast<double>(epsilon<T>));
                    std::vector<T> rows;
                    if (comm.rank() == comm.size() - 1) rows.assign(b.begin(), b.begin() + a.cols);
                    auto part = solver.solve_rows(rows, 1, op);
                    EXPECT_TRUE(solver.refine_rows(mine, rows, part, 1, op).converged);
                });
            }
    }
}

TEST(PivotingOnProcesses, FollowsTheValuesAndTheOptions) {
    run_processes(3, [](Communicator const& comm) { expect_values_and_options_followed(comm); });
}

TEST(PivotingOnProcesses, KeepsSmallPivotsOfRegularMatrices) {
    run_processes(3, [](Communicator const& comm) {
        Options options = pivoting(Pivoting::delayed, Factorization::ldlt);
        options.scaling = options.matching = Toggle::off;
        auto solver = factorized(on_process_0(comm, with_a_small_row(300, -1e-30)), options, comm);
        EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
        EXPECT_EQ(solver.inertia(), (Inertia{299, 1, 0}));
    });
}

TEST(PivotingOnProcesses, FlagsSingularMatrices) {
    auto const a = neumann(60, 0);
    for (Factorization const kind : {Factorization::ldlt, Factorization::lu})
        run_processes(3, [&](Communicator const& comm) {
            auto const mine = on_process_0(comm, a);
            auto solver = factorized(mine, pivoting(Pivoting::delayed, kind), comm);
            EXPECT_EQ(solver.report().factor.pivots_replaced, 1);
            auto const space = solver.null_space(mine);
            if (comm.rank() > 0) return;
            ASSERT_EQ(space.basis.cols, 1);
            for (double const value : space.basis.values)
                EXPECT_NEAR(std::abs(value), 1 / std::sqrt(60.0), 1e-6);
        });
}

TEST(PivotingOnProcesses, GivesAccurateSchurComplements) {
    for (auto const kind : {Factorization::ldlt, Factorization::lu})
        for (int const processes : {2, 3})
            run_processes(processes, [&](Communicator const& comm) {
                Options const options = pivoting(Pivoting::static_pivots, kind, Toggle::off);
                auto const a = kkt_system<double>(symmetry_for<double>(kind), 100, 30, 2);
                expect_good_schur_complement(options, a, true, comm);
                auto const c =
                    kkt_system<std::complex<float>>(symmetry_for<std::complex<float>>(kind), 100, 30, 2);
                expect_good_schur_complement(options, c, true, comm);
                expect_good_schur_complement(options, generated<double>("elast3d:3"), false, comm);
            });
}

// Columns cannot be delayed, because the panels are split.
TEST(PivotingOnProcesses, NotesAnInaccurateSchurComplement) {
    auto const a = kkt_system<double>(Symmetry::symmetric, 200, 80, 3);
    run_processes(2, [&](Communicator const& comm) {
        Options options = many_tasks(SchedulePolicy::static_order, Splitting::two_d, 2);
        options.factorization = Factorization::ldlt;
        options.matching = Toggle::off;
        options.schur = {31, 2, 17, 44};
        auto const solver = factorized(on_process_0(comm, a), options, comm);
        EXPECT_GT(solver.report().factor.schur_error, 1e-12);
        EXPECT_EQ(solver.report().factor.pivots_delayed, 0);
        EXPECT_TRUE(std::ranges::any_of(solver.report().notes, [](auto const& note) {
            return note.starts_with("the Schur complement is inaccurate");
        }));
    });
}

TEST(PivotingOnProcesses, DelaysInSinglePrecision) {
    auto const a = kkt_system<double>(Symmetry::symmetric, 120, 50, 3);
    run_processes(2, [&](Communicator const& comm) {
        Options options = pivoting(Pivoting::delayed, Factorization::ldlt, Toggle::off);
        options.mixed_precision = true;
        auto const mine = on_process_0(comm, a);
        auto solver = factorized(mine, options, comm);
        EXPECT_EQ(solver.report().factor.scalar, Scalar::s);
        EXPECT_GT(solver.report().factor.pivots_delayed, 0);
        EXPECT_TRUE(
            solve_and_refine(solver, mine, on_process_0(comm, random_vector<double>(a.cols, 1))).converged);
    });
}

// Each process of a computer has an equal share of the memory that the limit leaves.
TEST(PivotingOnProcesses, RespectsTheLimitOfMemory) {
    auto const a = kkt_system<double>(Symmetry::symmetric, 300, 100, 3);
    Options options = pivoting(Pivoting::delayed, Factorization::ldlt, Toggle::off);
    std::uint64_t panels = 0, delayed = 0;
    run_processes(3, [&](Communicator const& comm) {
        auto const solver = factorized(on_process_0(comm, a), options, comm);
        if (comm.rank() > 0) return;
        auto const& needs = solver.report().analysis.memory_bytes_of_process;
        panels = std::accumulate(needs.begin(), needs.end(), std::uint64_t{0});
        delayed = solver.report().factor.delayed_bytes;
    });
    ASSERT_GT(delayed, 0U);
    for (bool const suffices : {true, false}) {
        options.max_memory = suffices ? panels + 6 * delayed : panels + delayed - 1;
        run_processes(3, [&](Communicator const& comm) {
            EXPECT_EQ(status_of([&] { std::ignore = factorized(on_process_0(comm, a), options, comm); }),
                      suffices ? Status::ok : Status::out_of_memory);
        });
    }
}

TEST(PivotingOnProcesses, NeedsAnAnalysisIfPanelsAreSplitInTwoDimensions) {
    auto const a = generated<double>("lap3d:12");
    run_processes(2, [&](Communicator const& comm) {
        auto const mine = on_process_0(comm, a);
        Options options = many_tasks(SchedulePolicy::static_order, Splitting::two_d, 2);
        options.factorization = Factorization::ldlt;
        Solver<double> solver(options, comm);
        solver.analyze(mine);
        options.pivoting = Pivoting::delayed;
        solver.set_options(options);
        EXPECT_EQ(status_of([&] { solver.factorize(mine); }), Status::usage);
        options.pivoting = Pivoting::automatic;
        solver.set_options(options);
        solver.factorize(mine);
        EXPECT_TRUE(std::ranges::any_of(solver.report().notes,
                                        [](auto const& note) { return note.starts_with("static pivots"); }));
        options.pivoting = Pivoting::delayed;
        solver.set_options(options);
        solver.analyze(mine);
        EXPECT_EQ(solver.report().schedule.splitting, Splitting::dynamic);
        solver.factorize(mine);
    });
}

} // namespace
} // namespace espalier
