#include "refine/null_space.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "dense.hpp"
#include "kernels/lapack.hpp"
#include "matrix/norms.hpp"
#include "matrix/spmv.hpp"

namespace espalier {
namespace {

using test::DenseLu, test::Dense, test::to_dense, test::to_sparse;

// All singular values of a matrix, ascending, and the right singular vectors in the same order.
template <class T> struct DenseSvd {
    std::vector<Real<T>> values;
    Dense<T> vectors;

    explicit DenseSvd(CscMatrix<T> const& a) : vectors(a.cols) {
        Dense<T> dense = to_dense<T>(a), right(a.cols);
        Index const n = a.cols;
        values = singular_values<T>({dense.values.data(), n, n, n}, {right.values.data(), n, n, n});
        std::reverse(values.begin(), values.end());
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) vectors(i, j) = conj(right(n - 1 - j, i));
    }
};

// Computes factors like a solver with pivot threshold sqrt(eps) max|A|.
template <class T> DenseLu<T> factorize(CscMatrix<T> const& a) {
    return DenseLu<T>(to_dense<T>(a), static_cast<Real<T>>(std::sqrt(epsilon<T>) * max_abs(a)));
}

template <class T> double norm_of(CscMatrix<T> const& a) {
    DistributedMatrix<T> const matrix(a);
    return std::sqrt(matrix.one_norm() * matrix.infinity_norm());
}

template <class T> double bound_of(CscMatrix<T> const& a) {
    return static_cast<double>(a.cols) * static_cast<double>(epsilon<T>) * norm_of(a);
}

template <class T> void expect_orthonormal_null_vectors(CscMatrix<T> const& a, DenseMatrix<T> const& v) {
    double const eps = static_cast<double>(epsilon<T>);
    ASSERT_EQ(v.values.size(), static_cast<std::size_t>(v.rows * v.cols));
    for (Index j = 0; j < v.cols; ++j) {
        std::span<T const> const column(v.column(j), static_cast<std::size_t>(v.rows));
        std::vector<T> image(column.size());
        multiply<T>(MatrixOp::none, T(1), a, column, T(0), image);
        double squares = 0;
        for (T const value : image) squares += static_cast<double>(std::norm(value));
        EXPECT_LE(std::sqrt(squares), 2 * bound_of(a));
        for (Index k = 0; k <= j; ++k) {
            T product(0);
            for (Index i = 0; i < v.rows; ++i) product += conj(v.column(k)[i]) * v.column(j)[i];
            EXPECT_NEAR(std::abs(product - T(k == j)), 0, 30 * eps * static_cast<double>(v.rows));
        }
    }
}

// Compares nullity, vectors and singular values with those of LAPACK, for each size of the first block; 0 is
// the default.
template <class T>
void expect_as_dense(CscMatrix<T> const& a, Index nullity, std::initializer_list<Index> first_blocks = {0}) {
    auto const lu = factorize(a);
    DenseSvd<T> const svd(a);
    double const norm = norm_of(a);
    auto const first = static_cast<std::size_t>(nullity);
    for (Index const first_block : first_blocks) {
        NullSpaceOptions options;
        options.first_block = first_block > 0 ? first_block : lu.replaced() + 2;
        auto const result = null_space<T>(a, lu.apply(), options);
        ASSERT_EQ(result.basis.cols, nullity);
        ASSERT_EQ(result.basis.rows, a.cols);
        expect_orthonormal_null_vectors(a, result.basis);
        ASSERT_GE(result.singular_values.size(), std::min(first + 1, svd.values.size()));
        for (std::size_t k = 0; k + 1 < result.singular_values.size(); ++k)
            EXPECT_LE(result.singular_values[k], result.singular_values[k + 1]);
        // The smallest nonzero singular value is approximated from above.
        if (first < svd.values.size()) {
            double const exact = static_cast<double>(svd.values[first]) / norm;
            EXPECT_GE(result.singular_values[first], 0.99 * exact);
            EXPECT_LE(result.singular_values[first], 1.3 * exact);
        }
    }
}

template <class T> class NullSpaceOf : public testing::Test {};
using test::Scalars;
TYPED_TEST_SUITE(NullSpaceOf, Scalars);

TYPED_TEST(NullSpaceOf, RandomMatricesOfEveryNullity) {
    using T = TypeParam;
    for (bool const hermitian : {false, true})
        for (Index const nullity : {0, 1, 2, 7, 19, 40, 74})
            for (Index const n : {75, 20}) {
                if (nullity > n) continue;
                SCOPED_TRACE(testing::Message() << "n " << n << " nullity " << nullity << " " << hermitian);
                std::mt19937_64 random(5);
                std::uniform_real_distribution<double> uniform(0.05, 1);
                std::vector<double> sigma(n);
                for (std::size_t i = 0; i < sigma.size(); ++i) {
                    sigma[i] = static_cast<Index>(i) < nullity ? 0.0 : uniform(random);
                    if (hermitian && i % 2) sigma[i] = -sigma[i];
                }
                auto const dense = test::with_singular_values<T>(sigma, 11, hermitian);
                Symmetry const symmetry = !hermitian      ? Symmetry::general
                                          : is_complex<T> ? Symmetry::hermitian
                                                          : Symmetry::symmetric;
                expect_as_dense(to_sparse(dense, symmetry), nullity, {0, 4});
            }
}

TEST(NullSpace, IsFoundByABlockThatStartsMuchTooSmall) {
    for (Index const nullity : {20, 30}) {
        std::mt19937_64 random(7);
        std::uniform_real_distribution<double> uniform(0.05, 1);
        std::vector<double> sigma(200);
        for (std::size_t i = static_cast<std::size_t>(nullity); i < sigma.size(); ++i)
            sigma[i] = uniform(random);
        auto const a = to_sparse(test::with_singular_values<double>(sigma, 2));
        ASSERT_GT(factorize(a).replaced(), nullity - 1);
        expect_as_dense(a, nullity, {1});
    }
}

TYPED_TEST(NullSpaceOf, SparseSingularMatricesIsThatOfTheDenseDecomposition) {
    using T = TypeParam;
    // Random sparse columns, some of which are sums of two others.
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        std::mt19937_64 random(seed);
        Dense<T> dense(60);
        for (Index j = 0; j < 60; ++j) {
            dense(j, j) = T(2);
            for (int k = 0; k < 4; ++k)
                dense(static_cast<Index>(random() % 60), j) += test::random_scalar<T>(random);
        }
        for (Index const j : {7, 20, 41})
            for (Index i = 0; i < 60; ++i) dense(i, j) = dense(i, j + 5) + dense(i, j + 10);
        expect_as_dense(to_sparse(dense), 3);
    }
}

TYPED_TEST(NullSpaceOf, MatricesOfTinyOrder) {
    using T = TypeParam;
    ApplyInverse<T> const unused = [](std::span<T>, Index, MatrixOp) {};
    EXPECT_EQ(null_space<T>(CscMatrix<T>(), unused).basis.cols, 0);
    auto const nullity = [&](std::vector<T> values) {
        Dense<T> dense(values.size() == 1 ? 1 : values.size() == 4 ? 2 : 3);
        dense.values = std::move(values);
        auto const a = to_sparse(dense);
        auto const result = null_space<T>(a, unused);
        expect_orthonormal_null_vectors(a, result.basis);
        return result.basis.cols;
    };
    EXPECT_EQ(nullity({T(0)}), 1);
    EXPECT_EQ(nullity({T(3)}), 0);
    EXPECT_EQ(nullity({T(1), T(1), T(1), T(1)}), 1);
    EXPECT_EQ(nullity({T(1), T(1), T(1), T(2)}), 0);
    EXPECT_EQ(nullity({T(0), T(0), T(1), T(0)}), 1);
    EXPECT_EQ(nullity({T(1), T(2), T(3), T(2), T(4), T(6), T(-1), T(-2), T(-3)}), 2);
    EXPECT_EQ(nullity(std::vector<T>(9)), 3);
}

TEST(NullSpace, IsTheWholeSpaceForTheZeroMatrix) {
    CscMatrix<double> const a{50, 50, Symmetry::general, std::vector<Offset>(51), {}, {}};
    ApplyInverse<double> const never = [](std::span<double> block, Index, MatrixOp) {
        std::fill(block.begin(), block.end(), std::numeric_limits<double>::infinity());
    };
    auto const result = null_space<double>(a, never);
    EXPECT_EQ(result.basis.cols, 50);
    expect_orthonormal_null_vectors(a, result.basis);
}

// The Laplacian of a graph of paths of these lengths.
CscMatrix<double> laplacian_of_paths(std::vector<Index> const& lengths) {
    std::vector<Index> path; // the path of each vertex
    for (Index k = 0; k < std::ssize(lengths); ++k) path.insert(path.end(), lengths[k], k);
    Index const n = std::ssize(path);
    auto const joined = [&](Index i, Index j) { return j >= 0 && j < n && path[i] == path[j]; };
    return matrix_of(n, Symmetry::symmetric, [&](Index i, Index j) {
        if (i == j) return joined(i, i - 1) + joined(i, i + 1);
        return i == j + 1 && joined(i, j) ? -1 : 0;
    });
}

TEST(NullSpace, HasAVectorForEachComponentOfAGraph) {
    for (auto const& lengths : {std::vector<Index>{150},
                                {80, 60},
                                {30, 30, 30, 30, 30},
                                {1, 2, 3, 4, 100, 1, 1},
                                std::vector<Index>(40, 3)})
        expect_as_dense(laplacian_of_paths(lengths), static_cast<Index>(lengths.size()));
}

TEST(NullSpace, FollowsTheToleranceAcrossAGeometricDecay) {
    std::vector<double> sigma;
    for (int i = 0; i < 100; ++i) sigma.push_back(std::pow(0.5, i));
    auto const a = to_sparse(test::with_singular_values<double>(sigma, 3));
    auto const lu = factorize(a);
    double const norm = norm_of(a);
    for (double const tolerance : {1e-4, 1e-8, 1e-12}) {
        auto const result = null_space<double>(a, lu.apply(), {.tolerance = tolerance});
        Index expected = 0;
        for (double const value : sigma) expected += value <= tolerance * norm;
        EXPECT_NEAR(static_cast<double>(result.basis.cols), static_cast<double>(expected), 1);
    }
}

TEST(NullSpace, IsThatOfTheMatrixAlsoWithInaccurateFactors) {
    // The factors have an error of 1e-4 |A| in one diagonal entry, as from a replaced pivot, and are not
    // singular.
    std::vector<double> sigma(60, 1.0);
    sigma[10] = 0;
    auto const a = to_sparse(test::with_singular_values<double>(sigma, 9));
    auto shifted = to_dense<double>(a);
    shifted(30, 30) += 1e-4;
    DenseLu<double> const lu(shifted);
    auto const result = null_space<double>(a, lu.apply());
    ASSERT_EQ(result.basis.cols, 1);
    expect_orthonormal_null_vectors(a, result.basis);
}

TEST(NullSpace, IsReproducible) {
    auto const a = laplacian_of_paths({40, 50});
    auto const lu = factorize(a);
    EXPECT_EQ(null_space<double>(a, lu.apply()).basis.values, null_space<double>(a, lu.apply()).basis.values);
}

TEST(NullSpace, ReportsErrors) {
    auto const a = laplacian_of_paths({40, 50});
    auto const lu = factorize(a);
    auto const status_for = [&](ApplyInverse<double> const& apply, NullSpaceOptions const& options) {
        return status_of([&] { null_space<double>(a, apply, options); });
    };
    ApplyInverse<double> const nan = [](std::span<double> block, Index, MatrixOp) {
        std::fill(block.begin(), block.end(), std::numeric_limits<double>::quiet_NaN());
    };
    EXPECT_EQ(status_for(nan, {}), Status::singular);
    EXPECT_EQ(status_for(lu.apply(), {.max_bytes = 10000}), Status::out_of_memory);
    Interrupt interrupt;
    interrupt.request();
    EXPECT_EQ(status_for(lu.apply(), {.interrupt = &interrupt}), Status::cancelled);
    EXPECT_EQ(status_for(lu.apply(), {}), Status::ok);
}

} // namespace
} // namespace espalier
