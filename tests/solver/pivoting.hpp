// Helpers of the tests of pivoting: options, and comparisons of systems with LAPACK.
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include <gtest/gtest.h>

#include "comm/thread_processes.hpp"
#include "common/eigenvalues.hpp"
#include "common/kkt.hpp"
#include "refine/dense.hpp"
#include "solver/generated.hpp"
#include "solver/problems.hpp"

namespace espalier {

inline constexpr Pivoting with_delays[] = {Pivoting::delayed, Pivoting::automatic};

inline Options pivoting(Pivoting how, Factorization kind, Toggle matching = Toggle::automatic) {
    Options options = many_tasks(SchedulePolicy::static_order, Splitting::one_d, 2);
    options.pivoting = how;
    options.factorization = kind;
    options.matching = matching;
    return options;
}

// The 1D Laplacian with Neumann boundaries.
inline CscMatrix<double> neumann(Index n, double shift) {
    return matrix_of(n, Symmetry::symmetric, [n, shift](Index i, Index j) -> double {
        if (i == j) return (i > 0) + (i + 1 < n) + shift;
        return i == j + 1 ? -1 : 0;
    });
}

// A pivot is below 10 epsilon sqrt(n) times the largest entry, but the matrix is not within rounding of a
// singular one.
inline CscMatrix<double> with_a_small_row(Index n, double value) {
    return matrix_of<double>(n, Symmetry::symmetric, [=](Index i, Index j) {
        return i != j ? 0.0 : i == n / 2 ? value : 1.0;
    });
}

template <class T> std::vector<T> dense_product(test::Dense<T> const& a, std::vector<T> const& x) {
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
    /// A bound of the change of log |det| for a relative change 1 of the matrix: the sum of |A| /
    /// |eigenvalue|.
    double sensitivity = 0;
};

template <class T> Spectrum spectrum(CscMatrix<T> const& a) {
    auto const values = eigenvalues(test::to_dense<std::complex<double>>(a).values, static_cast<int>(a.cols));
    Spectrum result;
    double smallest = std::abs(values.front()), largest = smallest;
    for (double const value : values) {
        ++(value > 0 ? result.signs.positive : result.signs.negative);
        result.log_determinant += std::log(std::abs(value));
        smallest = std::min(smallest, std::abs(value));
        largest = std::max(largest, std::abs(value));
    }
    result.condition = largest / smallest;
    for (double const value : values) result.sensitivity += largest / std::abs(value);
    return result;
}

// Compares inertia, determinant and solutions with the spectrum.
template <class T> void expect_exact(CscMatrix<T> const& a, Options const& options, Spectrum const& expected,
                                     Communicator const& comm = {}) {
    auto const mine = on_process_0(comm, a);
    double const lost = expected.condition * static_cast<double>(epsilon<T>);
    auto solver = factorized(mine, options, comm);
    EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
    EXPECT_EQ(solver.inertia(), expected.signs) << expected.condition;
    auto const determinant = solver.determinant();
    EXPECT_EQ(real_part(determinant.phase), expected.signs.negative % 2 == 0 ? 1 : -1);
    EXPECT_NEAR(determinant.log_modulus, expected.log_determinant, 10 * expected.sensitivity * epsilon<T>);
    auto const solution = random_vector<T>(a.cols, 1);
    auto const b = on_process_0(comm, dense_product(test::to_dense(a), solution));
    auto x = solver.solve(b);
    // Without refinement, the bound of the error grows with the bound of L, 1/u, in each of the columns.
    double const largest = static_cast<double>(a.cols) / options.pivot_tolerance;
    EXPECT_LE(test::difference(x, on_process_0(comm, solution)), largest * lost) << expected.condition;
    solver.refine(mine, b, x);
    EXPECT_LE(test::difference(x, on_process_0(comm, solution)), 100 * lost) << expected.condition;
}

// `falls_back`: static pivots are not sufficient, and columns are delayed.
template <class T> void expect_good_schur_complement(Options options, CscMatrix<T> const& a, bool falls_back,
                                                     Communicator const& comm = {}) {
    options.schur = {31, 2, 17, 44, 0, 9, 25, 26, 27, 40, 5, 13};
    auto solver = factorized(on_process_0(comm, a), options, comm);
    FactorReport const& factor = solver.report().factor;
    EXPECT_GE(factor.schur_error, 0);
    EXPECT_LE(factor.schur_error, sizeof(Real<T>) == 8 ? 1e-12 : 1e-5);
    EXPECT_EQ(factor.pivots_delayed > 0, falls_back);
    EXPECT_EQ(factor.pivots_replaced, 0);
    auto const found = solver.schur_complement().values;
    if (comm.rank() > 0) return;
    // S is the inverse of the Schur block of the inverse.
    auto const inverse = test::inverse(test::to_dense<std::complex<double>>(a));
    test::Dense<std::complex<double>> block(std::ssize(options.schur));
    for (Index j = 0; j < block.cols; ++j)
        for (Index i = 0; i < block.cols; ++i) block(i, j) = inverse(options.schur[i], options.schur[j]);
    auto const expected = test::inverse(block).values;
    double largest = 0, error = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        std::complex<double> const value(static_cast<double>(real_part(found[i])),
                                         static_cast<double>(imag_part(found[i])));
        largest = std::max(largest, std::abs(expected[i]));
        error = std::max(error, std::abs(value - expected[i]));
    }
    EXPECT_LE(error, 1e5 * static_cast<double>(epsilon<T>) * largest);
}

// Columns are delayed for the first values, fewer for others, then again. Options change in between.
inline void expect_values_and_options_followed(Communicator const& comm = {}) {
    auto const hard = kkt_system<double>(Symmetry::symmetric, 120, 50, 3);
    auto easy = hard;
    for (Index j = 0; j < easy.cols; ++j)
        for (Offset p : easy.entries_of(j))
            if (easy.row_ind[p] == j) easy.values[p] = 20; // diagonal entries of constraints are not stored
    Options options = pivoting(Pivoting::delayed, Factorization::ldlt, Toggle::off);
    Solver<double> solver(options, comm);
    auto const mine = on_process_0(comm, hard), other = on_process_0(comm, easy);
    auto const solves = [&](CscMatrix<double> const& a) {
        auto const solution = random_vector<double>(a.cols, 5);
        auto const x = solver.solve(on_process_0(comm, dense_product(test::to_dense(a), solution)));
        EXPECT_LE(test::difference(x, on_process_0(comm, solution)), 1e-8);
    };
    solver.analyze(mine);
    solver.factorize(mine);
    Index const delayed = solver.report().factor.pivots_delayed;
    EXPECT_GT(delayed, 0);
    solves(hard);
    solver.factorize(other);
    EXPECT_LT(solver.report().factor.pivots_delayed, delayed);
    solves(easy);
    options.pivoting = Pivoting::static_pivots;
    solver.set_options(options);
    solver.factorize(mine);
    EXPECT_EQ(solver.report().factor.pivots_delayed, 0);
    EXPECT_GT(solver.report().factor.pivots_replaced, 0);
    options.pivoting = Pivoting::delayed;
    solver.set_options(options);
    solver.factorize(mine);
    // perhaps other columns, in the scales of the easy values
    EXPECT_GT(solver.report().factor.pivots_delayed, 0);
    solves(hard);
}

} // namespace espalier
