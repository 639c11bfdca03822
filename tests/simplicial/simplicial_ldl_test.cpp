// L D L^T and L D L^H without supernodes, against dense matrices.
#include "simplicial/simplicial_ldl.hpp"

#include <algorithm>
#include <cmath>

#include "support.hpp"

namespace espalier {
namespace {

using namespace test;

template <class T> class SimplicialLdlOf : public testing::Test {};
TYPED_TEST_SUITE(SimplicialLdlOf, Scalars);

// An optimality system: `constraints` rows without a diagonal after a sparse diagonally dominant block. Rows
// have very different scales.
template <class T>
CscMatrix<T> saddle_point(Index n, Index constraints, Symmetry symmetry, std::uint64_t seed) {
    SplitMix64 random(seed);
    std::set<std::pair<Index, Index>> places;
    Index const variables = n - constraints;
    for (Index j = 0; j < variables; ++j) {
        places.emplace(j, j);
        if (j + 1 < variables) places.emplace(j, j + 1 + random.below(variables - j - 1));
    }
    for (Index i = variables; i < n; ++i) {
        places.emplace(i - variables, i);
        places.emplace(random.below(variables), i);
    }
    auto a = fill_pattern<T>(n, places, seed);
    a.symmetry = symmetry;
    for (Index j = 0; j < n; ++j)
        for (Offset const p : a.entries_of(j)) {
            Index const i = a.row_ind[p];
            if (i == j) a.values[p] = T(4);
            if (i >= variables && j == i - variables) a.values[p] = T(2);
            a.values[p] *= static_cast<Real<T>>(std::exp2((i % 7) - 3) * std::exp2((j % 7) - 3));
        }
    return a;
}

template <class T> std::vector<Symmetry> symmetries() {
    if constexpr (is_complex<T>) return {Symmetry::symmetric, Symmetry::hermitian};
    return {Symmetry::symmetric};
}

template <class T> T entry_of(CscMatrix<T> const& a, Index i, Index j) {
    for (Offset const p : a.entries_of(j))
        if (a.row_ind[p] == i) return a.values[p];
    return T(0);
}

Factorization kind_for(Symmetry symmetry) {
    return symmetry == Symmetry::hermitian ? Factorization::ldlh : Factorization::ldlt;
}

template <class T> double largest_of(Dense<T> const& a) {
    double largest = 0;
    for (T const value : a.values) largest = std::max<double>(largest, std::abs(value));
    return largest;
}

TYPED_TEST(SimplicialLdlOf, SolvesSaddlePointsWithEveryOp) {
    using T = TypeParam;
    for (Index const n : {1, 2, 9, 60})
        for (Symmetry const symmetry : symmetries<T>()) {
            auto const a = saddle_point<T>(n, n / 3, symmetry, 7 + n);
            auto const plan = plan_simplicial_ldl(a);
            ASSERT_TRUE(plan);
            SimplicialLdl<T> ldl;
            ldl.set_plan(*plan, kind_for(symmetry));
            ASSERT_TRUE(ldl.factorize(a, nullptr));
            EXPECT_FALSE(ldl.kept_scales());
            ASSERT_TRUE(ldl.factorize(a, nullptr));
            EXPECT_TRUE(ldl.kept_scales());
            for (MatrixOp const op : all_ops)
                for (Index const columns : {1, 3, 13}) {
                    auto const dense = to_dense(a, op);
                    auto const b = random_vector<T>(n * columns, 3);
                    auto x = b;
                    ldl.solve(x, columns, op);
                    double worst = 0, size = 0;
                    for (Index c = 0; c < columns; ++c)
                        for (Index i = 0; i < n; ++i) {
                            T sum = -b[c * n + i];
                            for (Index j = 0; j < n; ++j) sum += dense(i, j) * x[c * n + j];
                            worst = std::max<double>(worst, std::abs(sum));
                            size = std::max<double>(size, std::abs(x[c * n + i]));
                        }
                    EXPECT_LE(worst, 100 * epsilon<T> * (largest_of(dense) * size + 1))
                        << n << " " << to_string(op) << " " << columns;
                }
        }
}

TYPED_TEST(SimplicialLdlOf, FactorsMultiplyToTheMatrix) {
    using T = TypeParam;
    Index const n = 50;
    for (Symmetry const symmetry : symmetries<T>()) {
        auto const a = saddle_point<T>(n, 20, symmetry, 3);
        auto const plan = plan_simplicial_ldl(a);
        SimplicialLdl<T> ldl;
        ldl.set_plan(*plan, kind_for(symmetry));
        ASSERT_TRUE(ldl.factorize(a, nullptr));
        Factors<T> const factors = ldl.explicit_factors();
        factors.lower.validate();
        factors.diagonal.validate();
        auto const dense = to_dense(a), lower = to_dense(factors.lower),
                   diagonal = to_dense(factors.diagonal);
        double worst = 0;
        Dense<T> product(n);
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j) {
                T sum{};
                for (Index k = 0; k < n; ++k)
                    for (Index l = std::max<Index>(0, k - 1); l < std::min(n, k + 2); ++l)
                        sum += lower(i, k) * diagonal(k, l) *
                               conj_if(symmetry == Symmetry::hermitian, lower(j, l));
                T const expected = dense(factors.row_permutation[i], factors.row_permutation[j]);
                worst = std::max<double>(worst, std::abs(sum - expected));
            }
        EXPECT_LE(worst, 100 * epsilon<T> * largest_of(dense));
        // Both halves together are the solution.
        auto const b = random_vector<T>(n, 8);
        auto whole = b;
        ldl.solve(whole, 1, MatrixOp::none);
        std::vector<T> halves(n);
        for (Index i = 0; i < n; ++i) halves[i] = b[factors.row_permutation[i]];
        ldl.solve_half(halves, 1, true);
        ldl.solve_half(halves, 1, false);
        for (Index i = 0; i < n; ++i)
            EXPECT_LE(std::abs(halves[i] - whole[factors.row_permutation[i]]),
                      1000 * epsilon<T> * (1 + std::abs(halves[i])));
    }
}

TYPED_TEST(SimplicialLdlOf, DeterminantIsThatOfDenseElimination) {
    using T = TypeParam;
    for (Symmetry const symmetry : symmetries<T>()) {
        auto const a = saddle_point<T>(30, 12, symmetry, 5);
        auto const plan = plan_simplicial_ldl(a);
        SimplicialLdl<T> ldl;
        ldl.set_plan(*plan, kind_for(symmetry));
        ASSERT_TRUE(ldl.factorize(a, nullptr));
        auto dense = to_dense(a);
        T phase(1);
        double log_modulus = 0;
        for (T const pivot : eliminate(dense, 30)) {
            phase *= pivot / std::abs(pivot);
            log_modulus += std::log(static_cast<double>(std::abs(pivot)));
        }
        auto const found = ldl.determinant();
        EXPECT_LE(std::abs(found.phase - phase), 1e3 * epsilon<T>);
        EXPECT_NEAR(found.log_modulus, log_modulus, 1e4 * epsilon<T>);
    }
}

TEST(SimplicialLdl, CountsTheSignsOfSaddlePoints) {
    for (Index const n : {2, 10, 60}) {
        Index const constraints = n / 3;
        auto const a = saddle_point<double>(n, constraints, Symmetry::symmetric, 11);
        auto const plan = plan_simplicial_ldl(a);
        SimplicialLdl<double> ldl;
        ldl.set_plan(*plan, Factorization::ldlt);
        ASSERT_TRUE(ldl.factorize(a, nullptr));
        EXPECT_EQ(ldl.inertia(), (Inertia{n - constraints, constraints, 0}));
    }
}

CscMatrix<double> two_by_two(double a, double b, double c) {
    CscMatrix<double> matrix{2, 2, Symmetry::symmetric, {0, 2, 3}, {0, 1, 1}, {a, b, c}};
    return matrix;
}

// Whether a matrix can be factorized with the plan for another one.
bool fits_plan_of(CscMatrix<double> const& planned, CscMatrix<double> const& given) {
    auto const plan = plan_simplicial_ldl(planned);
    SimplicialLdl<double> ldl;
    ldl.set_plan(*plan, Factorization::ldlt);
    bool const holds = ldl.factorize(given, nullptr);
    EXPECT_EQ(ldl.has_factors(), holds);
    return holds;
}

TEST(SimplicialLdl, EachKindOfPivotOfAPairIsRight) {
    for (double const a : {0.0, 1e-9, -3.0, 5.0})
        for (double const c : {0.0, -1e-9, 2.0, -7.0}) {
            auto const matrix = two_by_two(a, 4, c);
            auto const plan = plan_simplicial_ldl(two_by_two(0, 1, 0));
            ASSERT_EQ(plan->num_blocks(), 1);
            SimplicialLdl<double> ldl;
            ldl.set_plan(*plan, Factorization::ldlt);
            ASSERT_TRUE(ldl.factorize(matrix, nullptr));
            double const det = a * c - 16;
            auto const found = ldl.determinant();
            EXPECT_EQ(found.phase, det > 0 ? 1 : -1);
            EXPECT_NEAR(found.log_modulus, std::log(std::abs(det)), 1e-14);
            Index const positive = det < 0 ? 1 : a > 0 ? 2 : 0;
            EXPECT_EQ(ldl.inertia(), (Inertia{positive, 2 - positive, 0}));
            std::vector<double> x = {a + 8, 4 + 2 * c}; // A (1, 2)^T
            ldl.solve(x, 1, MatrixOp::none);
            EXPECT_NEAR(x[0], 1, 1e-14);
            EXPECT_NEAR(x[1], 2, 1e-14);
        }
}

TEST(SimplicialLdl, RefusesPivotsThatAreZeroOrLetEntriesGrow) {
    EXPECT_TRUE(fits_plan_of(two_by_two(2, 1, 2), two_by_two(2, 1, 2)));
    EXPECT_FALSE(fits_plan_of(two_by_two(2, 1, 2), two_by_two(0, 1, 0)));       // a zero pivot of one row
    EXPECT_FALSE(fits_plan_of(two_by_two(2, 1, 2), two_by_two(1e-9, 1, 1e-9))); // a small one
    EXPECT_TRUE(fits_plan_of(two_by_two(0, 1, 0), two_by_two(1e-9, 1, 1e-9)));
    EXPECT_FALSE(fits_plan_of(two_by_two(0, 1, 0), two_by_two(2, 2, 2))); // singular
    EXPECT_FALSE(fits_plan_of(two_by_two(2, 1, 2), two_by_two(0, 0, 0)));
    CscMatrix<double> empty;
    EXPECT_TRUE(fits_plan_of(empty, empty));
}

// The product of both scales of an entry overflows.
TEST(SimplicialLdl, ScalesPairsOfDenormalEntries) {
    auto const a = two_by_two(0, 1e-310, 0);
    auto const plan = plan_simplicial_ldl(a);
    ASSERT_TRUE(plan);
    SimplicialLdl<double> ldl;
    ldl.set_plan(*plan, Factorization::ldlt);
    ASSERT_TRUE(ldl.factorize(a, nullptr));
    auto const found = ldl.determinant();
    EXPECT_EQ(found.phase, -1);
    EXPECT_NEAR(found.log_modulus, 2 * std::log(1e-310), 1e-9);
}

TEST(SimplicialLdl, ChoosesScalesAnewIfValuesChangeTheirSize) {
    auto a = saddle_point<double>(30, 12, Symmetry::symmetric, 5);
    auto const plan = plan_simplicial_ldl(a);
    SimplicialLdl<double> ldl;
    ldl.set_plan(*plan, Factorization::ldlt);
    ASSERT_TRUE(ldl.factorize(a, nullptr));
    for (double& value : a.values) value *= 1e200;
    ASSERT_TRUE(ldl.factorize(a, nullptr));
    EXPECT_FALSE(ldl.kept_scales());
    for (double& value : a.values) value *= 1e-300;
    ASSERT_TRUE(ldl.factorize(a, nullptr));
    EXPECT_FALSE(ldl.kept_scales());
    ASSERT_TRUE(ldl.factorize(a, nullptr));
    EXPECT_TRUE(ldl.kept_scales());
}

// Row 2 has a zero diagonal, and its only neighbor is the partner of row 0.
TEST(SimplicialLdl, ThereIsNoPlanForWeakRowsWithoutAPartner) {
    CscMatrix<double> a{3, 3, Symmetry::symmetric, {0, 2, 4, 4}, {0, 1, 1, 2}, {0, 1, 1, 1}};
    EXPECT_TRUE(plan_simplicial_ldl(a).is(NoPlan::impossible));
    a.values[0] = 1;
    EXPECT_TRUE(plan_simplicial_ldl(a));
}

// Supernodes being faster is not a lack of partners, for which a matching would be computed.
TEST(SimplicialLdl, PlansTellWhetherSupernodesAreFaster) {
    auto const sparse = saddle_point<double>(60, 20, Symmetry::symmetric, 7);
    Index const n = 200;
    std::set<std::pair<Index, Index>> places;
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i <= j; ++i) places.emplace(i, j);
    auto dense = fill_pattern<double>(n, places, 3);
    dense.symmetry = Symmetry::symmetric;
    for (bool const is_dense : {false, true}) {
        auto const& a = is_dense ? dense : sparse;
        auto const ldl = plan_simplicial_ldl(a, nullptr, true), llh = plan_simplicial_cholesky(a, true);
        EXPECT_EQ(ldl.is(NoPlan::slower), is_dense);
        EXPECT_EQ(llh.is(NoPlan::slower), is_dense);
        EXPECT_TRUE(plan_simplicial_ldl(a));
    }
}

// Constraints are paired with the variables of their smaller entries, and scaled so that these are the
// largest.
TEST(SimplicialLdl, TakesGivenPairsAndScales) {
    Index const n = 60, constraints = 20, variables = n - constraints;
    auto a = saddle_point<double>(n, constraints, Symmetry::symmetric, 7);
    std::vector<std::pair<Index, Index>> pairs;
    std::vector<double> scale(n);
    for (Index i = 0; i < n; ++i) scale[i] = std::exp2(3 - i % 7);
    for (Index i = variables; i < n; ++i) {
        pairs.emplace_back(i - variables, i);
        scale[i] *= 1024;
        scale[i - variables] /= 1024;
    }
    MatchedRows const matched{pairs, scale};
    auto const plan = plan_simplicial_ldl(a, &matched);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->is_matched);
    EXPECT_EQ(plan->num_blocks(), variables);
    for (std::int32_t k = 0; k < plan->num_blocks(); ++k)
        if (plan->width(k) == 2) {
            std::pair<Index, Index> const block(plan->row[plan->first[k]], plan->row[plan->first[k] + 1]);
            EXPECT_EQ(std::ranges::count(pairs, block), 1);
        }
    SimplicialLdl<double> ldl;
    ldl.set_plan(*plan, Factorization::ldlt);
    ASSERT_TRUE(ldl.factorize(a, nullptr));
    EXPECT_EQ(ldl.inertia(), (Inertia{variables, constraints, 0}));
}

TEST(SimplicialLdl, CanBeCancelled) {
    auto const a = saddle_point<double>(60, 20, Symmetry::symmetric, 5);
    auto const plan = plan_simplicial_ldl(a);
    SimplicialLdl<double> ldl;
    ldl.set_plan(*plan, Factorization::ldlt);
    Interrupt interrupt([] { return true; });
    EXPECT_THROW((void)ldl.factorize(a, &interrupt), Error);
    EXPECT_FALSE(ldl.has_factors());
    EXPECT_TRUE(ldl.factorize(a, nullptr));
}

} // namespace
} // namespace espalier
