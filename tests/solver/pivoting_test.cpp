// Static, delayed and automatic pivoting of a solver. Inertia and determinants are compared with LAPACK.
// Solutions are checked without refinement, also if columns cannot be delayed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/status_of.hpp"
#include "solver/pivoting.hpp"

namespace espalier {
namespace {

using test::DenseLu, test::difference, test::to_dense;

// A matrix of ones, diagonal included, with the pattern of a power network: a random tree with some cycles.
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

TEST(Pivoting, GivesExactInertiaAndDeterminantsForGraphs) {
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
        if (old.report().factor.pivots_replaced == 0) continue;
        static_pivots_fail = true;
        EXPECT_EQ(status_of([&] { std::ignore = old.inertia(); }), Status::inaccurate);
        EXPECT_EQ(status_of([&] { std::ignore = old.determinant(); }), Status::inaccurate);
        for (bool const mixed : {false, true}) { // the condition is requested, so that the pivots matter
            Options options;
            options.condition = true;
            options.mixed_precision = mixed;
            auto exact = factorized(a, options);
            EXPECT_EQ(exact.report().factor.pivots_replaced, 0);
            EXPECT_EQ(exact.inertia(), expected.signs);
            double const u = exact.report().factor.scalar == Scalar::s ? epsilon<float> : epsilon<double>;
            EXPECT_NEAR(exact.determinant().log_modulus, expected.log_determinant,
                        3 * expected.sensitivity * u);
            if (!mixed) continue;
            // Static pivots are not tried again in double precision.
            auto const& notes = exact.report().notes;
            EXPECT_LE(
                std::ranges::count_if(notes, [](auto const& note) { return note.ends_with("replaced"); }), 1);
        }
    }
    EXPECT_GE(tested, 5);
    EXPECT_TRUE(static_pivots_fail) << "the graphs are too easy";
}

TEST(Pivoting, GivesExactInertiaAndDeterminantsForSaddlePointSystems) {
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

TEST(Pivoting, ReplacesNoPivotsOfANearlySingularLaplacian) {
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
    Options options = pivoting(Pivoting::static_pivots, Factorization::ldlt);
    options.supernodes = Toggle::on;
    EXPECT_GT(factorized(a, options).report().factor.pivots_replaced, 0);
}

TEST(Pivoting, ReplacesPivotsAndFlagsSingularMatrices) {
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

// The rank is 8, and the null vector is zero in some rows, where it has nothing but rounding errors. A
// right-hand side whose solution is not large shows nothing.
TEST(Pivoting, FlagsASingularGraphWhoseNullVectorHasZeros) {
    std::set<std::pair<Index, Index>> const edges{{1, 0}, {2, 1}, {3, 0}, {4, 2}, {5, 1}, {5, 2}, {5, 3},
                                                  {6, 1}, {6, 4}, {7, 2}, {7, 6}, {8, 2}, {8, 4}, {8, 6}};
    auto const is_entry = [&](Index i, Index j) { return i == j || edges.contains({i, j}); };
    auto const a =
        matrix_of<double>(9, Symmetry::symmetric, [&](Index i, Index j) { return is_entry(i, j) ? 1 : 0; });
    std::vector<double> const b{-0.80193142525447345, -1.324358995628145,   -0.24836162209524854,
                                0.42044523806552143,  1.1360465324896427,   0.10970639932180819,
                                -0.55264732053623242, -0.78478035534427839, 0.74874577073459109};
    for (Pivoting const how : {Pivoting::static_pivots, Pivoting::delayed, Pivoting::automatic})
        for (Factorization const kind : {Factorization::ldlt, Factorization::lu}) {
            auto solver = factorized(a, pivoting(how, kind));
            EXPECT_EQ(solve_and_refine(solver, a, b).status, Status::singular);
            EXPECT_EQ(std::abs(solver.determinant().phase), 0);
            if (how == Pivoting::delayed && kind == Factorization::ldlt) {
                EXPECT_EQ(solver.inertia().zero, 1);
            }
        }
}

TEST(Pivoting, KeepsSmallPivotsOfRegularMatrices) {
    constexpr Index n = 900;
    for (double const value : {-5e-14, -1e-30, -1e-200})
        for (Pivoting const how : with_delays)
            for (Factorization const kind : {Factorization::ldlt, Factorization::lu}) {
                auto const a = with_a_small_row(n, value);
                Options options = pivoting(how, kind);
                options.scaling = options.matching = Toggle::off;
                auto solver = factorized(a, options);
                EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
                EXPECT_NEAR(solver.determinant().log_modulus, std::log(-value), 1e-12);
                EXPECT_EQ(solver.determinant().phase, -1);
                if (kind == Factorization::ldlt) {
                    EXPECT_EQ(solver.inertia(), (Inertia{n - 1, 1, 0}));
                }
                auto const& notes = solver.report().notes;
                EXPECT_EQ(
                    std::ranges::count_if(notes, [](auto const& note) { return note.ends_with("replaced"); }),
                    0);
            }
}

TEST(Pivoting, DoesNotCountAReplacedPivotOfARegularMatrixAsZero) {
    Options options = pivoting(Pivoting::delayed, Factorization::ldlt);
    options.scaling = options.matching = Toggle::off;
    options.pivot_threshold = 1e-13;
    auto solver = factorized(with_a_small_row(900, 5e-14), options);
    ASSERT_EQ(solver.report().factor.pivots_replaced, 1);
    char const* const reason = "not certain that the matrix is singular";
    EXPECT_TRUE(throws_error(Status::inaccurate, reason, [&] { (void)solver.inertia(); }));
    EXPECT_TRUE(throws_error(Status::inaccurate, reason, [&] { (void)solver.determinant(); }));
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
        auto const b = dense_product(whole, solution);
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

TEST(Pivoting, FollowsValuesAndOptionsInRefactorizations) {
    expect_values_and_options_followed();
}

TEST(Pivoting, AutoHasTheBitsOfSufficientStaticPivots) {
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

// Two systems beside each other, of the same symmetry.
CscMatrix<double> beside(CscMatrix<double> const& a, CscMatrix<double> const& b) {
    CscMatrix<double> both = a;
    both.rows += b.rows;
    both.cols += b.cols;
    for (std::size_t j = 1; j < b.col_ptr.size(); ++j)
        both.col_ptr.push_back(a.col_ptr.back() + b.col_ptr[j]);
    for (Index const i : b.row_ind) both.row_ind.push_back(a.rows + i);
    both.values.insert(both.values.end(), b.values.begin(), b.values.end());
    return both;
}

// In the first system L grows to 300, which refinement corrects. In the second one, static pivots fail.
TEST(Pivoting, AutoDelaysColumnsOnlyWhereStaticPivotsFail) {
    auto const grid = [](Index i, Index j) { return i - j == 20 || (i - j == 1 && i % 20 > 0); };
    auto const mild = matrix_of<double>(1200, Symmetry::symmetric, [&](Index i, Index j) {
        if (i == j) return i < 400 ? 1e6 : 1.0;
        if (i < 400) return grid(i, j) ? 1.0 : 0.0;
        Index const neighbor = (i - 400) / 2;
        return neighbor == j || neighbor == j + 20 ? 300.0 : 0.0;
    });
    auto const hard = kkt_system<double>(Symmetry::symmetric, 120, 50, 3);
    auto const delayed_with = [](CscMatrix<double> const& a, Pivoting how) {
        Options options = pivoting(how, Factorization::ldlt, Toggle::off);
        options.scaling = Toggle::off;
        return factorized(a, options).report().factor.pivots_delayed;
    };
    EXPECT_GT(delayed_with(mild, Pivoting::delayed), 0);
    EXPECT_EQ(delayed_with(mild, Pivoting::automatic), 0);
    Index const alone = delayed_with(hard, Pivoting::automatic);
    EXPECT_GT(alone, 0);
    EXPECT_LE(delayed_with(beside(mild, hard), Pivoting::automatic), 2 * alone);
    EXPECT_GT(delayed_with(beside(mild, hard), Pivoting::delayed), 2 * alone);
}

TEST(Pivoting, GivesAccurateSchurComplements) {
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
        auto const b = dense_product(dense, solution);
        auto condensed = solver.condense(b, 2);
        test::Dense<double> s(std::ssize(schur));
        s.values = solver.schur_complement().values;
        DenseLu<double>(s).apply()(condensed, 2, MatrixOp::none);
        EXPECT_LE(difference(solver.expand(b, condensed, 2), solution), 1e-9) << to_string(kind);
    }
}

TEST(Pivoting, FallsBackToDelayedPivotsForAccurateSchurComplements) {
    for (auto const kind : {Factorization::ldlt, Factorization::lu})
        for (unsigned const seed : {2U, 3U}) {
            Options const options = pivoting(Pivoting::static_pivots, kind, Toggle::off);
            auto const a = kkt_system<double>(symmetry_for<double>(kind), 100, 30, seed);
            expect_good_schur_complement(options, a, true);
            auto const c =
                kkt_system<std::complex<float>>(symmetry_for<std::complex<float>>(kind), 100, 30, seed);
            expect_good_schur_complement(options, c, true);
            expect_good_schur_complement(options, generated<double>("elast3d:3"), false);
        }
}

TEST(Pivoting, DelaysColumnsInMixedPrecision) {
    auto const a = kkt_system<double>(Symmetry::symmetric, 120, 50, 3);
    Options options = pivoting(Pivoting::delayed, Factorization::ldlt, Toggle::off);
    options.mixed_precision = true;
    auto solver = factorized(a, options);
    EXPECT_EQ(solver.report().factor.scalar, Scalar::s);
    EXPECT_GT(solver.report().factor.pivots_delayed, 0);
    auto const b = random_vector<double>(a.cols, 1);
    EXPECT_TRUE(solve_and_refine(solver, a, b).converged);
}

// Only zero pivots are replaced although columns may be delayed.
TEST(Pivoting, KeepsDelayedFactorsOfSingularMatricesInMixedPrecision) {
    Options options = pivoting(Pivoting::delayed, Factorization::ldlt);
    options.mixed_precision = options.condition = options.allow_singular = true;
    auto const solver = factorized(neumann(40, 0), options);
    EXPECT_EQ(solver.report().factor.pivots_replaced, 1);
    EXPECT_EQ(solver.report().factor.scalar, Scalar::s);
    EXPECT_FALSE(solver.report().factor.precision_fell_back);
}

// The condition is requested, so that columns are delayed. If they do not fit, the call succeeds with static
// pivots.
TEST(Pivoting, KeepsStaticPivotsIfThereIsNoMemoryForDelayedOnes) {
    int tested = 0;
    auto const test = [&](CscMatrix<double> const& a, Options options) {
        options.condition = true;
        auto const unlimited = factorized(a, options);
        std::uint64_t const delayed = unlimited.report().factor.delayed_bytes;
        std::uint64_t const of_condition = static_cast<std::uint64_t>(a.rows) * 40 * sizeof(double);
        if (delayed < of_condition || unlimited.report().factor.pivots_replaced > 0) return;
        ++tested;
        options.max_memory = unlimited.report().analysis.memory_bytes + delayed - 1;
        auto limited = factorized(a, options);
        EXPECT_GT(limited.report().factor.pivots_replaced, 0);
        EXPECT_GT(limited.report().factor.rcond, 0);
        EXPECT_EQ(status_of([&] { std::ignore = limited.inertia(); }), Status::inaccurate);
        std::vector<double> const b(static_cast<std::size_t>(a.rows), 1.0);
        EXPECT_TRUE(solve_and_refine(limited, a, b).converged);
    };
    for (unsigned seed = 1; seed <= 40; ++seed) test(network<double>(118, seed), {});
    for (unsigned seed = 1; seed <= 4; ++seed)
        for (Index const n : {300, 600})
            test(kkt_system<double>(Symmetry::symmetric, n, n / 3, seed),
                 pivoting(Pivoting::static_pivots, Factorization::ldlt, Toggle::off));
    EXPECT_GT(tested, 0);
}

TEST(Pivoting, RespectsTheLimitOfMemory) {
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

TEST(Pivoting, NeedsAnAnalysisIfPanelsAreSplitInTwoDimensions) {
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
    solver.factorize(a); // uses static pivots
    options.pivoting = Pivoting::delayed;
    solver.set_options(options);
    solver.analyze(a);
    EXPECT_EQ(solver.report().schedule.splitting, Splitting::dynamic);
    solver.factorize(a);
}

} // namespace
} // namespace espalier
