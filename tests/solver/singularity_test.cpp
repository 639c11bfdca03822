// Singular matrices must never be reported as solved, whatever the right-hand side. Ill-scaled matrices must
// be solved.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "solver/systems.hpp"

namespace espalier {
namespace {

// The 2D Laplacian with Neumann boundaries. Row sums are zero, and constants are the null space.
CscMatrix<double> neumann(Index n, bool symmetric) {
    auto const near = [](Index a, Index b) { return std::abs(a - b) == 1; };
    auto const degree = [n](Index x) { return (x > 0) + (x + 1 < n); };
    auto const value = [=](Index i, Index j) -> double {
        Index const x = j % n, y = j / n;
        if (i == j) return degree(x) + degree(y);
        return (i / n == y && near(i % n, x)) || (i % n == x && near(i / n, y)) ? -1 : 0;
    };
    return matrix_of(n * n, symmetric ? Symmetry::symmetric : Symmetry::general, value);
}

// A symmetric tridiagonal matrix with `beside` next to the diagonal.
template <class Diagonal> CscMatrix<double> tridiagonal(Index n, Diagonal const& diagonal, double beside) {
    return matrix_of(n, Symmetry::symmetric, [&](Index i, Index j) {
        return i == j ? diagonal(j) : i == j + 1 ? beside : 0.0;
    });
}

// Whether the run ends in a flag: an error, an unconverged solution, or one marked singular.
bool is_flagged(CscMatrix<double> const& a, std::vector<double> const& b, Factorization kind) {
    Options options;
    options.factorization = kind;
    Solver<double> solver(options);
    try {
        solver.factorize(a);
        return !solve_and_refine(solver, a, b).converged || solver.report().factor.numerically_singular;
    } catch (Error const& error) {
        return error.status() == Status::singular || error.status() == Status::not_positive_definite;
    }
}

TEST(Singularity, IsFlaggedForANeumannLaplacianByEveryFactorization) {
    for (Index const n : {Index{3}, Index{10}, Index{37}}) {
        std::vector<double> inconsistent(static_cast<std::size_t>(n * n), 0.0);
        inconsistent[0] = 1;
        for (Factorization const kind :
             {Factorization::automatic, Factorization::llh, Factorization::ldlt, Factorization::lu}) {
            EXPECT_TRUE(is_flagged(neumann(n, true), inconsistent, kind)) << n << ", " << to_string(kind);
        }
        EXPECT_TRUE(is_flagged(neumann(n, false), inconsistent, Factorization::lu)) << n;
    }
}

TEST(Singularity, IsDetectedWithAConsistentRightHandSide) {
    auto const a = matrix_from(Symmetry::general, {{1, 1}, {1, 1}});
    EXPECT_TRUE(is_flagged(a, {1, 1}, Factorization::lu));
    auto solver = factorized(a);
    EXPECT_EQ(solver.report().factor.pivots_replaced, 1);
    auto const report = solve_and_refine(solver, a, {1, 0}); // no solution exists
    EXPECT_GT(report.backward_error, 1e-12);
    EXPECT_FALSE(report.converged);
}

TEST(Singularity, IsNotConcludedFromBadScaling) {
    // The matrix is D A D for a good matrix A and scales over 24 decades. Every factorization solves it to
    // full accuracy.
    CscMatrix<double> a = neumann(12, true);
    auto scale = [](Index i) { return std::exp2(static_cast<double>(i % 81 - 40)); };
    for (Index j = 0; j < a.cols; ++j) a.values[a.col_ptr[j]] += 0.5; // the diagonal comes first
    scale_values(a, [&](Index i, Index j) { return scale(i) * scale(j); });
    std::vector<double> const b(static_cast<std::size_t>(a.cols), 1.0);
    for (Factorization const kind : {Factorization::llh, Factorization::ldlt, Factorization::lu}) {
        Options options;
        options.factorization = kind;
        auto solver = factorized(a, options);
        EXPECT_EQ(solver.report().factor.pivots_replaced, 0) << to_string(kind);
        EXPECT_LE(solve_and_refine(solver, a, b).componentwise_error, 1e-12) << to_string(kind);
        EXPECT_FALSE(solver.report().factor.numerically_singular) << to_string(kind);
    }
}

// A chain held by constraints, of which `twice` puts two on the same pair of unknowns. The null vector is
// then in two multipliers among hundreds of unknowns of very different sizes.
CscMatrix<double> constrained_chain(Index n, Index constraints, bool twice) {
    auto const constrained = [=](Index c) { return (twice && c == 1 ? 0 : c) * (n / constraints); };
    return matrix_of(n + constraints, Symmetry::symmetric, [=](Index i, Index j) {
        if (j >= n) return 0.0;
        if (i < n) return i == j ? 2.001 : i == j + 1 ? -1.0 : 0.0;
        if (constrained(i - n) == j) return 1 + 0.1 * static_cast<double>(j % 7);
        return constrained(i - n) + 1 == j ? -0.3 : 0.0;
    });
}

TEST(Singularity, IsDetectedInANullVectorOfTwoMultipliersAmongMany) {
    for (Index const n : {60, 400}) {
        auto const singular = constrained_chain(n, 20, true);
        std::vector<double> b(singular.cols, 1.0);
        EXPECT_TRUE(is_flagged(singular, b, Factorization::automatic)) << n;
        b[n] = 2;
        EXPECT_TRUE(is_flagged(singular, b, Factorization::lu)) << n;
        EXPECT_FALSE(is_flagged(constrained_chain(n, 20, false), b, Factorization::automatic)) << n;
    }
}

// Many static pivots of matrices without a diagonal are replaced. The factors are then useless, and so are
// the large vectors that they give. Columns of split panels cannot be delayed; otherwise, the matrix is
// factorized again.
TEST(Singularity, IsNotConcludedFromUselessFactors) {
    for (Splitting const splitting : {Splitting::one_d, Splitting::two_d}) {
        int replaced = 0;
        for (unsigned seed = 0; seed < 60; ++seed) {
            std::mt19937 random(seed);
            std::uniform_real_distribution<double> uniform(-1, 1);
            Index const n = 24;
            auto const a = matrix_of(n, Symmetry::general, [&](Index i, Index j) {
                double const value = uniform(random);
                return i + j == n - 1               ? 2 + value
                       : i == j || random() % 8 > 0 ? 0.0
                                                    : 0.2 * value; // dominated by the anti-diagonal
            });
            Options options;
            options.factorization = Factorization::lu;
            options.supernodes = Toggle::on;
            options.matching = Toggle::off;
            options.pivoting = Pivoting::static_pivots;
            options.max_block_width = 2;
            options.splitting = splitting;
            options.split_width = options.split_rows = 1;
            options.split_seconds = 0;
            auto solver = factorized(a, options);
            replaced += solver.report().factor.pivots_replaced > 4;
            auto const report = solve_and_refine(solver, a, random_vector<double>(n, seed));
            EXPECT_FALSE(solver.report().factor.numerically_singular) << seed;
            EXPECT_NE(report.status, Status::singular) << seed;
            if (splitting == Splitting::one_d) {
                EXPECT_LT(report.backward_error, 1e-12) << seed;
            }
        }
        if (splitting == Splitting::two_d) {
            EXPECT_GT(replaced, 10);
        }
    }
}

// In columns that are eliminated one by one, entries double in each step, up to 2^1023. They are finite, and
// solutions are not. A zero pivot elsewhere is replaced. Columns of split panels cannot be delayed.
TEST(Singularity, IsNotConcludedFromSolutionsThatOverflow) {
    Index const n = 1028; // of the block that grows
    auto const a = matrix_of(n + 2, Symmetry::general, [](Index i, Index j) {
        if (i >= n || j >= n) return i >= n && j >= n && i != j ? 1.0 : 0.0;
        return i == j ? 2.0 : i == j + 1 ? 4.0 : i == 0 && j == n - 1 ? 0.0625 : 0.0;
    });
    Options options;
    options.ordering = OrderingMethod::natural;
    options.factorization = Factorization::lu;
    options.supernodes = Toggle::on;
    options.matching = options.scaling = Toggle::off;
    options.pivoting = Pivoting::static_pivots;
    options.max_block_width = 1;
    options.splitting = Splitting::two_d;
    options.split_width = options.split_rows = 1;
    options.split_seconds = 0;
    auto solver = factorized(a, options);
    EXPECT_EQ(solver.report().factor.pivots_replaced, 1);
    EXPECT_FALSE(solver.report().factor.numerically_singular);
    EXPECT_EQ(solve_and_refine(solver, a, random_vector<double>(a.cols, 1)).status, Status::inaccurate);
    EXPECT_FALSE(solver.report().factor.numerically_singular);
}

TEST(Conditioning, NearSingularityStillGivesFullAccuracy) {
    // The entries are exact and between -1 and 2, and the inverse is of order 1e13: x = 1 over 2^-44.
    constexpr Index n = 24;
    double const shift = std::ldexp(1.0, -44);
    auto const a = tridiagonal(n, [=](Index j) { return j == 0 ? 1 + shift : j + 1 == n ? 1.0 : 2.0; }, -1);
    // The sum of the rows from the last one up gives shift * x_0 = sum of b; the differences follow.
    std::vector<double> b(n, 0.0);
    b[0] = 1;
    Options options;
    options.ordering = OrderingMethod::natural;
    auto solver = factorized(a, options);
    auto x = solver.solve(b);
    auto const report = solver.refine(a, b, x);
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_GT(solver.report().factor.condition_estimate, 1e13);
    for (double const value : x) EXPECT_LE(std::abs(value * shift - 1), 1e-15);
}

// The condition number is above 2^52, and no pivot is replaced. A solution that is not large is accepted.
TEST(Conditioning, ASolvedSystemIsNotSingularBecauseOfItsCondition) {
    double const gap = std::ldexp(1.0, -51);
    auto const a = matrix_of(3, Symmetry::symmetric, [=](Index i, Index j) {
        return i == 1 && j == 1 ? 1 + gap : i == 2 && j < 2 ? 0.0 : 1.0;
    });
    std::vector<double> const b{2, 2 + gap, 1}; // A x for x = 1
    Options options;
    options.supernodes = Toggle::on;
    auto solver = factorized(a, options);
    EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
    EXPECT_GT(solver.report().factor.condition_estimate, 1e15);
    EXPECT_FALSE(solver.report().factor.numerically_singular);
    auto x = solver.solve(b);
    auto const report = solver.refine(a, b, x);
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_LT(report.backward_error, 1e-15);
}

TEST(Fallback, ScalesASystemThatCholeskyLeftUnscaled) {
    // The matrix is indefinite with a positive diagonal, scaled over 24 decades. llh is tried first, and
    // fails near the end.
    auto a = tridiagonal(60, [](Index) { return 1.0; }, -0.9);
    auto scale = [](Index i) { return std::exp2(static_cast<double>(i * 37 % 81 - 40)); };
    scale_values(a, [&](Index i, Index j) { return scale(i) * scale(j); });
    auto solver = factorized(a);
    EXPECT_TRUE(solver.report().factor.fell_back);
    EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
    EXPECT_LE(solve_and_refine(solver, a, std::vector<double>(60, 1.0)).componentwise_error, 1e-13);
}

TEST(Refactorization, ChoosesAgainWhenNewValuesAreNoLongerReal) {
    using Complex = std::complex<double>;
    auto a = matrix_from<Complex>(Symmetry::symmetric, {{4, 1}, {1, 4}});
    auto solver = factorized(a);
    EXPECT_EQ(solver.report().factorization, Factorization::llh);
    a.values = {4, Complex(0, 2), Complex(1, 1)};
    solver.factorize(a);
    EXPECT_EQ(solver.report().factorization, Factorization::ldlt);
    EXPECT_LE(solve_and_refine(solver, a, {1, 2}).backward_error, 1e-15);
}

// The factors of a replaced pivot are those of a matrix that is less singular. Entries of A and x are dyadic,
// so that b is exact.
void expect_true_bound(double most_scale) {
    Index const n = 40;
    auto const scale = [=](Index i) {
        return std::exp2(std::round(most_scale * std::sin(static_cast<double>(7 * i))));
    };
    auto const diagonal = [=](Index j) { return (j == 0 || j == n - 1 ? 1.0 : 2.0) + 0x1p-36; };
    auto a = tridiagonal(n, diagonal, -1); // path Laplacian + 2^-36 I
    std::vector<double> exact(n), b(n);
    for (Index j = 0; j < n; ++j) exact[j] = static_cast<double>(j % 5 + 1);
    for (Index j = 0; j < n; ++j)
        b[j] = diagonal(j) * exact[j] - (j > 0 ? exact[j - 1] : 0) - (j + 1 < n ? exact[j + 1] : 0);
    scale_values(a, [&](Index i, Index j) { return scale(i) * scale(j); });
    for (Index j = 0; j < n; ++j) b[j] *= scale(j), exact[j] /= scale(j);
    double const largest = *std::ranges::max_element(exact);
    for (Factorization const kind : {Factorization::ldlt, Factorization::lu})
        for (bool const asked_later : {true, false}) { // later, or by factorize(), which then replaces pivots
            Options options;
            options.factorization = kind;
            options.pivoting = Pivoting::static_pivots;
            options.supernodes = Toggle::on;
            options.condition = !asked_later;
            auto solver = factorized(a, options);
            EXPECT_EQ(solver.report().factor.pivots_replaced > 0, asked_later);
            options.condition = true;
            solver.set_options(options);
            auto x = solver.solve(b);
            auto const report = solver.refine(a, b, x);
            double error = 0;
            for (Index i = 0; i < n; ++i) error = std::max(error, std::abs(x[i] - exact[i]) / largest);
            EXPECT_GE(report.forward_error, error) << to_string(kind) << most_scale;
            EXPECT_LE(report.forward_error, 1e5 * error + 1e-3) << to_string(kind);
        }
}

TEST(ConditionOption, BoundsTheErrorOfANearlySingularMatrixWithAReplacedPivot) {
    expect_true_bound(0);
}

TEST(ConditionOption, BoundsTheErrorOfABadlyScaledMatrixWithAReplacedPivot) {
    for (double const most_scale : {2, 6, 12, 20}) expect_true_bound(most_scale);
}

// A kept unknown has no entries, so its row of S is zero.
TEST(Schur, MayHaveAZeroRowIfTheInteriorIsRegular) {
    auto const a = matrix_of(6, Symmetry::symmetric, [](Index i, Index j) -> double {
        if (i == 2 || j == 2) return 0;
        return i == j ? 3 : i == j + 1 || i == j + 2 ? -1 : 0;
    });
    for (Factorization const kind : {Factorization::ldlt, Factorization::lu}) {
        Options options;
        options.factorization = kind;
        options.schur = {2, 5};
        auto solver = factorized(a, options);
        auto const s = solver.schur_complement();
        EXPECT_EQ(s.values[0], 0);
        EXPECT_EQ(s.values[1], 0);
        EXPECT_EQ(s.values[2], 0);
        EXPECT_GT(s.values[3], 0);
    }
}

// Kept unknowns are not scaled.
TEST(Singularity, IgnoresTheSizeOfKeptUnknowns) {
    std::vector<Index> const kept{4, 9};
    auto const is_kept = [&](Index i) { return std::ranges::count(kept, i) > 0; };
    auto const a = matrix_of(20, Symmetry::symmetric, [&](Index i, Index j) {
        double const entry = i == j ? (i % 2 ? 3.0 : -40.0) : i - j < 3 ? 1.0 : 0.0;
        return entry * (is_kept(i) ? 0x1p30 : 1) * (is_kept(j) ? 0x1p30 : 1);
    });
    for (Factorization const kind : {Factorization::ldlt, Factorization::lu}) {
        Options options;
        options.factorization = kind;
        options.schur = kept;
        auto const solver = factorized(a, options);
        EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
        EXPECT_LE(solver.report().factor.schur_error, 1e-14);
    }
}

// The analysis computed its scales from other values.
TEST(Refactorization, IsNotSingularBecauseOfScalesOfOtherValues) {
    auto a = matrix_of(20, Symmetry::symmetric, [](Index i, Index j) {
        return i == j ? (i % 2 ? 3.0 : -40.0) : i - j < 3 ? 1.0 : 0.0;
    });
    Options options;
    options.factorization = Factorization::ldlt;
    options.schur = {4, 9};
    auto solver = factorized(a, options);
    scale_values(a, [&](Index i, Index j) {
        auto const scale = [](Index k) {
            return std::ranges::count(std::vector<Index>{4, 9}, k)
                       ? 1.0
                       : std::exp2(static_cast<double>(k * 7 % 41 - 20));
        };
        return scale(i) * scale(j);
    });
    solver.factorize(a);
    EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
    EXPECT_FALSE(solver.report().factor.numerically_singular);
    EXPECT_LE(solver.report().factor.schur_error, 1e-14);
}

} // namespace
} // namespace espalier
