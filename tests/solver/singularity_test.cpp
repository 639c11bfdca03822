// Singular matrices must never pass for solved, whatever the right-hand side; ill-scaled ones must.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "espalier/espalier.hpp"

namespace espalier {
namespace {

// 1D or 2D Laplacian with Neumann boundaries: row sums are zero, constants are the null space.
CscMatrix<double> neumann(Index n, bool symmetric) {
    CscMatrix<double> a;
    a.rows = a.cols = n * n;
    a.symmetry = symmetric ? Symmetry::symmetric : Symmetry::general;
    a.col_ptr.clear();
    for (Index j = 0; j < n * n; ++j) {
        a.col_ptr.push_back(static_cast<Offset>(a.values.size()));
        Index const x = j % n, y = j / n;
        std::vector<Index> neighbours;
        if (y > 0) neighbours.push_back(j - n);
        if (x > 0) neighbours.push_back(j - 1);
        auto const before = static_cast<Index>(neighbours.size());
        if (x + 1 < n) neighbours.push_back(j + 1);
        if (y + 1 < n) neighbours.push_back(j + n);
        auto add = [&](Index i, double value) {
            if (symmetric && i < j) return;
            a.row_ind.push_back(i);
            a.values.push_back(value);
        };
        for (Index k = 0; k < before; ++k) add(neighbours[k], -1);
        add(j, static_cast<double>(neighbours.size()));
        for (auto k = static_cast<std::size_t>(before); k < neighbours.size(); ++k) add(neighbours[k], -1);
    }
    a.col_ptr.push_back(static_cast<Offset>(a.values.size()));
    return a;
}

// True when the run ends in a flag: an error, an unconverged solution, or one marked singular.
bool is_flagged(CscMatrix<double> const& a, std::vector<double> const& b, Factorization kind) {
    Options options;
    options.factorization = kind;
    Solver<double> solver(options);
    try {
        solver.factorize(a);
        auto x = solver.solve(b);
        auto const refined = solver.refine(a, b, x);
        return !refined.converged || solver.report().factor.numerically_singular;
    } catch (Error const& error) {
        return error.status() == Status::singular || error.status() == Status::not_positive_definite;
    }
}

TEST(Singularity, OfANeumannLaplacianIsFlaggedForEveryFactorization) {
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

TEST(Singularity, IsSeenThroughAConsistentRightHandSide) {
    CscMatrix<double> a;
    a.rows = a.cols = 2;
    a.col_ptr = {0, 2, 4};
    a.row_ind = {0, 1, 0, 1};
    a.values = {1, 1, 1, 1};
    EXPECT_TRUE(is_flagged(a, {1, 1}, Factorization::lu));
    EXPECT_TRUE(is_flagged(a, {1, 0}, Factorization::lu));
}

TEST(Singularity, IsNotSeenInBadScaling) {
    // D A D of a good matrix, scales over 24 decades: solved, to every digit, by every factorization.
    CscMatrix<double> a = neumann(12, true);
    auto scale = [](Index i) { return std::exp2(static_cast<double>(i % 81 - 40)); };
    for (Index j = 0; j < a.cols; ++j)
        for (Offset p = a.col_ptr[j]; p < a.col_ptr[j + 1]; ++p) {
            Index const i = a.row_ind[p];
            auto& value = a.values[p];
            if (i == j) value += 0.5;
            value *= scale(i) * scale(j);
        }
    std::vector<double> const b(static_cast<std::size_t>(a.cols), 1.0);
    for (Factorization const kind : {Factorization::llh, Factorization::ldlt, Factorization::lu}) {
        Options options;
        options.factorization = kind;
        Solver<double> solver(options);
        solver.factorize(a);
        EXPECT_EQ(solver.report().factor.pivots_replaced, 0) << to_string(kind);
        auto x = solver.solve(b);
        auto const report = solver.refine(a, b, x);
        EXPECT_LE(report.componentwise_error, 1e-12) << to_string(kind);
        EXPECT_FALSE(solver.report().factor.numerically_singular) << to_string(kind);
    }
}

// A chain held by constraints, `twice` of them on the same pair of unknowns: the null vector then lies in two
// multipliers among hundreds of unknowns of every size.
CscMatrix<double> constrained_chain(Index n, Index constraints, bool twice) {
    CscMatrix<double> a;
    a.rows = a.cols = n + constraints;
    a.symmetry = Symmetry::symmetric;
    a.col_ptr.clear();
    auto const constrained = [&](Index c) { return (twice && c == 1 ? 0 : c) * (n / constraints); };
    for (Index j = 0; j < a.cols; ++j) {
        a.col_ptr.push_back(static_cast<Offset>(a.values.size()));
        if (j >= n) continue;
        auto const add = [&](Index i, double value) {
            a.row_ind.push_back(i);
            a.values.push_back(value);
        };
        add(j, 2.001);
        if (j + 1 < n) add(j + 1, -1);
        for (Index c = 0; c < constraints; ++c) {
            if (constrained(c) == j) add(n + c, 1 + 0.1 * static_cast<double>(j % 7));
            if (constrained(c) + 1 == j) add(n + c, -0.3);
        }
    }
    a.col_ptr.push_back(static_cast<Offset>(a.values.size()));
    return a;
}

TEST(Singularity, IsSeenInANullVectorOfTwoMultipliersAmongMany) {
    for (Index const n : {60, 400}) {
        auto const singular = constrained_chain(n, 20, true);
        std::vector<double> b(singular.cols, 1.0);
        EXPECT_TRUE(is_flagged(singular, b, Factorization::automatic)) << n;
        b[n] = 2;
        EXPECT_TRUE(is_flagged(singular, b, Factorization::lu)) << n;
        EXPECT_FALSE(is_flagged(constrained_chain(n, 20, false), b, Factorization::automatic)) << n;
    }
}

TEST(Conditioning, AtTheEdgeOfSingularityStillGivesEveryDigit) {
    // Entries from -1 to 2, all exact, and an inverse of order 1e13: x = 1 over 2^-44.
    constexpr Index n = 24;
    double const shift = std::ldexp(1.0, -44);
    CscMatrix<double> a;
    a.rows = a.cols = n;
    a.symmetry = Symmetry::symmetric;
    a.col_ptr.clear();
    for (Index j = 0; j < n; ++j) {
        a.col_ptr.push_back(static_cast<Offset>(a.values.size()));
        a.row_ind.push_back(j);
        a.values.push_back(j == 0 ? 1 + shift : j + 1 == n ? 1 : 2);
        if (j + 1 == n) continue;
        a.row_ind.push_back(j + 1);
        a.values.push_back(-1);
    }
    a.col_ptr.push_back(static_cast<Offset>(a.values.size()));
    // Summing the rows from the last one up: shift * x_0 = sum of b, and the differences follow.
    std::vector<double> b(n, 0.0);
    b[0] = 1;
    Options options;
    options.ordering = OrderingMethod::natural;
    Solver<double> solver(options);
    solver.factorize(a);
    auto x = solver.solve(b);
    auto const report = solver.refine(a, b, x);
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_GT(solver.report().factor.condition_estimate, 1e13);
    for (double const value : x) EXPECT_LE(std::abs(value * shift - 1), 1e-15);
}

TEST(Fallback, ScalesWhatCholeskyLeftUnscaled) {
    // Indefinite with a positive diagonal, scaled over 24 decades: llh is tried first and meets it in the
    // end.
    CscMatrix<double> a;
    a.rows = a.cols = 60;
    a.symmetry = Symmetry::symmetric;
    a.col_ptr.clear();
    auto scale = [](Index i) { return std::exp2(static_cast<double>(i * 37 % 81 - 40)); };
    for (Index j = 0; j < a.cols; ++j) {
        a.col_ptr.push_back(static_cast<Offset>(a.values.size()));
        for (Index i = j; i < std::min(a.cols, j + 2); ++i) {
            a.row_ind.push_back(i);
            a.values.push_back((i == j ? 1 : -0.9) * scale(i) * scale(j));
        }
    }
    a.col_ptr.push_back(static_cast<Offset>(a.values.size()));
    Solver<double> solver;
    solver.factorize(a);
    EXPECT_TRUE(solver.report().factor.fell_back);
    EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
    std::vector<double> const b(60, 1.0);
    auto x = solver.solve(b);
    EXPECT_LE(solver.refine(a, b, x).componentwise_error, 1e-13);
}

TEST(Refactorization, ChoosesAgainWhenNewValuesAreNoLongerReal) {
    using Complex = std::complex<double>;
    CscMatrix<Complex> a;
    a.rows = a.cols = 2;
    a.symmetry = Symmetry::symmetric;
    a.col_ptr = {0, 2, 3};
    a.row_ind = {0, 1, 1};
    a.values = {4, 1, 4};
    Solver<Complex> solver;
    solver.factorize(a);
    EXPECT_EQ(solver.report().factorization, Factorization::llh);
    a.values = {4, Complex(0, 2), Complex(1, 1)};
    solver.factorize(a);
    EXPECT_EQ(solver.report().factorization, Factorization::ldlt);
    std::vector<Complex> const b{1, 2};
    auto x = solver.solve(b);
    EXPECT_LE(solver.refine(a, b, x).backward_error, 1e-15);
}

// The factors of a replaced pivot are those of a matrix that is less singular. Entries of A and x are dyadic,
// so that b is exact.
TEST(ConditionOption, BoundsTheErrorOfANearlySingularMatrixWithAReplacedPivot) {
    Index const n = 40;
    CscMatrix<double> a; // path Laplacian + 2^-36 I
    a.rows = a.cols = n;
    a.symmetry = Symmetry::symmetric;
    a.col_ptr.clear();
    std::vector<double> exact(n), b(n, 0.0);
    for (Index j = 0; j < n; ++j) exact[j] = static_cast<double>(j % 5 + 1);
    for (Index j = 0; j < n; ++j) {
        a.col_ptr.push_back(std::ssize(a.values));
        double const diagonal = (j == 0 || j == n - 1 ? 1.0 : 2.0) + 0x1p-36;
        a.row_ind.push_back(j);
        a.values.push_back(diagonal);
        b[j] += diagonal * exact[j];
        if (j + 1 == n) break;
        a.row_ind.push_back(j + 1);
        a.values.push_back(-1);
        b[j + 1] -= exact[j];
        b[j] -= exact[j + 1];
    }
    a.col_ptr.push_back(std::ssize(a.values));
    for (Factorization const kind : {Factorization::ldlt, Factorization::lu}) {
        Options options;
        options.factorization = kind;
        options.condition = true;
        Solver<double> solver(options);
        solver.factorize(a);
        EXPECT_GT(solver.report().factor.pivots_replaced, 0);
        auto x = solver.solve(b);
        auto const report = solver.refine(a, b, x);
        double error = 0;
        for (Index i = 0; i < n; ++i) error = std::max(error, std::abs(x[i] - exact[i]) / 5);
        EXPECT_GE(report.forward_error, error) << to_string(kind);
        EXPECT_LE(report.forward_error, 1e5 * error + 1e-3) << to_string(kind);
    }
}

} // namespace
} // namespace espalier
