// Results beyond solutions, compared with dense references: transposed systems, sparse right-hand sides,
// determinant, Schur complement, and null space, in all scalars and factorizations.
#include <gtest/gtest.h>

#include <cmath>

#include "core/scalar.hpp"
#include "core/status_of.hpp"
#include "distributed/backward_error.hpp"
#include "matrix/convert.hpp"
#include "refine/dense.hpp"
#include "solver/random_systems.hpp"

namespace espalier {
namespace {

using test::all_ops, test::Dense, test::DenseLu, test::difference, test::product, test::to_dense;

// The relative error that a solver may make with these matrices.
template <class T> constexpr double tolerance = 5e3 * static_cast<double>(epsilon<T>);

template <class T> class Capabilities : public testing::Test {};
TYPED_TEST_SUITE(Capabilities, test::Scalars);

TYPED_TEST(Capabilities, TransposedSystemsSolveAndRefine) {
    using T = TypeParam;
    constexpr Index n = 40, nrhs = 3;
    for (Factorization const kind : kinds<T>())
        for (MatrixOp const op : all_ops) {
            auto const a = random_matrix<T>(kind, n, 3);
            Options options = narrow_blocks(kind);
            options.matching = Toggle::on; // a row permutation, which the transposed solve must undo
            auto solver = factorized(a, options);
            auto const b = random_vector<T>(n * nrhs, 5);
            auto x = solver.solve(b, nrhs, op);
            auto expected = b;
            DenseLu<T>(to_dense(a)).apply()(expected, nrhs, op);
            EXPECT_LE(difference(x, expected), tolerance<T>) << to_string(kind);
            auto const refined = solver.refine(a, b, x, nrhs, op);
            EXPECT_EQ(refined.status, Status::ok) << to_string(kind) << " " << to_string(op);
            EXPECT_LE(refined.backward_error, 20 * static_cast<double>(epsilon<T>));
            EXPECT_NEAR(normwise_backward_error<T>(a, x, b, nrhs, op), refined.backward_error,
                        static_cast<double>(epsilon<T>));
        }
}

TYPED_TEST(Capabilities, SparseRightHandSidesGiveWhatDenseOnesDo) {
    using T = TypeParam;
    constexpr Index n = 50;
    for (Factorization const kind : kinds<T>())
        for (MatrixOp const op : {MatrixOp::none, MatrixOp::transpose}) {
            auto const a = random_matrix<T>(kind, n, 11);
            auto solver = factorized(a, narrow_blocks(kind));
            CscMatrix<T> b{n, 4, Symmetry::general, {0, 1, 1, 3, 4}, {3, 20, 49, 0}, {}}; // column 1 is empty
            b.values = {T(1), T(-2), T(3), T(1)};
            auto const sparse = solver.solve(b, op);
            EXPECT_EQ(sparse.cols, 4);
            EXPECT_LE(difference(sparse.values, solver.solve(to_dense(b).values, 4, op)), tolerance<T>)
                << to_string(kind);
        }
}

TYPED_TEST(Capabilities, DeterminantMatchesElimination) {
    using T = TypeParam;
    for (Factorization const kind : kinds<T>())
        for (Index const n : {1, 2, 17, 40}) {
            auto const a = random_matrix<T>(kind, n, static_cast<unsigned>(n));
            for (Toggle const matching : {Toggle::automatic, Toggle::on}) {
                Options options = narrow_blocks(kind);
                options.matching = matching;
                auto const determinant = factorized(a, options).determinant();
                Determinant<T> expected;
                auto dense = to_dense(a);
                for (T const pivot : test::eliminate(dense, n)) {
                    expected.phase *= pivot / std::abs(pivot);
                    expected.log_modulus += std::log(static_cast<double>(std::abs(pivot)));
                }
                EXPECT_LE(std::abs(determinant.phase - expected.phase), tolerance<T>) << to_string(kind) << n;
                EXPECT_NEAR(determinant.log_modulus, expected.log_modulus,
                            tolerance<T> * (1 + expected.log_modulus));
            }
        }
}

TYPED_TEST(Capabilities, SchurComplementMatchesDenseElimination) {
    using T = TypeParam;
    constexpr Index n = 45;
    std::vector<Index> const schur{31, 2, 17, 44, 0, 9, 25, 26, 27, 40, 5, 13};
    for (Factorization const kind : kinds<T>()) {
        auto const a = random_matrix<T>(kind, n, 21);
        Options options = narrow_blocks(kind);
        options.schur = schur;
        options.matching = Toggle::on;
        auto solver = factorized(a, options);
        auto const s = solver.schur_complement();
        ASSERT_EQ(s.rows, static_cast<Index>(schur.size()));

        // S is the inverse of the Schur block of the inverse.
        auto const dense = to_dense(a), inverse = test::inverse(dense);
        Dense<T> block(s.rows);
        for (Index j = 0; j < s.rows; ++j)
            for (Index i = 0; i < s.rows; ++i) block(i, j) = inverse(schur[i], schur[j]);
        EXPECT_LE(difference(s.values, test::inverse(block).values), tolerance<T>) << to_string(kind);

        // Condensing, solving with S and expanding solves the whole system.
        auto const b = random_vector<T>(n * 2, 6);
        block.values = s.values;
        for (MatrixOp const op : {MatrixOp::none, MatrixOp::transpose, MatrixOp::adjoint}) {
            auto x_schur = solver.condense(b, 2, op), expected = b;
            DenseLu<T>(block).apply()(x_schur, 2, op);
            DenseLu<T>(dense).apply()(expected, 2, op);
            EXPECT_LE(difference(solver.expand(b, x_schur, 2, op), expected), tolerance<T>)
                << to_string(kind) << ' ' << to_string(op);
        }

        EXPECT_THROW((void)solver.solve(b, 2), Error);
        EXPECT_THROW((void)solver.determinant(), Error);
    }
}

// Laplacian of `count` separate paths of 7 vertices: its null space is spanned by their indicators.
template <class T> CscMatrix<T> paths(Index count, bool symmetric) {
    return matrix_of<T>(7 * count, symmetric ? Symmetry::symmetric : Symmetry::general,
                        [](Index i, Index j) -> Real<T> {
                            if (i == j) return j % 7 == 0 || j % 7 == 6 ? 1 : 2;
                            return std::abs(i - j) == 1 && i / 7 == j / 7 ? -1 : 0;
                        });
}

TYPED_TEST(Capabilities, NullSpaceOfSeparatePathsCountsThem) {
    using T = TypeParam;
    for (bool const symmetric : {true, false})
        for (Index const count : {1, 3, 9}) {
            auto const a = paths<T>(count, symmetric);
            Options options = narrow_blocks();
            options.allow_singular = true;
            auto solver = factorized(a, options);
            auto const space = solver.null_space(a);
            EXPECT_EQ(space.rank, 6 * count);
            ASSERT_EQ(space.basis.cols, count);
            for (Index j = 0; j < count; ++j) // constant on every path
                for (Index i = 0; i < a.cols; ++i)
                    EXPECT_LE(std::abs(space.basis.column(j)[i] - space.basis.column(j)[i - i % 7]),
                              tolerance<T>);
        }
}

TEST(AllowSingular, AcceptsEmptyRowsAndDeficientStructuralRank) {
    // Row and column 1 are empty, and rows 2 and 3 have entries only in column 3.
    auto const a = matrix_from(Symmetry::general, {{2, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 0, 1}});
    Options options = narrow_blocks();
    EXPECT_THROW(Solver<double>(options).analyze(a), Error);
    options.allow_singular = true;
    auto solver = factorized(a, options);
    EXPECT_EQ(solver.report().analysis.structural_rank, 2);
    auto const space = solver.null_space(a);
    EXPECT_EQ(space.rank, 2);
    EXPECT_EQ(solver.determinant().phase, 0);
}

TEST(AllowSingular, TakesAMatrixOfZeros) {
    CscMatrix<double> const a{3, 3, Symmetry::symmetric, {0, 1, 1, 1}, {2}, {0}};
    Options options = narrow_blocks();
    options.allow_singular = true;
    EXPECT_EQ(factorized(a, options).null_space(a).rank, 0);
}

TEST(Schur, RefusesInvalidUnknowns) {
    auto const a = paths<double>(2, true);
    for (std::vector<Index> const& schur : {std::vector<Index>{-1}, {14}, {3, 3}}) {
        Options options = narrow_blocks();
        options.schur = schur;
        EXPECT_EQ(status_of([&] { Solver<double>(options).analyze(a); }), Status::usage);
    }
}

TEST(Schur, WithAllUnknownsIsTheMatrixItself) {
    auto const a = random_matrix<double>(Factorization::lu, 6, 2);
    Options options = narrow_blocks();
    options.schur = {5, 4, 3, 2, 1, 0};
    auto const dense = to_dense(a);
    auto const s = factorized(a, options).schur_complement();
    for (Index i = 0; i < 6; ++i)
        for (Index j = 0; j < 6; ++j) EXPECT_EQ(s.column(j)[i], dense(5 - i, 5 - j));
}

// The largest entry of |X| |Y|.
template <class T> double size_of_product(Dense<T> x, Dense<T> y) {
    for (auto* const values : {&x.values, &y.values})
        for (T& value : *values) value = std::abs(value);
    double largest = 0;
    for (T const value : product(x, y).values)
        largest = std::max(largest, static_cast<double>(std::abs(value)));
    return largest;
}

// Compares the entries of A^-1 on the pattern of A^T, for factors that multiply to A up to `residual` in each
// entry. With Z = A^-1, the error of the entry (i, j) is at most that of |Z| |residual| |Z|. The dense
// reference has such an error too.
template <class T> void expect_inverse(Solver<T>& solver, CscMatrix<T> const& a, double residual) {
    Index const n = a.cols;
    DenseLu<T> const lu(to_dense(a));
    Dense<T> z(n, n);
    std::vector<double> of_row(n), of_column(n);
    for (Index j = 0; j < n; ++j) {
        z(j, j) = T(1);
        lu.solve(&z(0, j), MatrixOp::none);
        for (Index i = 0; i < n; ++i) {
            of_row[i] += static_cast<double>(std::abs(z(i, j)));
            of_column[j] += static_cast<double>(std::abs(z(i, j)));
        }
    }
    auto const pattern = to_dense(a, MatrixOp::transpose), found = to_dense(solver.selected_inverse(a));
    auto const diagonal = solver.inverse_diagonal();
    for (Index j = 0; j < n; ++j) {
        EXPECT_LE(std::abs(diagonal[j] - z(j, j)), 4 * residual * of_row[j] * of_column[j]) << j;
        for (Index i = 0; i < n; ++i) {
            T const expected = pattern(i, j) == T(0) ? T(0) : z(i, j);
            EXPECT_LE(std::abs(found(i, j) - expected), 4 * residual * of_row[i] * of_column[j])
                << i << " " << j;
        }
    }
}

// Checks the entries of A^-1 on the pattern of A^T and the whole diagonal, also for scaled and permuted
// systems.
TYPED_TEST(Capabilities, SelectedInverseIsOnThePatternOfTheTranspose) {
    using T = TypeParam;
    constexpr Index n = 40;
    for (Factorization const kind : kinds<T>()) {
        auto const a = random_matrix<T>(kind, n, 5);
        for (Toggle const matching : {Toggle::automatic, Toggle::on}) {
            if (kind == Factorization::llh && matching == Toggle::on) continue;
            Options options = narrow_blocks(kind);
            options.matching = matching;
            options.supernodes = Toggle::on;
            Solver<T> solver = factorized(a, options);
            DenseLu<T> const lu(to_dense(a));
            auto const found = solver.selected_inverse(a);
            found.validate();
            EXPECT_EQ(found.symmetry, a.symmetry);
            EXPECT_EQ(found.stored(), a.stored());
            auto const pattern = to_dense(a, MatrixOp::transpose);
            auto const entries = to_dense(found);
            auto const diagonal = solver.inverse_diagonal();
            for (Index j = 0; j < n; ++j) {
                std::vector<T> column(n, T(0));
                column[j] = T(1);
                lu.solve(column.data(), MatrixOp::none);
                EXPECT_LE(std::abs(diagonal[j] - column[j]), tolerance<T>) << to_string(kind) << j;
                for (Index i = 0; i < n; ++i) {
                    T const expected = pattern(i, j) == T(0) ? T(0) : column[i];
                    EXPECT_LE(std::abs(entries(i, j) - expected), tolerance<T>)
                        << to_string(kind) << i << " " << j;
                }
            }
        }
    }
}

// Checks A(p, q) = L U, L L^op or L D L^op, and the halves of a solve, also for scaled and permuted systems.
TYPED_TEST(Capabilities, FactorsMultiplyToTheMatrix) {
    using T = TypeParam;
    constexpr Index n = 40;
    for (Factorization const kind : kinds<T>())
        for (bool const scaled : {false, true}) {
            auto a = random_matrix<T>(kind, n, 8);
            // scales symmetrically by powers of two
            for (Index j = 0; j < n && scaled && kind != Factorization::llh; ++j)
                for (Offset const p : a.entries_of(j))
                    a.values[p] *= std::exp2(static_cast<Real<T>>(j % 7 + a.row_ind[p] % 7));
            Options options = narrow_blocks(kind);
            options.supernodes = Toggle::on;
            options.pivoting = Pivoting::static_pivots;
            options.matching = scaled ? Toggle::on : Toggle::automatic;
            if (kind == Factorization::llh) options.matching = Toggle::automatic;
            Solver<T> solver = factorized(a, options);
            Factors<T> const found = solver.factors();
            bool const conjugate = kind == Factorization::llh || kind == Factorization::ldlh;
            MatrixOp const op = conjugate ? MatrixOp::adjoint : MatrixOp::transpose;
            found.lower.validate();
            auto const l = to_dense(found.lower), d = to_dense(found.diagonal), u = to_dense(found.upper);
            Dense<T> const ld = d.cols > 0 ? product(l, d) : l;
            Dense<T> const l_op = to_dense(found.lower, op);
            Dense<T> const whole = u.cols > 0 ? product(l, u) : product(ld, l_op);
            auto const expected = to_dense(a);
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < n; ++i) {
                    T const entry = expected(found.row_permutation[i], found.column_permutation[j]);
                    EXPECT_LE(std::abs(whole(i, j) - entry), tolerance<T> * (scaled ? 4096 : 1))
                        << to_string(kind);
                }
            if (kind == Factorization::lu) {
                EXPECT_EQ(status_of([&] { (void)solver.solve_lower(std::vector<T>(n)); }), Status::usage);
                continue;
            }
            auto const b = test::random_vector<T>(2 * n, 3);
            auto const multiplied = [&](Dense<T> const& x) {
                std::vector<T> y(2 * n, T(0));
                for (Index c = 0; c < 2; ++c)
                    for (Index k = 0; k < n; ++k)
                        for (Index i = 0; i < n; ++i) y[c * n + i] += x(i, k) * b[c * n + k];
                return y;
            };
            EXPECT_LE(difference(solver.solve_lower(multiplied(ld), 2), b), tolerance<T> * 10)
                << to_string(kind);
            EXPECT_LE(difference(solver.solve_lower_adjoint(multiplied(l_op), 2), b), tolerance<T> * 10)
                << to_string(kind);
        }
}

// Small diagonals delay many columns. An entry of a product or a solution is the sum of at most n terms, each
// of which is rounded a few times.
TYPED_TEST(Capabilities, DelayedColumnsAreInTheFactors) {
    using T = TypeParam;
    constexpr Index n = 40;
    constexpr double roundoff = 4 * n * static_cast<double>(epsilon<T>);
    for (Factorization const kind : kinds<T>()) {
        if (kind == Factorization::llh || kind == Factorization::llt) continue;
        auto a = random_matrix<T>(kind, n, 8);
        scale_values(a, [](Index i, Index j) { return static_cast<Real<T>>(i == j ? 1e-3 : 1); });
        Options options = narrow_blocks(kind);
        options.supernodes = Toggle::on;
        options.matching = Toggle::off;
        options.pivoting = Pivoting::delayed;
        Solver<T> solver = factorized(a, options);
        ASSERT_GT(solver.report().factor.pivots_delayed, 0) << to_string(kind);
        Factors<T> const found = solver.factors();
        found.lower.validate();
        bool const is_lu = kind == Factorization::lu;
        auto const l = to_dense(found.lower),
                   right = is_lu ? to_dense(found.upper)
                                 : to_dense(found.lower, kind == Factorization::ldlh ? MatrixOp::adjoint
                                                                                     : MatrixOp::transpose);
        auto const left = is_lu ? l : product(l, to_dense(found.diagonal));
        auto const whole = product(left, right), expected = to_dense(a);
        double const bound = roundoff * size_of_product(left, right);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) {
                T const entry = expected(found.row_permutation[i], found.column_permutation[j]);
                EXPECT_LE(std::abs(whole(i, j) - entry), bound) << to_string(kind) << i << " " << j;
            }
        expect_inverse(solver, a, bound);
        if (is_lu) continue;
        Dense<T> b(n, 2), x(n, 2), y(n, 2);
        b.values = test::random_vector<T>(2 * n, 3);
        x.values = solver.solve_lower(b.values, 2);
        y.values = solver.solve_lower_adjoint(b.values, 2);
        EXPECT_LE(difference(product(left, x).values, b.values), roundoff * size_of_product(left, x))
            << to_string(kind);
        EXPECT_LE(difference(product(right, y).values, b.values), roundoff * size_of_product(right, y))
            << to_string(kind);
    }
}

// The matrix has diagonal blocks of order 1 to 4 with entries above them, with permuted rows and columns, and
// is factorized without supernodes.
TYPED_TEST(Capabilities, FactorsWithoutSupernodesAreMatricesAndHaveASelectedInverse) {
    using T = TypeParam;
    constexpr Index n = 40;
    auto const start = [](Index i) {
        return i - i % 10 + (i % 10 > 5 ? 6 : i % 10 > 2 ? 3 : i % 10 > 0 ? 1 : 0);
    };
    auto const dense = to_dense(random_matrix<T>(Factorization::lu, n, 8));
    auto const a = matrix_of<T>(n, Symmetry::general, [&](Index i, Index j) {
        Index const row = (7 * i + 3) % n, column = (11 * j + 5) % n; // in block triangular form
        bool const is_inside = start(row) == start(column);
        if (row == column) return T(1);
        return is_inside ? dense(row, column) + T(2) : row < column ? dense(row, column) : T(0);
    });
    Options options = narrow_blocks(Factorization::lu);
    options.supernodes = Toggle::off;
    Solver<T> solver = factorized(a, options);
    EXPECT_EQ(solver.report().analysis.diagonal_blocks, 16);
    Factors<T> const found = solver.factors();
    found.lower.validate();
    found.upper.validate();
    auto const l = to_dense(found.lower), u = to_dense(found.upper), whole = product(l, u),
               expected = to_dense(a);
    double const bound = 4 * n * static_cast<double>(epsilon<T>) * size_of_product(l, u);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            EXPECT_TRUE(l(i, j) == (i == j ? T(1) : i < j ? T(0) : l(i, j)));
            EXPECT_TRUE(i <= j || u(i, j) == T(0));
            T const entry = expected(found.row_permutation[i], found.column_permutation[j]);
            EXPECT_LE(std::abs(whole(i, j) - entry), bound) << i << " " << j;
        }
    expect_inverse(solver, a, bound);
    EXPECT_EQ(status_of([&] { (void)solver.solve_lower(std::vector<T>(n)); }), Status::usage);
}

// The matrix is a permuted identity with a cycle. The rows are matched, and the diagonal of A^-1 is outside
// of the factors.
TEST(SelectedInverse, FindsADiagonalOutsideOfTheFactors) {
    auto const a = matrix_of<double>(4, Symmetry::general, [](Index i, Index j) {
        return i == (j + 1) % 4 ? 2.0 + static_cast<double>(j) : i == 2 && j == 2 ? 0.5 : 0.0;
    });
    Options options = narrow_blocks(Factorization::lu);
    options.matching = Toggle::on;
    options.supernodes = Toggle::on;
    Solver<double> solver = factorized(a, options);
    auto const diagonal = solver.inverse_diagonal();
    for (Index j = 0; j < 4; ++j) {
        std::vector<double> unit(4, 0.0);
        unit[j] = 1;
        EXPECT_NEAR(diagonal[j], solver.solve(unit)[j], 1e-15);
    }
}

// Entries that grow in the elimination spoil the inverse more than solves.
TEST(SelectedInverse, NotesInaccurateEntries) {
    Index const n = 200;
    int inaccurate = 0, noted = 0, noted_for_all = 0;
    for (unsigned seed = 0; seed < 200; ++seed) { // how many are inaccurate depends on the kernels of BLAS
        std::mt19937 engine(seed);
        std::normal_distribution<float> normal;
        auto const a = matrix_of<float>(n, Symmetry::symmetric, [&](Index i, Index j) {
            return i == j || engine() % 25 == 0 ? normal(engine) : 0.0F;
        });
        Options options;
        options.threads = 1;
        Solver<float> solver = factorized(a, options);
        std::vector<float> diagonal;
        if (status_of([&] { diagonal = solver.inverse_diagonal(); }) != Status::ok) continue;
        auto const has_note = [&](std::string_view beginning) {
            return std::ranges::any_of(solver.report().notes,
                                       [&](auto const& note) { return note.starts_with(beginning); });
        };
        DenseLu<double> const lu(to_dense(convert<double>(a)));
        double worst = 0, largest = 0;
        for (Index j = 0; j < n; ++j) {
            std::vector<double> column(n, 0.0);
            column[j] = 1;
            lu.solve(column.data(), MatrixOp::none);
            worst = std::max(worst, std::abs(column[j] - diagonal[j]));
            largest = std::max(largest, std::abs(column[j]));
        }
        if (worst <= 0.01 * largest) continue;
        ++inaccurate;
        noted += has_note("the diagonal of the inverse is inaccurate");
        (void)solver.selected_inverse(a);
        noted_for_all += has_note("the selected inverse is inaccurate");
    }
    EXPECT_GT(inaccurate, 2);
    EXPECT_GE(noted, inaccurate * 3 / 4); // only some entries are checked
    EXPECT_GE(noted_for_all, inaccurate * 3 / 4);
}

TEST(SelectedInverse, RefusesUnsuitableFactors) {
    auto const a = random_matrix<double>(Factorization::lu, 40, 5);
    auto const status = [&](Options const& options) {
        return status_of([&] { (void)factorized(a, options).selected_inverse(a); });
    };
    Options const usual = [] {
        Options with_supernodes = narrow_blocks(Factorization::lu);
        with_supernodes.supernodes = Toggle::on;
        return with_supernodes;
    }();
    Options options = usual;
    EXPECT_EQ(status_of([&] { (void)Solver<double>(options).inverse_diagonal(); }), Status::usage);
    options.mixed_precision = true;
    EXPECT_EQ(status(options), Status::unsupported);
    options.mixed_precision = false;
    options.schur = {1};
    EXPECT_EQ(status(options), Status::usage);
    options.schur.clear();
    Solver<double> solver = factorized(a, options);
    EXPECT_EQ(
        status_of([&] { (void)solver.selected_inverse(random_matrix<double>(Factorization::lu, 40, 6)); }),
        Status::usage);
    options.max_memory = solver.report().analysis.memory_bytes + 1000;
    EXPECT_EQ(status(options), Status::out_of_memory);
}

} // namespace
} // namespace espalier
