#include "incomplete/incomplete_factor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>

#include "common/matrices.hpp"
#include "core/status_of.hpp"
#include "rows/dense_blocks.hpp"
#include "rows/fill_pattern.hpp"
#include "solver/generated.hpp"

namespace espalier {
namespace {

template <class T> T random_value(std::mt19937& random) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    if constexpr (is_complex<T>) {
        auto const re = static_cast<Real<T>>(uniform(random));
        return T(re, static_cast<Real<T>>(uniform(random)));
    } else {
        return static_cast<T>(uniform(random));
    }
}

/// A matrix of sparse, full b x b blocks with a dominant diagonal. A block row has about `blocks_beside`
/// blocks at random places beside the diagonal.
template <class T>
CscMatrix<T> block_matrix(Index blocks, int b, Symmetry symmetry, unsigned seed, unsigned blocks_beside = 2) {
    std::mt19937 random(seed);
    std::vector<char> present(blocks * blocks);
    for (Index i = 0; i < blocks; ++i)
        for (Index j = 0; j < blocks; ++j)
            present[i + j * blocks] = i == j || random() % blocks < blocks_beside;
    return matrix_of<T>(blocks * b, symmetry, [&](Index i, Index j) {
        if (!present[i / b + j / b * blocks]) return T(0);
        if (i == j) return T(static_cast<Real<T>>(8 * b));
        return random_value<T>(random);
    });
}

template <class T> std::vector<std::vector<T>> dense(CscMatrix<T> const& a) {
    std::vector<std::vector<T>> d(a.rows, std::vector<T>(a.cols, T(0)));
    for (Index j = 0; j < a.cols; ++j)
        for (Offset const p : a.entries_of(j)) {
            Index const i = a.row_ind[p];
            d[i][j] = a.values[p];
            if (i != j && a.symmetry != Symmetry::general)
                d[j][i] = conj_if(a.symmetry == Symmetry::hermitian, a.values[p]);
        }
    return d;
}

/// The textbook incomplete LU factorization without pivoting, on the entries for which in_pattern(i, j)
/// holds.
template <class T, class InPattern>
std::vector<std::vector<T>> reference_factor(CscMatrix<T> const& a, InPattern const& in_pattern) {
    auto f = dense(a);
    for (Index i = 0; i < a.rows; ++i)
        for (Index k = 0; k < i; ++k) {
            if (!in_pattern(i, k)) continue;
            f[i][k] /= f[k][k];
            for (Index j = k + 1; j < a.rows; ++j)
                if (in_pattern(i, j)) f[i][j] -= f[i][k] * f[k][j];
        }
    return f;
}

/// The solution with that factor.
template <class T, class InPattern>
std::vector<T> reference_solve(CscMatrix<T> const& a, InPattern const& in_pattern, std::vector<T> x) {
    auto const f = reference_factor(a, in_pattern);
    for (Index i = 0; i < a.rows; ++i)
        for (Index k = 0; k < i; ++k)
            if (in_pattern(i, k)) x[i] -= f[i][k] * x[k];
    for (Index i = a.rows; i-- > 0;) {
        for (Index k = i + 1; k < a.rows; ++k)
            if (in_pattern(i, k)) x[i] -= f[i][k] * x[k];
        x[i] /= f[i][i];
    }
    return x;
}

/// The solution with its transpose, or with its adjoint.
template <class T, class InPattern> std::vector<T>
reference_transposed(CscMatrix<T> const& a, InPattern const& in_pattern, bool adjoint, std::vector<T> x) {
    auto f = reference_factor(a, in_pattern);
    for (auto& row : f)
        for (T& entry : row) entry = conj_if(adjoint, entry);
    for (Index i = 0; i < a.rows; ++i) {
        for (Index k = 0; k < i; ++k)
            if (in_pattern(k, i)) x[i] -= f[k][i] * x[k];
        x[i] /= f[i][i];
    }
    for (Index i = a.rows; i-- > 0;)
        for (Index k = i + 1; k < a.rows; ++k)
            if (in_pattern(k, i)) x[i] -= f[k][i] * x[k];
    return x;
}

template <class T> std::vector<T> random_vector(Index n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> x(n);
    for (T& entry : x) entry = random_value<T>(random);
    return x;
}

template <class T> double difference(std::vector<T> const& a, std::vector<T> const& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, static_cast<double>(std::abs(a[i] - b[i])));
    return largest;
}

template <class T> std::vector<T> solve(CscMatrix<T> const& a, IncompleteOptions const& options,
                                        WorkerTeam& team, std::vector<T> const& b,
                                        MatrixOp op = MatrixOp::none) {
    IncompleteFactor<T> factor(a, options, team);
    EXPECT_EQ(factor.factorize(a).replaced, 0);
    std::vector<T> x(b.size());
    factor.solve(b.data(), x.data(), std::ssize(b) / a.rows, op);
    return x;
}

WorkerTeam& team_of(int size) {
    static auto const topology = Topology::detect();
    static std::vector<std::unique_ptr<WorkerTeam>> teams(8);
    if (!teams[size]) teams[size] = std::make_unique<WorkerTeam>(topology, size);
    return *teams[size];
}

template <class T> class IncompleteFactorOf : public ::testing::Test {
  public:
    static constexpr double tolerance = 200 * epsilon<T>;
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(IncompleteFactorOf, Scalars);

TYPED_TEST(IncompleteFactorOf, IsTheTextbookFactorOnItsPattern) {
    using T = TypeParam;
    for (auto const symmetry : {Symmetry::general, Symmetry::symmetric, Symmetry::hermitian}) {
        if (symmetry == Symmetry::hermitian && !is_complex<T>) continue;
        auto const a = block_matrix<T>(50, 1, symmetry, 11);
        auto const b = random_vector<T>(50, 2);
        for (Index const levels : {0, 1, 2, 50}) {
            auto const pattern = fill_pattern(block_pattern(a, 1), levels);
            auto const in_pattern = [&](Index i, Index j) {
                auto const row = pattern.row(static_cast<BlockRow>(i));
                return std::binary_search(row.begin(), row.end(), static_cast<BlockRow>(j));
            };
            auto const x = solve<T>(a, {.levels = levels}, team_of(2), b);
            EXPECT_LT(difference(x, reference_solve(a, in_pattern, b)), this->tolerance);
        }
    }
}

TYPED_TEST(IncompleteFactorOf, SolvesTransposedSystemsOfEveryBlockSize) {
    using T = TypeParam;
    for (int const size : {1, 2, 3, 4, 5, 6}) {
        auto const a = block_matrix<T>(24, size, Symmetry::general, 11);
        for (Index const levels : {0, 1, 24}) {
            auto const pattern = fill_pattern(block_pattern(a, size), levels);
            auto const in_pattern = [&](Index i, Index j) {
                auto const row = pattern.row(static_cast<BlockRow>(i / size));
                return std::binary_search(row.begin(), row.end(), static_cast<BlockRow>(j / size));
            };
            for (auto const op : {MatrixOp::transpose, MatrixOp::adjoint}) {
                auto const b = random_vector<T>(a.rows, 2);
                auto const x = solve<T>(a, {.levels = levels, .block_size = size}, team_of(2), b, op);
                auto const expected = reference_transposed(a, in_pattern, op == MatrixOp::adjoint, b);
                EXPECT_LT(difference(x, expected), this->tolerance) << size << ", level " << levels;
            }
        }
    }
}

TYPED_TEST(IncompleteFactorOf, WithAllLevelsSolvesTheSystem) {
    using T = TypeParam;
    for (int const size : {1, 3}) {
        auto const a = block_matrix<T>(40, size, Symmetry::general, 3);
        auto const d = dense(a);
        auto const exact = random_vector<T>(a.rows, 9);
        std::vector<T> b(a.rows, T(0));
        for (Index i = 0; i < a.rows; ++i)
            for (Index j = 0; j < a.rows; ++j) b[i] += d[i][j] * exact[j];
        auto const x = solve<T>(a, {.levels = a.rows, .block_size = size}, team_of(3), b);
        EXPECT_LT(difference(x, exact), this->tolerance);
    }
}

TYPED_TEST(IncompleteFactorOf, WithDenseBlocksIsTheScalarFactor) {
    using T = TypeParam;
    for (int const size : {2, 3, 4, 5, 6}) {
        auto const a = block_matrix<T>(16, size, Symmetry::general, 7);
        auto const b = random_vector<T>(a.rows, 4);
        // If its pattern is that of the blocks, the scalar factor has the same entries.
        for (Index const levels : {0, 1}) {
            auto const pattern = fill_pattern(block_pattern(a, size), levels);
            auto const in_pattern = [&](Index i, Index j) {
                auto const row = pattern.row(static_cast<BlockRow>(i / size));
                return std::binary_search(row.begin(), row.end(), static_cast<BlockRow>(j / size));
            };
            auto const x = solve<T>(a, {.levels = levels, .block_size = size}, team_of(2), b);
            EXPECT_LT(difference(x, reference_solve(a, in_pattern, b)), this->tolerance);
        }
        EXPECT_LT(difference(solve<T>(a, {.block_size = size}, team_of(1), b),
                             solve<T>(a, {.block_size = 1}, team_of(1), b)),
                  this->tolerance);
    }
}

// Matrices of whole blocks are read block by block, others value by value.
TYPED_TEST(IncompleteFactorOf, OfBlocksWithAGapIsTheFactorWithAZero) {
    using T = TypeParam;
    for (int const size : {2, 3, 6}) {
        auto whole = block_matrix<T>(16, size, Symmetry::general, 7);
        CscMatrix<T> gap = whole;
        whole.values[1] = 0;
        gap.row_ind.erase(gap.row_ind.begin() + 1);
        gap.values.erase(gap.values.begin() + 1);
        for (std::size_t j = 1; j < gap.col_ptr.size(); ++j) --gap.col_ptr[j];
        ASSERT_TRUE(whole_blocks(whole, size));
        ASSERT_FALSE(whole_blocks(gap, size));
        auto const b = random_vector<T>(gap.rows, 4);
        for (Index const levels : {0, 1}) {
            IncompleteOptions const options{.levels = levels, .block_size = size};
            EXPECT_EQ(solve<T>(gap, options, team_of(2), b), solve<T>(whole, options, team_of(2), b));
        }
    }
}

// Rows of this kind are factorized in ascending order, not in that of the sweeps.
TYPED_TEST(IncompleteFactorOf, OfLongRowsAtRandomPlacesIsTheTextbookFactor) {
    using T = TypeParam;
    auto const a = block_matrix<T>(300, 1, Symmetry::general, 4, 24);
    auto const pattern = block_pattern(a, 1);
    EXPECT_FALSE(make_execution_order(pattern, 1, "one").follows_closely);
    EXPECT_GE(pattern.num_blocks(), (2 * 8 + 1) * a.rows);
    auto const in_pattern = [&](Index i, Index j) {
        auto const row = pattern.row(static_cast<BlockRow>(i));
        return std::binary_search(row.begin(), row.end(), static_cast<BlockRow>(j));
    };
    auto const b = random_vector<T>(a.rows, 2);
    auto const expected = reference_solve(a, in_pattern, b);
    auto const x = solve<T>(a, {.levels = 0}, team_of(1), b);
    EXPECT_LT(difference(x, expected), this->tolerance);
    for (int const workers : {2, 3})
        for (char const* text : {"", "D(10)", "F(4)"})
            EXPECT_EQ(solve<T>(a, {.levels = 0, .coarse_string = text}, team_of(workers), b), x);
}

TYPED_TEST(IncompleteFactorOf, HasTheSameBitsForAllWorkersAndCoarseStrings) {
    using T = TypeParam;
    for (int const size : {1, 2})
        for (auto const op : {MatrixOp::none, MatrixOp::transpose, MatrixOp::adjoint}) {
            auto const a = block_matrix<T>(100, size, Symmetry::general, 5);
            auto const b = random_vector<T>(a.rows * 5, 8);
            auto const expected = solve<T>(a, {.levels = 1, .block_size = size}, team_of(1), b, op);
            for (int const workers : {1, 2, 4})
                for (char const* text : {"", "D(10)", "F(4)"}) {
                    auto const x = solve<T>(a, {.levels = 1, .block_size = size, .coarse_string = text},
                                            team_of(workers), b, op);
                    EXPECT_EQ(x, expected) << workers << " workers, " << text;
                }
        }
}

// Without fill, rows of scalars get their values from A all at once or one by one. The first factorizations
// do both.
TYPED_TEST(IncompleteFactorOf, HasTheSameBitsHoweverRowsGetTheirValues) {
    using T = TypeParam;
    auto const a = block_matrix<T>(100, 1, Symmetry::general, 5);
    auto const b = random_vector<T>(a.rows, 8);
    auto const expected = solve<T>(a, {}, team_of(1), b);
    for (char const* text : {"", "D(10)"}) {
        IncompleteFactor<T> factor(a, {.coarse_string = text}, team_of(1));
        for (int k = 0; k < 8; ++k) {
            factor.factorize(a);
            std::vector<T> x(b.size());
            factor.solve(b.data(), x.data(), 1);
            EXPECT_EQ(x, expected) << text << " " << k;
        }
    }
}

// Four vectors are swept together, and the others one by one.
TYPED_TEST(IncompleteFactorOf, SolvesAnyNumberOfTransposedVectorsAlsoInPlace) {
    using T = TypeParam;
    for (int const size : {1, 2, 3, 4, 5, 6}) {
        auto const a = block_matrix<T>(30, size, Symmetry::general, 6);
        IncompleteFactor<T> factor(a, {.block_size = size}, team_of(2));
        factor.factorize(a);
        auto const b = random_vector<T>(a.rows * 7, 1);
        std::vector<T> expected(b.size()), x = b;
        for (Index r = 0; r < 7; ++r)
            factor.solve(b.data() + r * a.rows, expected.data() + r * a.rows, 1, MatrixOp::adjoint);
        factor.solve(x.data(), x.data(), 7, MatrixOp::adjoint);
        EXPECT_LT(difference(x, expected), this->tolerance);
        factor.solve(x.data(), x.data(), 0, MatrixOp::adjoint);
    }
}

TYPED_TEST(IncompleteFactorOf, SolvesAnyNumberOfVectorsAlsoInPlace) {
    using T = TypeParam;
    for (int const size : {1, 2}) { // rows of scalars are stored in groups
        auto const a = block_matrix<T>(30, size, Symmetry::symmetric, 6);
        IncompleteFactor<T> factor(a, {.block_size = size}, team_of(2));
        factor.factorize(a);
        auto const b = random_vector<T>(a.rows * 11, 1);
        std::vector<T> expected(b.size()), x = b;
        for (Index r = 0; r < 11; ++r) factor.solve(b.data() + r * a.rows, expected.data() + r * a.rows);
        factor.solve(x.data(), x.data(), 11);
        EXPECT_LT(difference(x, expected), this->tolerance);
        factor.solve(x.data(), x.data(), 0);

        // The solves are in execution order, first by both sweeps at once, then one by one.
        auto const row_of = factor.row_of();
        std::vector<T> ordered, in_steps;
        for (Index const row : row_of) ordered.push_back(b[row]);
        in_steps = ordered;
        factor.solve_in_order(ordered.data());
        factor.solve_in_order(in_steps.data(), TriangularPart::lower);
        factor.solve_in_order(in_steps.data(), TriangularPart::upper);
        EXPECT_EQ(ordered, in_steps);
        for (std::size_t k = 0; k < row_of.size(); ++k) EXPECT_EQ(ordered[k], expected[row_of[k]]);
    }
}

// One chunk has packed groups here, and chunks of one row have no groups. Four of the vectors are swept
// together.
TEST(IncompleteFactor, HasTheSameBitsWithPackedGroups) {
    auto const check = [](auto scalar) {
        using T = decltype(scalar);
        auto const a = generated<T>("lap2d:200");
        auto const b = random_vector<T>(5 * a.rows, 3);
        for (Index const levels : {0, 1})
            for (auto const op : {MatrixOp::none, MatrixOp::transpose}) {
                auto const x = solve<T>(a, {.levels = levels, .coarse_string = one_chunk}, team_of(1), b, op);
                EXPECT_EQ(x, solve<T>(a, {.levels = levels, .coarse_string = "none"}, team_of(1), b, op));
            }
    };
    check(float());
    check(double());
}

TEST(IncompleteFactor, WithAnOrderingIsTheFactorOfThePermutedMatrix) {
    auto const a = block_matrix<double>(40, 2, Symmetry::general, 12);
    std::vector<Index> positions(40);
    std::iota(positions.begin(), positions.end(), Index(0));
    std::shuffle(positions.begin(), positions.end(), std::mt19937(3));
    auto const moved = [&](Index i) { return positions[i / 2] * 2 + i % 2; };
    auto const d = dense(a);
    std::vector<std::vector<double>> rows(80, std::vector<double>(80));
    auto const b = random_vector<double>(80, 5);
    std::vector<double> moved_b(80);
    for (Index i = 0; i < 80; ++i) {
        moved_b[moved(i)] = b[i];
        for (Index j = 0; j < 80; ++j) rows[moved(i)][moved(j)] = d[i][j];
    }
    auto const permuted = matrix_from(Symmetry::general, rows);
    auto const x = solve<double>(a, {.levels = 1, .block_size = 2, .positions = positions}, team_of(2), b);
    auto const moved_x = solve<double>(permuted, {.levels = 1, .block_size = 2}, team_of(2), moved_b);
    for (Index i = 0; i < 80; ++i) EXPECT_NEAR(x[i], moved_x[moved(i)], 1e-13);
}

TEST(IncompleteFactor, TakesNewValuesWithoutANewAnalysis) {
    auto a = block_matrix<double>(40, 1, Symmetry::general, 1);
    IncompleteFactor<double> factor(a, {.levels = 1}, team_of(2));
    auto const b = random_vector<double>(40, 1);
    std::vector<double> x(40);
    factor.factorize(a);
    factor.solve(b.data(), x.data(), 1, MatrixOp::transpose);
    scale_values(a, [](Index i, Index j) { return i == j ? 2.0 : 0.5; });
    factor.factorize(a);
    for (auto const op : {MatrixOp::none, MatrixOp::transpose}) {
        factor.solve(b.data(), x.data(), 1, op);
        EXPECT_EQ(x, solve<double>(a, {.levels = 1}, team_of(1), b, op));
    }
    auto const other = block_matrix<double>(41, 1, Symmetry::general, 1);
    EXPECT_TRUE(throws_error(Status::usage, "analyzed matrix had 40", [&] { factor.factorize(other); }));
}

TEST(IncompleteFactor, ReplacesAndCountsSmallPivots) {
    // The pivots are 1, 1 - 1 = 0, 1e-20 beside an entry of 4, and 1 - 16.
    auto const a =
        matrix_from<double>(Symmetry::general, {{1, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1e-20, 4}, {0, 0, 4, 1}});
    IncompleteFactor<double> factor(a, {}, team_of(1));
    EXPECT_EQ(factor.factorize(a, {.threshold = 0.25, .max_restarts = 0}).replaced, 2);
    // The diagonal blocks of L U are [1 1; 1 1.25] and [1 4; 4 1].
    std::vector<double> x{3, 3.25, 5, 5};
    factor.solve(x.data(), x.data());
    EXPECT_EQ(x, (std::vector<double>{2, 1, 1, 1}));
}

TEST(IncompleteFactor, ReplacesThePivotOfAnEmptyRow) {
    CscMatrix<double> const zero{3, 3, Symmetry::general, {0, 0, 0, 0}, {}, {}};
    IncompleteFactor<double> factor(zero, {}, team_of(2));
    EXPECT_EQ(factor.factorize(zero).replaced, 3);
    EXPECT_EQ(factor.factorize(zero, {.max_restarts = 5}).restarts, 0); // no shift helps
    std::vector<double> x{1, 2, 3};
    factor.solve(x.data(), x.data());
    EXPECT_EQ(x, (std::vector<double>{1, 2, 3}));
}

TEST(IncompleteFactor, WithPositivePivotsIsPositiveDefinite) {
    for (int const size : {1, 3}) {
        auto a = block_matrix<std::complex<double>>(20, size, Symmetry::hermitian, 8);
        scale_values(a, [](Index i, Index j) { return i == j && i % 4 == 1 ? -0.01 : 1.0; });
        IncompleteFactor<std::complex<double>> factor(a, {.block_size = size}, team_of(2));
        EXPECT_GT(factor.factorize(a, {.positive = true, .threshold = 0.1, .max_restarts = 0}).replaced, 0);
        // z^H M^-1 z is real and positive.
        for (unsigned seed = 0; seed < 10; ++seed) {
            auto const z = random_vector<std::complex<double>>(a.rows, seed);
            auto x = z;
            factor.solve(x.data(), x.data());
            std::complex<double> product = 0;
            for (Index i = 0; i < a.rows; ++i) product += std::conj(z[i]) * x[i];
            EXPECT_GT(product.real(), 0);
            EXPECT_NEAR(product.imag(), 0, 1e-10 * product.real());
        }
    }
}

/// Blocks of the given size, the product of a small positive definite block with the positive definite matrix
/// of Kershaw (1978), whose IC(0) has the pivots 3, 5/3, 3/5 and -5. `copies` of it are the diagonal blocks
/// of the result, which is scaled symmetrically.
template <class T> CscMatrix<T> kershaw(Index copies, int size = 1) {
    static constexpr int entries[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
    auto const scale = [](Index i) { return std::pow(2.0, (i * 7) % 11 - 5); };
    return matrix_of<T>(4 * copies * size, Symmetry::symmetric, [&](Index i, Index j) {
        Index const row = i / size, column = j / size;
        if (row / 4 != column / 4) return T(0);
        int const in_block = i % size == j % size ? 2 : 1;
        return T(static_cast<Real<T>>(in_block * entries[row % 4][column % 4] * scale(i) * scale(j)));
    });
}

TYPED_TEST(IncompleteFactorOf, ShiftsTheDiagonalUntilAllPivotsArePositive) {
    using T = TypeParam;
    for (int const size : {1, 2}) {
        auto const a = kershaw<T>(100, size);
        PivotDemand const demand{.positive = true};
        auto const b = random_vector<T>(a.rows, 3);
        std::vector<T> expected(b.size()), x(b.size());
        IncompleteFactor<T> factor(a, {.block_size = size}, team_of(1));
        auto const pivots = factor.factorize(a, demand);
        EXPECT_EQ(pivots.replaced, 0);
        EXPECT_GT(pivots.restarts, 0);
        EXPECT_EQ(pivots.shift, 1e-3 * std::pow(2.0, pivots.restarts - 1));
        factor.solve(b.data(), expected.data());

        // These are the factors of the matrix with a larger diagonal, and a smaller shift does not suffice.
        auto shifted = [&](double shift) {
            auto larger = a;
            scale_values(larger,
                         [&](Index i, Index j) { return static_cast<Real<T>>(i == j ? 1 + shift : 1.0); });
            return larger;
        };
        auto const larger = shifted(pivots.shift);
        EXPECT_EQ(factor.factorize(larger, {.positive = true, .max_restarts = 0}).replaced, 0);
        factor.solve(b.data(), x.data());
        EXPECT_EQ(x, expected);
        EXPECT_GT(factor.factorize(shifted(pivots.shift / 2), {.positive = true, .max_restarts = 0}).replaced,
                  0);

        for (int const workers : {2, 4})
            for (auto const policy : {SchedulePolicy::static_order, SchedulePolicy::dynamic_tree}) {
                IncompleteOptions options{.block_size = size, .coarse_string = "D(10)"};
                options.runtime.schedule.schedule = policy;
                IncompleteFactor<T> other(a, options, team_of(workers));
                auto const same = other.factorize(a, demand);
                EXPECT_EQ(same.shift, pivots.shift);
                EXPECT_EQ(same.restarts, pivots.restarts);
                other.solve(b.data(), x.data());
                EXPECT_EQ(x, expected);
            }
    }
}

TEST(IncompleteFactor, WithoutAShiftThatHelpsReplacesPivotsOfTheMatrixItself) {
    auto const a = kershaw<double>(3);
    IncompleteFactor<double> factor(a, {.block_size = 1}, team_of(1));
    auto const b = random_vector<double>(a.rows, 3);
    std::vector<double> expected(b.size()), x(b.size());
    EXPECT_EQ(factor.factorize(a, {.positive = true, .max_restarts = 0}).replaced, 3);
    factor.solve(b.data(), expected.data());
    auto const pivots = factor.factorize(a, {.positive = true, .max_restarts = 2});
    EXPECT_EQ(pivots.replaced, 3);
    EXPECT_EQ(pivots.restarts, 2);
    EXPECT_EQ(pivots.shift, 0);
    factor.solve(b.data(), x.data());
    EXPECT_EQ(x, expected);
}

TEST(IncompleteFactor, ReportsItsSizes) {
    auto const a = block_matrix<double>(30, 3, Symmetry::general, 2);
    IncompleteFactor<double> factor(a, {.levels = 1, .block_size = 0, .coarse_string = "D(4)"}, team_of(2));
    auto const& sizes = factor.sizes();
    EXPECT_EQ(sizes.block_size, 3);
    EXPECT_EQ(sizes.num_rows, 30);
    EXPECT_EQ(sizes.nnz_factor, 9 * fill_pattern(block_pattern(a, 3), 1).num_blocks());
    EXPECT_GT(sizes.chunks, 5);
    EXPECT_LE(sizes.synchronizations, 2 * sizes.coarse_edges);
}

TEST(IncompleteFactor, CountsTheCurrentRowOfEachWorker) {
    auto const a = block_matrix<double>(200, 1, Symmetry::general, 5);
    auto const bytes = [&](int workers) {
        return IncompleteFactor<double>(a, {.block_size = 1, .coarse_string = "D(4)"}, team_of(workers))
            .sizes()
            .bytes;
    };
    EXPECT_NEAR(static_cast<double>(bytes(4) - bytes(2)), 2 * 200 * sizeof(double), 200 * sizeof(double) / 2);
}

// Only transposed solves of unsymmetric matrices need memory of their own: another copy of the factor.
TEST(IncompleteFactor, CountsTheMemoryOfTransposedSolves) {
    for (int const size : {1, 3}) {
        auto const bytes = [&](Symmetry symmetry) {
            auto const a = block_matrix<double>(200, size, symmetry, 5);
            auto const sizes = IncompleteFactor<double>(a, {.block_size = size}, team_of(2)).sizes();
            EXPECT_LT(sizes.transposed_bytes, sizes.bytes);
            return std::pair(sizes.transposed_bytes,
                             static_cast<std::uint64_t>(sizes.nnz_factor - size * a.rows) * sizeof(double));
        };
        auto const [general, least] = bytes(Symmetry::general);
        EXPECT_GT(general, least);
        EXPECT_EQ(bytes(Symmetry::symmetric).first, 0u);
    }
}

TEST(IncompleteFactor, RecordsTheWorkOnEachChunk) {
    auto const a = block_matrix<double>(200, 1, Symmetry::general, 5);
    for (auto const schedule : {SchedulePolicy::static_order, SchedulePolicy::dynamic_tree}) {
        trace::Recorder recorder({});
        WorkerTeam team(Topology::detect(), 2);
        for (int w = 0; w < 2; ++w) recorder.add_thread({.worker = w});
        team.record(&recorder);
        IncompleteOptions options{.coarse_string = "B(10)"};
        options.runtime.schedule.schedule = schedule;
        IncompleteFactor<double> factor(a, options, team);
        factor.factorize(a);
        std::vector<double> x(a.rows, 1.0);
        factor.solve(x.data(), x.data());
        factor.solve(x.data(), x.data(), 1, MatrixOp::transpose);
        team.record(nullptr);
        std::map<trace::Kind, int> count;
        std::set<std::int64_t> tasks;
        for (auto const& state : recorder.collect().states) {
            ++count[static_cast<trace::Kind>(state.kind)];
            if (state.task >= 0) tasks.insert(state.task);
        }
        EXPECT_EQ(count[trace::Kind::factor], factor.sizes().chunks);
        EXPECT_EQ(count[trace::Kind::forward], 2 * factor.sizes().chunks);
        EXPECT_EQ(count[trace::Kind::backward], 2 * factor.sizes().chunks);
        EXPECT_EQ(std::ssize(tasks), 5 * factor.sizes().chunks);
    }
}

TEST(IncompleteFactor, RefusesWrongOptions) {
    auto const a = block_matrix<double>(10, 1, Symmetry::general, 2);
    auto const refuses = [&](char const* part, IncompleteOptions const& options) {
        return throws_error(Status::usage, part, [&] { IncompleteFactor<double>(a, options, team_of(1)); });
    };
    EXPECT_TRUE(refuses("level of fill is -2", {.levels = -2}));
    EXPECT_TRUE(refuses("blocks of size 7", {.block_size = 7}));
    EXPECT_TRUE(refuses("coarse string 'X'", {.coarse_string = "X"}));
    EXPECT_TRUE(refuses("1 positions for 10", {.positions = {0}}));
    IncompleteFactor<double> factor(a, {}, team_of(1));
    EXPECT_TRUE(throws_error(Status::usage, "pivot threshold is -1",
                             [&] { factor.factorize(a, {.threshold = -1}); }));
}

} // namespace
} // namespace espalier
