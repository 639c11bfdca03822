#include "distributed/distributed_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "distributed/backward_error.hpp"
#include "distributed/dealt.hpp"
#include "matrix/dense_reference.hpp"
#include "matrix/norms.hpp"
#include "scaling/scaled_value.hpp"

namespace espalier {
namespace {

using test::all_ops, test::all_symmetries, test::gathered, test::local_part, test::random_matrix,
    test::random_vector;

template <class T> class DistributedMatrixOf : public testing::Test {};
TYPED_TEST_SUITE(DistributedMatrixOf, test::Scalars);

constexpr Index order = 23, width = 3;

template <class T, class U> void expect_close(std::vector<T> const& actual, std::vector<U> const& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (Index i = 0; i < std::ssize(actual); ++i)
        EXPECT_LE(std::abs(actual[i] - expected[i]), 200 * epsilon<T>) << i;
}

// Calls body(matrix, whole matrix, op) on 1 to 4 processes for all symmetries and ops.
template <class T, class Body> void for_each_case(Body const& body) {
    for (int processes = 1; processes <= 4; ++processes)
        for (Symmetry const symmetry : all_symmetries) {
            auto const whole = random_matrix<T>(order, order, symmetry, 0.2, 7);
            test::with_dealt_rows(order, processes, 5, [&](DistributedRows const& rows) {
                DistributedMatrix<T> const a(rows, rows.comm().rank() == 0 ? &whole : nullptr);
                for (MatrixOp const op : all_ops) body(a, whole, op);
            });
        }
}

TYPED_TEST(DistributedMatrixOf, RandomEntriesHasTheProductsOfTheDenseMatrix) {
    using T = TypeParam;
    T const alpha = T(Real<T>(-1.5)), beta = T(Real<T>(0.75));
    auto const x = random_vector<T>(order * width, 1), y = random_vector<T>(order * width, 2);
    for_each_case<T>([&](DistributedMatrix<T> const& a, CscMatrix<T> const& whole, MatrixOp op) {
        auto const dense = test::to_dense(whole, op);
        std::vector<T> product = y, rest = y;
        std::vector<Real<T>> moduli(y.size());
        for (Index c = 0; c < width; ++c)
            for (Index i = 0; i < order; ++i) {
                T sum(0);
                for (Index j = 0; j < order; ++j) {
                    sum += dense(i, j) * x[j + c * order];
                    moduli[i + c * order] += std::abs(dense(i, j)) * std::abs(x[j + c * order]);
                }
                product[i + c * order] = alpha * sum + beta * y[i + c * order];
                rest[i + c * order] -= sum;
            }
        auto const& rows = a.rows();
        auto const my_x = local_part(rows, x, width), my_y = local_part(rows, y, width);
        auto result = my_y;
        a.multiply(op, alpha, my_x, beta, result, width);
        expect_close(result, local_part(rows, product, width));
        result = my_y;
        a.residual(my_x, result, result, width, op); // in place
        expect_close(result, local_part(rows, rest, width));
        std::vector<Real<T>> w(my_y.size());
        a.abs_product(my_x, w, width, op);
        expect_close(w, local_part(rows, moduli, width));
        auto const m = my_y.size() / width;
        auto const found = a.residual_size(std::span(my_x).first(m), std::span(my_y).first(m), op);
        double residual = 0, componentwise = 0, row_sum = 0;
        for (Index i = 0; i < order; ++i) {
            double along_row = 0;
            for (Index j = 0; j < order; ++j) along_row += std::abs(dense(i, j));
            row_sum = std::max(row_sum, along_row);
            residual = std::max<double>(residual, std::abs(rest[i]));
            componentwise = std::max<double>(componentwise, std::abs(rest[i]) / (moduli[i] + std::abs(y[i])));
        }
        EXPECT_NEAR(found.residual, residual, 200 * epsilon<T>);
        EXPECT_NEAR(found.componentwise, componentwise, 200 * epsilon<T>);
        EXPECT_NEAR(a.infinity_norm(op), row_sum, 20 * epsilon<T>) << "found in the same pass";
        std::fill(result.begin(), result.end(), T(std::numeric_limits<Real<T>>::quiet_NaN()));
        a.multiply(op, T(1), my_x, T(0), result, width);
        EXPECT_TRUE(std::ranges::all_of(result, [](T value) { return is_finite(value); }));
    });
}

TYPED_TEST(DistributedMatrixOf, RandomEntriesHasTheNormsOfTheDenseMatrix) {
    using T = TypeParam;
    for_each_case<T>([&](DistributedMatrix<T> const& a, CscMatrix<T> const& whole, MatrixOp op) {
        auto const dense = test::to_dense(whole, op);
        double row_sum = 0, column_sum = 0, largest = 0;
        Index entries = 0;
        for (Index i = 0; i < order; ++i) {
            double along_row = 0, along_column = 0;
            Index in_row = 0;
            for (Index j = 0; j < order; ++j) {
                along_row += std::abs(dense(i, j));
                along_column += std::abs(dense(j, i));
                largest = std::max<double>(largest, std::abs(dense(i, j)));
                in_row += dense(i, j) != T(0);
            }
            row_sum = std::max(row_sum, along_row);
            column_sum = std::max(column_sum, along_column);
            entries = std::max(entries, in_row);
        }
        double const tolerance = 20 * epsilon<T>;
        EXPECT_NEAR(a.infinity_norm(op), row_sum, tolerance);
        EXPECT_NEAR(op == MatrixOp::none ? a.one_norm() : column_sum, column_sum, tolerance);
        EXPECT_NEAR(a.max_abs(), largest, tolerance);
        EXPECT_EQ(a.most_entries_in_a_row(op), entries);
        EXPECT_TRUE(a.is_finite());
        auto const diagonal = a.diagonal_moduli();
        for (Index l = 0; l < a.rows().count(); ++l)
            EXPECT_NEAR(diagonal[l], std::abs(dense(a.rows().number(l), a.rows().number(l))), tolerance);
    });
}

// A matrix with seven diagonals below the main one.
template <class T> CscMatrix<T> random_band(Index n, Symmetry symmetry) {
    CscMatrix<T> band{n, n, symmetry, {0}, {}, {}};
    for (Index j = 0; j < n; ++j) {
        for (Index i = j; i <= std::min(n - 1, j + 7); ++i) band.row_ind.push_back(i);
        band.col_ptr.push_back(std::ssize(band.row_ind));
    }
    band.values = random_vector<T>(std::ssize(band.row_ind), 3);
    return band;
}

// A band with 400,000 stored entries, which are visited in parts.
TYPED_TEST(DistributedMatrixOf, ManyEntriesHasTheSameResidualWithSeveralThreads) {
    using T = TypeParam;
    Index const n = 50'000;
    WorkerTeam team_of_two(Topology::synthetic("numa:1 core:3 pu:1"), 2, false),
        team_of_three(Topology::synthetic("numa:1 core:3 pu:1"), 3, false);
    for (Symmetry const symmetry : {Symmetry::general, Symmetry::symmetric}) {
        CscMatrix<T> const band = random_band<T>(n, symmetry);
        auto const x = random_vector<T>(n, 1), b = random_vector<T>(n, 2);
        for (MatrixOp const op : {MatrixOp::none, MatrixOp::transpose}) {
            DistributedMatrix<T> const one(band);
            DistributedMatrix<T> two(band), three(band);
            two.rows().use_workers({2, [&]() -> WorkerTeam& { return team_of_two; }});
            three.rows().use_workers({3, [&]() -> WorkerTeam& { return team_of_three; }});
            auto const found = one.residual_size(x, b, op), of_two = two.residual_size(x, b, op),
                       of_three = three.residual_size(x, b, op);
            EXPECT_EQ(of_three.residual, of_two.residual);
            EXPECT_EQ(of_three.componentwise, of_two.componentwise);
            EXPECT_EQ(three.infinity_norm(op), two.infinity_norm(op));
            EXPECT_NEAR(of_two.residual, found.residual, 100 * epsilon<T>);
            EXPECT_NEAR(of_two.componentwise, found.componentwise, 100 * epsilon<T>);
            EXPECT_NEAR(two.infinity_norm(op), one.infinity_norm(op), 100 * epsilon<T>);
            std::vector<T> residual(b);
            one.residual(x, b, residual, 1, op);
            EXPECT_NEAR(found.residual, infinity_norm(std::span<T const>(residual)), 100 * epsilon<T>);
        }
    }
}

// Large enough for memory that two workers touch in advance, also with the factors of unscaled().
TYPED_TEST(DistributedMatrixOf, ManyRowsHasTheSameResidualInPreparedMemory) {
    using T = TypeParam;
    Index const n = 250'000;
    WorkerTeam team(Topology::synthetic("numa:1 core:2 pu:1"), 2, false);
    CscMatrix<T> a{n, n, Symmetry::symmetric, {0}, {}, {}};
    for (Index j = 0; j < n; ++j) {
        a.row_ind.push_back(j);
        if (j + 1 < n) a.row_ind.push_back(n - 1);
        a.col_ptr.push_back(std::ssize(a.row_ind));
    }
    a.values = random_vector<T>(std::ssize(a.row_ind), 3);
    auto const x = random_vector<T>(n, 1), b = random_vector<T>(n, 2);
    std::vector<double> const factors(n, 2.0);
    for (bool const is_unscaled : {false, true}) {
        auto const size = [&](bool is_prepared) {
            DistributedMatrix<T> given(a);
            given.rows().use_workers({2, [&]() -> WorkerTeam& { return team; }});
            auto const matrix = is_unscaled ? given.unscaled(factors, factors) : given;
            if (is_prepared) matrix.prepare_residuals();
            return matrix.residual_size(x, b);
        };
        ResidualSize const found = size(true), expected = size(false);
        EXPECT_EQ(found.residual, expected.residual);
        EXPECT_EQ(found.componentwise, expected.componentwise);
    }
}

// Blocks of columns, the last of which begins with columns of the one before. Two workers share them.
TYPED_TEST(DistributedMatrixOf, SeveralColumnsHasTheResidualOfEachColumn) {
    using T = TypeParam;
    Index const n = 500, most = 70;
    WorkerTeam team(Topology::synthetic("numa:1 core:2 pu:1"), 2, false);
    std::vector<double> factors(n);
    for (Index i = 0; i < n; ++i) factors[i] = std::ldexp(1.0, static_cast<int>(i % 5) - 2);
    auto x = random_vector<T>(n * most, 1), b = random_vector<T>(n * most, 2);
    std::fill_n(x.begin() + 2 * n, n, T(0));                   // whose residual is b
    std::fill_n(b.begin() + 3 * n, n, T(0));                   // whose size is |A| |x|
    b[5 * n + 17] = std::numeric_limits<Real<T>>::quiet_NaN(); // whose sizes are not finite
    x[6 * n + 400] = std::numeric_limits<Real<T>>::infinity();
    auto const column = [&](std::vector<T> const& all, Index c) { return std::span(all).subspan(c * n, n); };
    auto const is_same = [](double found, double expected) {
        return found == expected || (std::isnan(found) && std::isnan(expected));
    };
    for (Symmetry const symmetry : all_symmetries) {
        CscMatrix<T> const band = random_band<T>(n, symmetry);
        auto const check = [&](int workers, bool is_unscaled, MatrixOp op, Index columns) {
            DistributedMatrix<T> given(band);
            if (workers > 1) given.rows().use_workers({workers, [&]() -> WorkerTeam& { return team; }});
            auto const matrix = [&] { return is_unscaled ? given.unscaled(factors, factors) : given; };
            DistributedMatrix<T> const together = matrix(), alone = matrix();
            std::vector<ResidualSize> sizes(columns);
            together.residual_sizes(std::span(x).first(n * columns), std::span(b).first(n * columns), op,
                                    sizes);
            for (Index c = 0; c < columns; ++c) {
                ResidualSize const expected = alone.residual_size(column(x, c), column(b, c), op);
                EXPECT_TRUE(is_same(sizes[c].residual, expected.residual)) << c;
                EXPECT_TRUE(is_same(sizes[c].componentwise, expected.componentwise)) << c;
                EXPECT_TRUE(is_same(sizes[c].before_unscaling, expected.before_unscaling)) << c;
                EXPECT_TRUE(is_same(sizes[c].x_norm, expected.x_norm)) << c;
                EXPECT_TRUE(is_same(sizes[c].b_norm, expected.b_norm)) << c;
            }
        };
        for (int const workers : {1, 2})
            for (bool const is_unscaled : {false, true})
                for (MatrixOp const op : {MatrixOp::none, MatrixOp::transpose, MatrixOp::adjoint})
                    for (Index const columns : {1, 5, 11, 70}) check(workers, is_unscaled, op, columns);
    }
}

TEST(DistributedMatrix, NeedsARowOfFourNumbersForEachPartOfAResidual) {
    auto const bytes = [](auto... facts) { return DistributedMatrix<double>::residual_bytes(facts...); };
    EXPECT_EQ(bytes(1000, 300'000, 1, false), 1000 * 32);
    EXPECT_EQ(bytes(1000, 300'000, 4, false), 2 * 1000 * 32);
    EXPECT_EQ(bytes(1000, 3000, 4, false), 1000 * 32);
    EXPECT_GT(bytes(1000, 3000, 1, true, 1), 1000 * 32);
    EXPECT_EQ(bytes(1000, 3000, 1, false, 4), 1000 * 32);
    EXPECT_EQ(bytes(1000, 300'000, 2, true, 5), 2 * 1000 * 96);
    EXPECT_EQ(bytes(1000, 3000, 8, false, 5), 2 * 1000 * 96);
    EXPECT_EQ(bytes(1000, 3000, 8, false, 64), 5 * 1000 * 96);
}

TEST(DistributedMatrix, NeedsALineOfTheCacheForEachRowOfAComplexResidual) {
    using Matrix = DistributedMatrix<std::complex<double>>;
    EXPECT_EQ(Matrix::residual_bytes(1000, 3000, 1, false), 1000 * 64);
    EXPECT_EQ(Matrix::residual_bytes(1000, 3000, 1, true), 1000 * 64);
    EXPECT_EQ(Matrix::residual_bytes(1000, 3000, 8, false, 64), 5 * 1000 * 192);
}

// Without the norm of the scaled system, the largest |A| |x| + |b| of a row takes its place, which is smaller
// here because the entry of x in the first row is.
TYPED_TEST(DistributedMatrixOf, UnscaledHasTheErrorOfTheScaledSystemOnceItsNormIsKnown) {
    using T = TypeParam;
    Index const n = 8;
    CscMatrix<T> a{n, n, Symmetry::general, {0}, {}, {}};
    for (Index j = 0; j < n; ++j) {
        a.row_ind.push_back(j);
        a.values.push_back(T(j == 0 ? 1024 : 1));
        a.col_ptr.push_back(j + 1);
    }
    std::vector<T> x(n, T(1)), b(n, T(Real<T>(0.0625)));
    x[0] = T(Real<T>(0.0625));
    b[0] = T(4);
    x[3] = T(Real<T>(1.5)); // leaves a residual of 1/32
    std::vector<double> const scales(n, 4.0);
    DistributedMatrix<T> working(a);
    EXPECT_FALSE(working.knows_infinity_norm(MatrixOp::none));
    // The unscaled matrix is a / 16. In the scaled system b is 4 times and x a quarter as large.
    double const bound = working.unscaled(scales, scales).residual_size(x, b).before_unscaling;
    EXPECT_DOUBLE_EQ(bound, 0.125 / 32);
    EXPECT_EQ(working.infinity_norm(), 1024);
    EXPECT_TRUE(working.knows_infinity_norm(MatrixOp::none));
    EXPECT_FALSE(working.knows_infinity_norm(MatrixOp::transpose));
    double const error = working.unscaled(scales, scales).residual_size(x, b).before_unscaling;
    EXPECT_DOUBLE_EQ(error, 0.125 / (1024 * 0.375));
}

TYPED_TEST(DistributedMatrixOf, RandomEntriesHasResidualsInTwiceTheWorkingPrecision) {
    using T = TypeParam;
    auto const x = random_vector<T>(order, 1), d = random_vector<T>(order, 2);
    for_each_case<T>([&](DistributedMatrix<T> const& a, CscMatrix<T> const& whole, MatrixOp op) {
        // b = op(A) (x + d) up to rounding, so that the residual is all cancellation.
        using X = std::conditional_t<is_complex<T>, std::complex<long double>, long double>;
        auto const dense = test::to_dense(whole, op);
        std::vector<T> b(order);
        std::vector<X> exact(order, X(0));
        for (Index i = 0; i < order; ++i) {
            for (Index j = 0; j < order; ++j) exact[i] += X(dense(i, j)) * (X(x[j]) + X(d[j]));
            b[i] = T(exact[i]);
        }
        auto const& rows = a.rows();
        auto const my_x = local_part(rows, x), my_d = local_part(rows, d), my_b = local_part(rows, b);
        std::vector<T> r(rows.count());
        a.accurate_residual({my_x, my_d}, my_b, r, op);
        for (Index l = 0; l < rows.count(); ++l) {
            Index const i = rows.number(l);
            double const bound = std::max(1e-17, 50.0 * epsilon<T> * epsilon<T>);
            EXPECT_NEAR(static_cast<double>(std::abs(X(r[l]) - (X(b[i]) - exact[i]))), 0, bound);
        }
    });
}

TYPED_TEST(DistributedMatrixOf, UnscaledEntriesIsTheMatrixBeforeScaling) {
    using T = TypeParam;
    auto const x = random_vector<T>(order, 1), b = random_vector<T>(order, 2);
    std::mt19937_64 random(3);
    std::vector<double> r(order), ones(order, 1.0);
    for (double& scale : r) scale = std::ldexp(1.0, static_cast<int>(random() % 40) - 20);
    for_each_case<T>([&](DistributedMatrix<T> const& unscaled, CscMatrix<T> const& whole, MatrixOp op) {
        auto const& rows = unscaled.rows();
        auto const& c = whole.symmetry == Symmetry::general ? ones : r;
        CscMatrix<T> scaled = whole;
        for (Index j = 0; j < order; ++j)
            for (Offset p = whole.col_ptr[j]; p < whole.col_ptr[j + 1]; ++p)
                scaled.values[p] = scaled_value(whole.values[p], r[whole.row_ind[p]], c[j]);
        DistributedMatrix<T> const working(rows, rows.comm().rank() == 0 ? &scaled : nullptr);
        auto const a = working.unscaled(local_part(rows, r), local_part(rows, c));
        auto const my_x = local_part(rows, x), my_b = local_part(rows, b);
        std::vector<T> result(rows.count()), expected(rows.count());
        a.residual(my_x, my_b, result, 1, op);
        unscaled.residual(my_x, my_b, expected, 1, op);
        expect_close(result, expected);
        a.accurate_residual({my_x}, my_b, result, op);
        unscaled.accurate_residual({my_x}, my_b, expected, op);
        EXPECT_EQ(result, expected);
        EXPECT_NEAR(a.infinity_norm(op), unscaled.infinity_norm(op), 20 * epsilon<T>);
        EXPECT_NEAR(normwise_backward_error<T>(a, my_x, my_b, 1, op),
                    normwise_backward_error<T>(unscaled, my_x, my_b, 1, op), 20 * epsilon<T>);
        EXPECT_NEAR(componentwise_backward_error<T>(a, my_x, my_b, 1, op),
                    componentwise_backward_error<T>(unscaled, my_x, my_b, 1, op), 20 * epsilon<T>);
    });
}

TEST(DistributedMatrix, TakesNewValuesOnTheSamePattern) {
    auto whole = random_matrix<double>(order, order, Symmetry::general, 0.2, 7);
    auto other = whole;
    for (double& value : other.values) value = -3 * value;
    test::with_dealt_rows(order, 3, 1, [&](DistributedRows const& rows) {
        bool const is_root = rows.comm().rank() == 0;
        DistributedMatrix<double> a(rows, is_root ? &whole : nullptr);
        double const before = a.infinity_norm();
        a.set_values(is_root ? &other : nullptr);
        EXPECT_DOUBLE_EQ(a.infinity_norm(), 3 * before);
    });
}

TEST(DistributedMatrix, ProductsAreReproducibleAndSendTheHaloAlone) {
    for (Symmetry const symmetry : {Symmetry::general, Symmetry::symmetric}) {
        auto const whole = random_matrix<double>(200, 200, symmetry, 0.01, 7);
        auto const x = random_vector<double>(200 * width, 1);
        std::vector<std::vector<double>> results(2);
        for (auto& result : results)
            test::with_dealt_rows(200, 4, 2, [&](DistributedRows const& rows) {
                DistributedMatrix<double> const a(rows, rows.comm().rank() == 0 ? &whole : nullptr);
                auto const my_x = local_part(rows, x, width);
                std::vector<double> y(my_x.size());
                a.multiply(MatrixOp::none, 1, my_x, 0, y, width); // makes room
                auto const before = static_cast<double>(bytes_sent(rows.comm()));
                a.multiply(MatrixOp::none, 1, my_x, 0, y, width);
                double const mine = static_cast<double>(bytes_sent(rows.comm())) - before;
                double const sent = sum(rows.comm(), mine);
                auto const halo = static_cast<double>(sum(rows.comm(), a.halo_size()));
                double const directions = symmetry == Symmetry::general ? 1 : 2; // export, import
                EXPECT_EQ(sent, directions * halo * width * sizeof(double));
                EXPECT_LT(halo, 3 * 200);
                auto const all = gathered(rows, y, width);
                if (rows.comm().rank() == 0) result = all;
            });
        EXPECT_EQ(results[0], results[1]);
    }
}

TEST(DistributedMatrix, RefusesARectangularMatrix) {
    CscMatrix<double> const a{2, 3, Symmetry::general, {0, 0, 0, 0}, {}, {}};
    EXPECT_THROW(DistributedMatrix<double>{a}, Error);
}

TEST(RowReduction, AnErrorOfOneProcessIsThrownOnAll) {
    test::with_dealt_rows(10, 3, 1, [&](DistributedRows const& rows) {
        auto& reduction = rows.reduction();
        auto const fail_on_2 = [&](auto&&...) {
            if (rows.comm().rank() == 2) throw std::bad_alloc();
        };
        EXPECT_THROW(reduction.sum<double>(3, fail_on_2), Error);
        EXPECT_THROW(reduction.max(3, fail_on_2), Error);
        EXPECT_THROW(reduction.all_succeed([&] { fail_on_2(); }), Error);
        auto const sums = reduction.sum<std::complex<double>>(
            2, [&](auto values) { values[0] = {1, static_cast<double>(rows.comm().rank())}; });
        EXPECT_EQ(sums[0], (std::complex<double>(3, 3)));
        EXPECT_EQ(sums[1], 0.0);
    });
}

TEST(RowReduction, KeepsANanAndAnInfinity) {
    test::with_dealt_rows(10, 3, 1, [&](DistributedRows const& rows) {
        auto const norms = rows.reduction().max(3, [&](std::span<double> values) {
            values[0] = rows.comm().rank() == 1 ? std::numeric_limits<double>::quiet_NaN() : infinity;
            values[1] = rows.comm().rank() == 2 ? infinity : 1;
            values[2] = 0.5 * rows.comm().rank();
        });
        EXPECT_TRUE(std::isnan(norms[0]));
        EXPECT_EQ(norms[1], infinity);
        EXPECT_EQ(norms[2], 1);
    });
}

} // namespace
} // namespace espalier
