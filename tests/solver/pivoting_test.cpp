// Static, delayed and automatic pivoting of a solver: inertia and determinants against LAPACK, solutions
// without refinement, and what happens if columns cannot be delayed.
#include <gtest/gtest.h>

#include <cmath>

#include "comm/thread_processes.hpp"
#include "common/eigenvalues.hpp"
#include "common/kkt.hpp"
#include "refine/dense.hpp"
#include "solver/generated.hpp"
#include "solver/problems.hpp"

namespace espalier {
namespace {

using test::DenseLu, test::difference, test::to_dense;

constexpr Pivoting with_delays[] = {Pivoting::delayed, Pivoting::automatic};

Options pivoting(Pivoting how, Factorization kind, Toggle matching = Toggle::automatic) {
    Options options = many_tasks(SchedulePolicy::static_order, Splitting::one_d, 2);
    options.pivoting = how;
    options.factorization = kind;
    options.matching = matching;
    return options;
}

// The pattern of a power network as a matrix of ones, diagonal included: a random tree and some cycles.
template <class T> CscMatrix<T> network(Index n, unsigned seed) {
    std::mt19937 random(seed);
    std::set<std::pair<Index, Index>> edges;
    for (Index i = 1; i < n; ++i) edges.emplace(i, random() % static_cast<unsigned>(i));
    for (Index k = 0; k < n / 2; ++k) {
        Index const i = random() % static_cast<unsigned>(n), j = random() % static_cast<unsigned>(n);
        if (i != j) edges.emplace(std::max(i, j), std::min(i, j));
    }
    return matrix_of<T>(n, Symmetry::symmetric,
                        [&](Index i, Index j) { return i == j || edges.contains({i, j}) ? 1 : 0; });
}

// 1-D Laplacian with Neumann boundaries.
CscMatrix<double> neumann(Index n, double shift) {
    return matrix_of(n, Symmetry::symmetric, [n, shift](Index i, Index j) -> double {
        if (i == j) return (i > 0) + (i + 1 < n) + shift;
        return i == j + 1 ? -1 : 0;
    });
}

template <class T> std::vector<T> product(test::Dense<T> const& a, std::vector<T> const& x) {
    std::vector<T> y(x.size(), T(0));
    for (std::size_t first = 0; first < x.size(); first += static_cast<std::size_t>(a.cols))
        for (Index j = 0; j < a.cols; ++j)
            for (Index i = 0; i < a.cols; ++i) y[first + i] += a(i, j) * x[first + j];
    return y;
}

struct Spectrum {
    Inertia signs;
    double log_determinant = 0;
    double condition = 0; ///< In the 2-norm.
};

template <class T> Spectrum spectrum(CscMatrix<T> const& a) {
    auto const values = eigenvalues(to_dense<std::complex<double>>(a).values, static_cast<int>(a.cols));
    Spectrum result;
    double smallest = std::abs(values.front()), largest = smallest;
    for (double const value : values) {
        ++(value > 0 ? result.signs.positive : result.signs.negative);
        result.log_determinant += std::log(std::abs(value));
        smallest = std::min(smallest, std::abs(value));
        largest = std::max(largest, std::abs(value));
    }
    result.condition = largest / smallest;
    return result;
}

// Skips matrices that are nearly singular.
template <class T> void expect_exact(CscMatrix<T> const& a, Options const& options, Spectrum const& expected) {
    double const lost = expected.condition * static_cast<double>(epsilon<T>);
    auto solver = factorized(a, options);
    EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
    EXPECT_EQ(solver.inertia(), expected.signs) << expected.condition;
    auto const determinant = solver.determinant();
    EXPECT_EQ(real_part(determinant.phase), expected.signs.negative % 2 == 0 ? 1 : -1);
    // `automatic` keeps static pivots as long as L is bounded, less tightly than delayed pivots bound it.
    double const growth = options.pivoting == Pivoting::delayed ? 300 : 1000;
    EXPECT_NEAR(determinant.log_modulus, expected.log_determinant, growth * lost);
    auto const solution = random_vector<T>(a.cols, 1);
    auto const b = product(to_dense(a), solution);
    auto x = solver.solve(b);
    // Without refinement, the bound of the error grows with that of L, 1/u, in each of the columns.
    double const largest = static_cast<double>(a.cols) / options.pivot_tolerance;
    EXPECT_LE(difference(x, solution), largest * lost) << expected.condition;
    solver.refine(a, b, x);
    EXPECT_LE(difference(x, solution), 100 * lost) << expected.condition;
}

TEST(PivotingOf, GraphsGivesExactInertiaAndDeterminants) {
    int tested = 0;
    bool static_pivots_fail = false;
    for (unsigned seed = 1; seed <= 40; ++seed) {
        auto const a = network<double>(118, seed);
        auto const single = network<float>(118, seed);
        Spectrum const expected = spectrum(a);
        if (expected.condition > 2000) continue;
        ++tested;
        for (Pivoting const how : with_delays)
            for (Toggle const matching : {Toggle::automatic, Toggle::off}) {
                expect_exact(a, pivoting(how, Factorization::ldlt, matching), expected);
                expect_exact(single, pivoting(how, Factorization::ldlt, matching), expected);
            }
        auto old = factorized(a, pivoting(Pivoting::static_pivots, Factorization::ldlt));
        static_pivots_fail |= old.inertia() != expected.signs;
    }
    EXPECT_GE(tested, 5);
    EXPECT_TRUE(static_pivots_fail) << "the graphs are too easy";
}

TEST(PivotingOf, SaddlePointSystemsGivesExactInertiaAndDeterminants) {
    for (unsigned seed = 1; seed <= 8; ++seed) {
        auto const a = kkt_system<double>(Symmetry::symmetric, 120, 50, seed);
        auto const z = kkt_system<std::complex<double>>(Symmetry::hermitian, 90, 40, seed);
        Spectrum const of_a = spectrum(a), of_z = spectrum(z);
        for (Pivoting const how : with_delays)
            for (Toggle const matching : {Toggle::automatic, Toggle::off}) {
                expect_exact(a, pivoting(how, Factorization::ldlt, matching), of_a);
                expect_exact(z, pivoting(how, Factorization::ldlh, matching), of_z);
            }
    }
}

TEST(PivotingOf, ANearlySingularLaplacianReplacesNothing) {
    auto const a = neumann(40, std::exp2(-36));
    Spectrum const expected = spectrum(a);
    for (Pivoting const how : with_delays)
        for (Factorization const kind : {Factorization::ldlt, Factorization::lu}) {
            auto solver = factorized(a, pivoting(how, kind));
            EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
            EXPECT_FALSE(solver.report().factor.numerically_singular);
            // The determinant is as sensitive as the smallest eigenvalue.
            EXPECT_NEAR(solver.determinant().log_modulus, expected.log_determinant, 1e-3);
            if (kind == Factorization::ldlt) {
                EXPECT_EQ(solver.inertia(), expected.signs);
            }
        }
    auto const old = factorized(a, pivoting(Pivoting::static_pivots, Factorization::ldlt));
    EXPECT_GT(old.report().factor.pivots_replaced, 0);
}

TEST(PivotingOf, SingularMatricesReplacesPivotsAndIsFlagged) {
    for (Pivoting const how : with_delays)
        for (Factorization const kind : {Factorization::ldlt, Factorization::lu})
            for (Index const n : {40, 400}) {
                auto const a = neumann(n, 0);
                auto solver = factorized(a, pivoting(how, kind));
                EXPECT_EQ(solver.report().factor.pivots_replaced, 1) << n;
                std::vector<double> b(static_cast<std::size_t>(n), 0.0);
                b[0] = 1;
                auto const refined = solve_and_refine(solver, a, b);
                EXPECT_TRUE(!refined.converged || solver.report().factor.numerically_singular);
                auto const space = solver.null_space(a);
                ASSERT_EQ(space.basis.cols, 1);
                for (double const value : space.basis.values)
                    EXPECT_NEAR(std::abs(value), 1 / std::sqrt(static_cast<double>(n)), 1e-6);
            }
}

template <class T> class PivotingTyped : public ::testing::Test {};
using AllScalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(PivotingTyped, AllScalars);

TYPED_TEST(PivotingTyped, EveryScheduleSolvesWithoutRefinement) {
    using T = TypeParam;
    double const eps = static_cast<double>(epsilon<T>);
    for (Factorization const kind : factorizations_with_pivots) {
        auto const a = kkt_system<T>(symmetry_for<T>(kind), 150, 50, 2);
        auto const whole = to_dense(a);
        auto const solution = random_vector<T>(a.cols * 3, 1);
        auto const b = product(whole, solution);
        for (SchedulePolicy const schedule : all_schedules)
            for (Splitting const splitting : {Splitting::one_d, Splitting::two_d, Splitting::dynamic})
                for (Pivoting const how : with_delays) {
                    Options options = many_tasks(schedule, splitting, 3);
                    options.factorization = kind;
                    options.matching = Toggle::off;
                    options.pivoting = how;
                    auto solver = factorized(a, options);
                    FactorReport const& factor = solver.report().factor;
                    EXPECT_EQ(factor.pivots_replaced, 0);
                    EXPECT_EQ(factor.pivots_delayed > 0, factor.delayed_bytes > 0);
                    if (how == Pivoting::delayed) {
                        EXPECT_GT(factor.pivots_delayed, 0);
                    }
                    auto x = solver.solve(b, 3);
                    auto const refined = solver.refine(a, b, x, 3);
                    EXPECT_TRUE(refined.converged);
                    // The backward error before refinement; L is bounded by 100, or less tightly.
                    double const growth = how == Pivoting::delayed ? 1e4 : 1e6;
                    EXPECT_LE(refined.history.front(), growth * eps) << to_string(kind);
                }
    }
}

// Values for which columns are delayed, then others for which none is, and back; options change in between.
TEST(PivotingOf, RefactorizationsFollowsTheValuesAndTheOptions) {
    auto const hard = kkt_system<double>(Symmetry::symmetric, 120, 50, 3);
    auto easy = hard;
    for (Index j = 0; j < easy.cols; ++j)
        for (Offset p : easy.entries_of(j))
            if (easy.row_ind[p] == j) easy.values[p] = 20; // those of constraints are not stored
    Options options = pivoting(Pivoting::delayed, Factorization::ldlt, Toggle::off);
    Solver<double> solver(options);
    solver.analyze(hard);
    auto const solves = [&](CscMatrix<double> const& a) {
        auto const solution = random_vector<double>(a.cols, 5);
        EXPECT_LE(difference(solver.solve(product(to_dense(a), solution)), solution), 1e-8);
    };
    solver.factorize(hard);
    Index const delayed = solver.report().factor.pivots_delayed;
    EXPECT_GT(delayed, 0);
    solves(hard);
    solver.factorize(easy);
    EXPECT_LT(solver.report().factor.pivots_delayed, delayed);
    solves(easy);
    options.pivoting = Pivoting::static_pivots;
    solver.set_options(options);
    solver.factorize(hard);
    EXPECT_EQ(solver.report().factor.pivots_delayed, 0);
    EXPECT_GT(solver.report().factor.pivots_replaced, 0);
    options.pivoting = Pivoting::delayed;
    solver.set_options(options);
    solver.factorize(hard);
    EXPECT_GT(solver.report().factor.pivots_delayed, 0); // perhaps others, in the scales of the easy values
    solves(hard);
}

TEST(PivotingOf, AutoHasTheBitsOfStaticPivotsThatSuffice) {
    for (auto const& [spec, kind] :
         {Problem{"elast3d:5", Factorization::ldlt}, {"convdiff3d:6", Factorization::lu}}) {
        auto const a = generated<double>(spec);
        auto const b = random_vector<double>(a.cols, 1);
        auto expected = factorized(a, pivoting(Pivoting::static_pivots, kind));
        auto automatic = factorized(a, pivoting(Pivoting::automatic, kind));
        EXPECT_EQ(automatic.report().factor.pivots_delayed, 0);
        EXPECT_EQ(automatic.solve(b), expected.solve(b));
    }
}

TEST(PivotingOf, SchurComplementsIsAccurate) {
    std::vector<Index> const schur{31, 2, 17, 44, 0, 9, 25, 26, 27, 40, 5, 13};
    for (auto const kind : {Factorization::ldlt, Factorization::lu}) {
        auto const a = kkt_system<double>(symmetry_for<double>(kind), 100, 30, 3);
        Options options = pivoting(Pivoting::delayed, kind, Toggle::off);
        options.schur = schur;
        auto solver = factorized(a, options);
        EXPECT_GT(solver.report().factor.pivots_delayed, 0);
        EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
        auto const dense = to_dense(a);
        auto const solution = random_vector<double>(a.cols * 2, 4);
        auto const b = product(dense, solution);
        auto condensed = solver.condense(b, 2);
        test::Dense<double> s(std::ssize(schur));
        s.values = solver.schur_complement().values;
        DenseLu<double>(s).apply()(condensed, 2, MatrixOp::none);
        EXPECT_LE(difference(solver.expand(b, condensed, 2), solution), 1e-9) << to_string(kind);
    }
}

template <class T> void expect_good_schur_complement(Options options, CscMatrix<T> const& a, bool falls_back) {
    options.schur = {31, 2, 17, 44, 0, 9, 25, 26, 27, 40, 5, 13};
    auto solver = factorized(a, options);
    FactorReport const& factor = solver.report().factor;
    EXPECT_GE(factor.schur_error, 0);
    EXPECT_LE(factor.schur_error, sizeof(Real<T>) == 8 ? 1e-12 : 1e-5);
    EXPECT_EQ(factor.pivots_delayed > 0, falls_back);
    EXPECT_EQ(factor.pivots_replaced, 0);
    // S = inverse of the Schur block of the inverse.
    auto const inverse = test::inverse(to_dense<std::complex<double>>(a));
    test::Dense<std::complex<double>> block(std::ssize(options.schur));
    for (Index j = 0; j < block.cols; ++j)
        for (Index i = 0; i < block.cols; ++i) block(i, j) = inverse(options.schur[i], options.schur[j]);
    auto const expected = test::inverse(block).values;
    auto const found = solver.schur_complement().values;
    double largest = 0, error = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        std::complex<double> const value(static_cast<double>(real_part(found[i])),
                                         static_cast<double>(imag_part(found[i])));
        largest = std::max(largest, std::abs(expected[i]));
        error = std::max(error, std::abs(value - expected[i]));
    }
    EXPECT_LE(error, 1e5 * static_cast<double>(epsilon<T>) * largest);
}

TEST(PivotingOf, SchurComplementsFallsBackToDelayedPivotsIfStaticOnesSpoilIt) {
    for (auto const kind : {Factorization::ldlt, Factorization::lu})
        for (unsigned const seed : {2U, 3U}) {
            Options const options = pivoting(Pivoting::static_pivots, kind, Toggle::off);
            auto const a = kkt_system<double>(symmetry_for<double>(kind), 100, 30, seed);
            expect_good_schur_complement(options, a, true);
            auto const c = kkt_system<std::complex<float>>(symmetry_for<std::complex<float>>(kind), 100, 30, seed);
            expect_good_schur_complement(options, c, true);
            expect_good_schur_complement(options, generated<double>("elast3d:3"), false);
        }
}

TEST(PivotingOf, ASchurComplementSaysThatItIsInaccurate) {
    auto const a = kkt_system<double>(Symmetry::symmetric, 100, 30, 3);
    run_processes(2, [&](Communicator const& comm) {
        Options options = pivoting(Pivoting::static_pivots, Factorization::ldlt, Toggle::off);
        options.schur = {31, 2, 17, 44};
        auto const solver = factorized(on_process_0(comm, a), options, comm);
        EXPECT_GT(solver.report().factor.schur_error, 1e-12);
        EXPECT_TRUE(std::ranges::any_of(solver.report().notes, [](auto const& note) {
            return note.starts_with("the Schur complement is inaccurate");
        }));
    });
}

TEST(PivotingOf, MixedPrecisionDelaysInSinglePrecision) {
    auto const a = kkt_system<double>(Symmetry::symmetric, 120, 50, 3);
    Options options = pivoting(Pivoting::delayed, Factorization::ldlt, Toggle::off);
    options.mixed_precision = true;
    auto solver = factorized(a, options);
    EXPECT_EQ(solver.report().factor.scalar, Scalar::s);
    EXPECT_GT(solver.report().factor.pivots_delayed, 0);
    auto const b = random_vector<double>(a.cols, 1);
    EXPECT_TRUE(solve_and_refine(solver, a, b).converged);
}

TEST(PivotingOf, DelayedColumnsRespectTheLimitOfMemory) {
    auto const a = kkt_system<double>(Symmetry::symmetric, 300, 100, 3);
    Options options = pivoting(Pivoting::delayed, Factorization::ldlt, Toggle::off);
    auto solver = factorized(a, options);
    std::uint64_t const static_bytes = solver.report().analysis.memory_bytes;
    std::uint64_t const all = static_bytes + solver.report().factor.delayed_bytes;
    options.max_memory = all;
    EXPECT_GT(factorized(a, options).report().factor.pivots_delayed, 0);
    options.max_memory = all - 1;
    EXPECT_EQ(status_of([&] { std::ignore = factorized(a, options); }), Status::out_of_memory);
}

TEST(PivotingOf, SeveralProcessesIsStaticOrRefused) {
    auto const a = generated<double>("convdiff3d:5");
    run_processes(2, [&](Communicator const& comm) {
        auto const mine = on_process_0(comm, a);
        Options options = pivoting(Pivoting::automatic, Factorization::lu);
        auto const notes = factorized(mine, options, comm).report().notes;
        EXPECT_TRUE(
            std::ranges::any_of(notes, [](auto const& note) { return note.starts_with("static pivots"); }));
        options.pivoting = Pivoting::delayed;
        EXPECT_EQ(status_of([&] { std::ignore = factorized(mine, options, comm); }), Status::unsupported);
    });
}

TEST(PivotingOf, PanelsSplitInTwoDimensionsNeedsAnAnalysisForIt) {
    auto const a = generated<double>("lap3d:12");
    Options options = many_tasks(SchedulePolicy::static_order, Splitting::two_d, 3);
    options.factorization = Factorization::ldlt;
    Solver<double> solver(options);
    solver.analyze(a);
    options.pivoting = Pivoting::delayed;
    solver.set_options(options);
    EXPECT_EQ(status_of([&] { solver.factorize(a); }), Status::usage);
    options.pivoting = Pivoting::automatic;
    solver.set_options(options);
    solver.factorize(a); // static
    options.pivoting = Pivoting::delayed;
    solver.set_options(options);
    solver.analyze(a);
    EXPECT_EQ(solver.report().schedule.splitting, Splitting::dynamic);
    solver.factorize(a);
}

} // namespace
} // namespace espalier
