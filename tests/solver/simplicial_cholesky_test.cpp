// Cholesky factors without supernodes through Solver.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "core/status_of.hpp"
#include "generated.hpp"
#include "systems.hpp"

namespace espalier {
namespace {

using namespace test;

template <class T> class SimplicialCholesky : public testing::Test {};
TYPED_TEST_SUITE(SimplicialCholesky, Scalars);

// A diagonally dominant ring with chords, whose rows have very different scales.
template <class T> CscMatrix<T> ring(Index n, Symmetry symmetry) {
    auto a = matrix_of<T>(n, symmetry, [=](Index i, Index j) -> T {
        if (i == j) return T(4);
        bool const is_chord = i == j + 7 && j % 3 == 0;
        if (i != j + 1 && i != j + n - 1 && !is_chord) return T(0);
        if constexpr (is_complex<T>)
            if (symmetry == Symmetry::hermitian)
                return T(Real<T>(0.5), Real<T>(0.3 + 0.01 * static_cast<double>(j % 5)));
        return T(Real<T>(-1.1));
    });
    scale_values(a, [](Index i, Index j) { return static_cast<Real<T>>(std::exp2(i % 5 - 2 + j % 5 - 2)); });
    return a;
}

template <class T> std::vector<Symmetry> symmetries() {
    if constexpr (is_complex<T>) return {Symmetry::symmetric, Symmetry::hermitian};
    return {Symmetry::symmetric};
}

Options with_supernodes(Toggle supernodes) {
    Options options = on_threads(1);
    options.supernodes = supernodes;
    return options;
}

template <class T> void expect_close(std::vector<T> const& found, std::vector<T> const& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_LE(std::abs(found[i] - expected[i]), 1e4 * epsilon<T> * (1 + std::abs(expected[i])));
}

TYPED_TEST(SimplicialCholesky, AgreesWithSupernodes) {
    using T = TypeParam;
    for (Symmetry const symmetry : symmetries<T>()) {
        auto const a = ring<T>(60, symmetry);
        auto single = factorized(a, with_supernodes(Toggle::automatic)),
             blocks = factorized(a, with_supernodes(Toggle::on));
        EXPECT_EQ(single.report().factor_path, "simplicial");
        EXPECT_EQ(blocks.report().factor_path, "supernodal");
        EXPECT_EQ(single.report().factorization, Factorization::llh);
        EXPECT_EQ(single.report().factor.negative_pivots, 0);
        EXPECT_EQ(single.inertia(), (Inertia{60, 0, 0}));
        EXPECT_NEAR(single.determinant().log_modulus, blocks.determinant().log_modulus, 1e3 * epsilon<T>);
        EXPECT_EQ(single.determinant().phase, T(1));
        EXPECT_NEAR(single.reciprocal_condition(a) / blocks.reciprocal_condition(a), 1, 0.5);
        expect_close(single.selected_inverse(a).values, blocks.selected_inverse(a).values);
        expect_close(single.inverse_diagonal(), blocks.inverse_diagonal());
        for (MatrixOp const op : all_ops) {
            auto const b = random_vector<T>(9 * a.cols, 5);
            auto x = single.solve(b, 9, op);
            EXPECT_LE(single.refine(a, b, x, 9, op).backward_error, 10 * epsilon<T>);
        }
    }
}

// L L^H = A(p, p), and solves with both factors are the solution.
TYPED_TEST(SimplicialCholesky, FactorsMultiplyToTheMatrix) {
    using T = TypeParam;
    Index const n = 50;
    for (Symmetry const symmetry : symmetries<T>()) {
        auto const a = ring<T>(n, symmetry);
        auto solver = factorized(a, with_supernodes(Toggle::off));
        Factors<T> const factors = solver.factors();
        factors.lower.validate();
        EXPECT_EQ(factors.diagonal.cols, 0);
        auto const dense = to_dense(a), lower = to_dense(factors.lower);
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j) {
                T sum{};
                for (Index k = 0; k < n; ++k) sum += lower(i, k) * conj(lower(j, k));
                T const expected = dense(factors.row_permutation[i], factors.row_permutation[j]);
                EXPECT_LE(std::abs(sum - expected), 1e3 * epsilon<T> * (1 + std::abs(expected)));
            }
        auto const b = random_vector<T>(n, 8), x = solver.solve(b);
        std::vector<T> permuted(n), expected(n);
        for (Index i = 0; i < n; ++i) permuted[i] = b[factors.row_permutation[i]];
        for (Index i = 0; i < n; ++i) expected[i] = x[factors.row_permutation[i]];
        std::vector<T> const half = solver.solve_lower(permuted);
        std::vector<T> product(n, T(0));
        for (Index i = 0; i < n; ++i)
            for (Index k = 0; k < n; ++k) product[i] += lower(i, k) * half[k];
        expect_close(product, permuted);
        expect_close(solver.solve_lower_adjoint(half), expected);
    }
}

bool has_note(Report const& report, std::string_view text) {
    return std::ranges::any_of(report.notes,
                               [&](std::string const& note) { return note.find(text) != note.npos; });
}

// A positive diagonal, and 2 x 2 minors that are positive.
CscMatrix<double> indefinite_ring(Index n) {
    auto a = ring<double>(n, Symmetry::symmetric);
    scale_values(a, [](Index i, Index j) { return i == j ? 0.35 : 1.0; });
    return a;
}

TEST(SimplicialCholesky, ContinuesWithOtherFactorsIfPivotsAreNotPositive) {
    auto const definite = ring<double>(60, Symmetry::symmetric), indefinite = indefinite_ring(60);
    for (bool const is_analyzed : {false, true}) {
        Solver<double> solver(with_supernodes(Toggle::automatic));
        if (is_analyzed) solver.factorize(definite);
        solver.factorize(indefinite);
        Report const& report = solver.report();
        EXPECT_EQ(report.factorization, Factorization::ldlt);
        EXPECT_TRUE(report.factor.fell_back);
        EXPECT_TRUE(has_note(report, "auto chose ldlt: llh failed"));
        EXPECT_TRUE(has_note(report, "analyzed again with ldlt: the matrix is not positive definite"));
        EXPECT_GT(solver.inertia().negative, 0);
        EXPECT_EQ(solver.inertia(), factorized(indefinite, with_supernodes(Toggle::on)).inertia());
        EXPECT_LE(solve_and_refine(solver, indefinite, random_vector<double>(60, 3)).backward_error, 1e-15);
        solver.factorize(definite);
        EXPECT_EQ(solver.inertia(), (Inertia{60, 0, 0}));
        EXPECT_LE(solve_and_refine(solver, definite, random_vector<double>(60, 3)).backward_error, 1e-15);
    }
}

TEST(SimplicialCholesky, RefusesPivotsThatAreNotPositiveIfLlhWasRequested) {
    Options options = with_supernodes(Toggle::automatic);
    options.factorization = Factorization::llh;
    auto const definite = ring<double>(60, Symmetry::symmetric);
    auto wrong = definite;
    wrong.values[wrong.col_ptr[12]] = -1;
    Solver<double> solver = factorized(definite, options);
    EXPECT_EQ(solver.report().factor_path, "simplicial");
    EXPECT_TRUE(throws_error(Status::not_positive_definite,
                             "llh meets a pivot that is not positive at row and column 13 of the matrix",
                             [&] { solver.factorize(wrong); }));
    EXPECT_EQ(status_of([&] { (void)solver.solve(random_vector<double>(60, 1)); }), Status::usage);
    solver.factorize(definite);
    EXPECT_LE(solve_and_refine(solver, definite, random_vector<double>(60, 3)).backward_error, 1e-15);
    auto empty = matrix_of<double>(5, Symmetry::symmetric,
                                   [](Index i, Index j) { return i == j && i != 2 ? 1.0 : 0.0; });
    EXPECT_EQ(status_of([&] { Solver<double>(options).factorize(empty); }), Status::singular);
}

// Complex symmetric matrices with real values are Hermitian, too.
TEST(SimplicialCholesky, ComplexValuesOfASymmetricMatrixNeedOtherFactors) {
    using T = std::complex<double>;
    auto const real = ring<T>(40, Symmetry::symmetric);
    auto complex = real;
    for (T& value : complex.values) value *= T(1, 0.5);
    Solver<T> solver = factorized(real, with_supernodes(Toggle::automatic));
    EXPECT_EQ(solver.report().factorization, Factorization::llh);
    solver.factorize(complex);
    EXPECT_EQ(solver.report().factorization, Factorization::ldlt);
    EXPECT_EQ(solver.report().factor_path, "simplicial");
    EXPECT_LE(solve_and_refine(solver, complex, random_vector<T>(40, 3)).backward_error, 1e-15);
    Options options = with_supernodes(Toggle::automatic);
    options.factorization = Factorization::llh;
    Solver<T> asked = factorized(real, options);
    EXPECT_EQ(status_of([&] { asked.factorize(complex); }), Status::usage);
}

TEST(SimplicialCholesky, SingularSystemsAreFound) {
    auto a = matrix_of<double>(30, Symmetry::symmetric, [](Index i, Index j) {
        return i != j ? (i == j + 1 ? -1.0 : 0.0) : i == 0 || i == 29 ? 1.0 : 2.0;
    });
    Solver<double> solver = factorized(a, on_threads(1));
    EXPECT_TRUE(solver.report().factor.numerically_singular);
    a.values[0] = 1.001;
    solver.factorize(a);
    EXPECT_FALSE(solver.report().factor.numerically_singular);
    EXPECT_LE(solve_and_refine(solver, a, random_vector<double>(30, 3)).backward_error, 1e-15);
}

TEST(SimplicialCholesky, IsChosenForLittleFill) {
    auto const path_of = [](CscMatrix<double> const& a, Options const& options = on_threads(1)) {
        Solver<double> solver(options);
        solver.analyze(a);
        return solver.report().factor_path;
    };
    auto const forest = matrix_of<double>(3000, Symmetry::symmetric, [](Index i, Index j) {
        return i == j ? 8.0 : i > 0 && (i - 1) / 3 == j ? -1.0 : 0.0;
    });
    EXPECT_EQ(path_of(forest), "simplicial");
    EXPECT_EQ(path_of(generated<double>("lap2d:20")), "simplicial");
    EXPECT_EQ(path_of(generated<double>("lap3d:6")), "simplicial");
    auto const band = [](Index width) {
        return matrix_of<double>(1000, Symmetry::symmetric, [width](Index i, Index j) {
            return i == j ? 2.0 * static_cast<double>(width) + 1 : i - j <= width ? -1.0 : 0.0;
        });
    };
    EXPECT_EQ(path_of(band(6)), "simplicial");
    EXPECT_EQ(path_of(band(60)), "supernodal");
    for (auto const* const spec : {"lap2d:80", "lap3d:9", "elast3d:4"}) {
        EXPECT_EQ(path_of(generated<double>(spec)), "supernodal") << spec;
        EXPECT_EQ(path_of(generated<double>(spec), with_supernodes(Toggle::off)), "simplicial") << spec;
    }
    Options blocks = on_threads(1);
    blocks.max_block_width = 8;
    EXPECT_EQ(path_of(forest, blocks), "supernodal");
}

TEST(SimplicialCholesky, UpdatesUseSupernodes) {
    auto a = ring<double>(60, Symmetry::symmetric);
    Solver<double> solver = factorized(a, on_threads(1));
    CscMatrix<double> const w{60, 1, Symmetry::general, {0, 2}, {4, 5}, {0.5, 0.25}};
    EXPECT_TRUE(solver.update(a, w));
    EXPECT_EQ(solver.report().factor_path, "supernodal");
    EXPECT_EQ(solver.report().factorization, Factorization::llh);
    EXPECT_LE(solve_and_refine(solver, a, random_vector<double>(60, 3)).backward_error, 1e-15);
}

} // namespace
} // namespace espalier
