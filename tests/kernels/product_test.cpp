// C -= A op(B) by register tiles for every instruction set of the processor, and the BLAS wrappers, against
// plain loops.
#include "kernels/product.hpp"

#include "core/status_of.hpp"
#include "kernels/dense.hpp"

namespace espalier {
namespace {

using namespace testing;

template <class T> class Product : public ::testing::Test {};
TYPED_TEST_SUITE(Product, Scalars);

std::vector<InstructionSet> available_sets() {
    std::vector<InstructionSet> sets = {InstructionSet::baseline};
    if (widest_instruction_set() >= InstructionSet::avx2) sets.push_back(InstructionSet::avx2);
    if (widest_instruction_set() >= InstructionSet::avx512) sets.push_back(InstructionSet::avx512);
    return sets;
}

template <class T> Dense<T> operand(Op op, Index k, Index n) {
    return op == Op::none ? random_dense<T>(k, n, 2) : random_dense<T>(n, k, 2);
}

template <class T> Dense<T> expected_difference(Dense<T> c, Dense<T> const& a, Dense<T> const& b, Op op) {
    auto const ab = product(a, b, op);
    for (Index j = 0; j < c.cols; ++j)
        for (Index i = 0; i < c.rows; ++i) c(i, j) -= ab(i, j);
    return c;
}

TYPED_TEST(Product, OfTilesMatchesPlainLoopsForEveryRemainderOfRowsAndColumns) {
    using T = TypeParam;
    for (InstructionSet set : available_sets())
        for (Op op : {Op::none, Op::transpose, Op::adjoint})
            for (Index k : {0, 1, 7})
                for (Index n : {1, 2, 3, 5, 8, 13, 15})
                    for (Index m = 0; m <= 70; ++m) {
                        auto const a = random_dense<T>(m, k, 1);
                        auto const b = operand<T>(op, k, n);
                        auto c = random_dense<T>(m, n, 3);
                        auto const expected = expected_difference(c, a, b, op);
                        auto const padding = c.values;
                        subtract_small_product<T>(set, op, a.view(), b.view(), c.view());
                        ASSERT_LE(largest_difference(c, expected), 32 * epsilon<T>)
                            << "m " << m << " n " << n << " k " << k << " op " << int(op) << " set "
                            << int(set);
                        for (Index j = 0; j < n; ++j)
                            for (Index i = m; i < c.ld; ++i)
                                ASSERT_EQ(c.values[i + j * c.ld], padding[i + j * c.ld]) << "below row " << m;
                    }
}

TYPED_TEST(Product, KeepsNaNWhereItBelongsAndNowhereElse) {
    using T = TypeParam;
    for (InstructionSet set : available_sets())
        for (Index m : {5, 19, 37}) {
            auto a = random_dense<T>(m, 4, 1);
            a(m - 2, 1) = std::numeric_limits<Real<T>>::quiet_NaN();
            auto const b = random_dense<T>(6, 4, 2);
            auto c = random_dense<T>(m, 6, 3);
            subtract_small_product<T>(set, Op::transpose, a.view(), b.view(), c.view());
            for (Index j = 0; j < 6; ++j)
                for (Index i = 0; i < m; ++i) EXPECT_EQ(is_finite(c(i, j)), i != m - 2);
        }
}

TYPED_TEST(Product, OfAnySizeMatchesPlainLoops) {
    using T = TypeParam;
    for (Op op : {Op::none, Op::transpose, Op::adjoint})
        for (auto const [m, n, k] : {std::array<Index, 3>{0, 3, 3},
                                     {3, 0, 3},
                                     {3, 3, 0},
                                     {1, 1, 1},
                                     {19, 7, 5},
                                     {65, 33, 40},
                                     {150, 20, 130},
                                     {90, 100, 110},
                                     {90, 100, 300},
                                     {300, 70, 70},
                                     {100, 300, 130},
                                     {25, 14, 260}}) {
            auto const a = random_dense<T>(m, k, 1);
            auto const b = operand<T>(op, k, n);
            auto c = random_dense<T>(m, n, 3);
            auto const expected = expected_difference(c, a, b, op);
            Real<T> const tolerance = 4 * static_cast<Real<T>>(k + 1) * epsilon<T>;
            subtract_product<T>(op, a.view(), b.view(), c.view());
            EXPECT_LE(largest_difference(c, expected), tolerance) << m << " x " << n << " x " << k;
            // An assignment does not read its target.
            std::ranges::fill(c.values, T(std::numeric_limits<Real<T>>::quiet_NaN()));
            assign_product<T>(op, a.view(), b.view(), c.view());
            EXPECT_LE(largest_difference(c, product(a, b, op)), tolerance) << m << " x " << n << " x " << k;
        }
}

// Rows of A are copied in blocks, whose size depends on the depth. The last block may have any number of
// rows.
TYPED_TEST(Product, OfSeveralBlocksOfRowsMatchesPlainLoops) {
    using T = TypeParam;
    Index const k = 250, n = 34, most = 420;
    auto const a = random_dense<T>(most, k, 1);
    auto const b = operand<T>(Op::transpose, k, n);
    auto const before = random_dense<T>(most, n, 3);
    auto const expected = expected_difference(before, a, b, Op::transpose);
    for (Index m = most - 110; m <= most; ++m) {
        auto c = before;
        subtract_product<T>(Op::transpose, a.view().block(0, 0, m, k), b.view(), c.view().block(0, 0, m, n));
        Real<T> largest = 0;
        for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < m; ++i) largest = std::max(largest, abs1(c(i, j) - expected(i, j)));
            for (Index i = m; i < most; ++i) ASSERT_EQ(c(i, j), before(i, j)) << "below row " << m;
        }
        ASSERT_LE(largest, 8 * static_cast<Real<T>>(k + 1) * epsilon<T>) << m << " rows";
    }
}

// Processes and threads divide products differently. Without AVX-512, the BLAS computes large products.
TYPED_TEST(Product, HasTheSameBitsIfItIsComputedInPartsOfRowsAndColumns) {
    using T = TypeParam;
    if (widest_instruction_set() != InstructionSet::avx512) GTEST_SKIP() << "this needs AVX-512";
    Index const m = 150, n = 75, k = 140;
    for (Op op : {Op::none, Op::transpose, Op::adjoint}) {
        auto const a = random_dense<T>(m, k, 1);
        auto const b = operand<T>(op, k, n);
        auto const before = random_dense<T>(m, n, 3);
        auto whole = before, parts = before;
        subtract_product<T>(op, a.view(), b.view(), whole.view());
        for (Index i = 0; i < m; i += 37)
            for (Index j = 0; j < n; j += 13) {
                Index const rows = std::min<Index>(37, m - i), columns = std::min<Index>(13, n - j);
                MatrixView<T const> const given = b.view();
                subtract_product<T>(op, a.view().block(i, 0, rows, k),
                                    op == Op::none ? given.block(0, j, k, columns)
                                                   : given.block(j, 0, columns, k),
                                    parts.view().block(i, j, rows, columns));
            }
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < m; ++i) ASSERT_EQ(whole(i, j), parts(i, j)) << i << ", " << j;
    }
}

// Columns at distances of a multiple of 1 KiB are copied.
TYPED_TEST(Product, OfOperandsWhoseColumnsCollideMatchesPlainLoops) {
    using T = TypeParam;
    auto const spread = [](Dense<T> const& given) {
        Index const step = 1024 / static_cast<Index>(sizeof(T));
        Dense<T> copy = given;
        copy.ld = (given.rows + step - 1) / step * step;
        copy.values.assign(static_cast<std::size_t>(copy.ld * copy.cols), T(7));
        for (Index j = 0; j < given.cols; ++j)
            for (Index i = 0; i < given.rows; ++i) copy(i, j) = given(i, j);
        return copy;
    };
    for (Op op : {Op::none, Op::transpose, Op::adjoint})
        for (auto const [m, n, k] :
             {std::array<Index, 3>{128, 40, 40}, {300, 150, 70}, {130, 129, 300}, {40, 3, 33}}) {
            auto const a = random_dense<T>(m, k, 1);
            auto const b = operand<T>(op, k, n);
            auto const c = random_dense<T>(m, n, 3);
            auto const expected = expected_difference(c, a, b, op);
            auto const spread_a = spread(a), spread_b = spread(b);
            for (auto const& [left, right] :
                 {std::pair(&spread_a, &spread_b), {&spread_a, &b}, {&a, &spread_b}}) {
                auto computed = c;
                subtract_product<T>(op, left->view(), right->view(), computed.view());
                EXPECT_LE(largest_difference(computed, expected),
                          4 * static_cast<Real<T>>(k + 1) * epsilon<T>)
                    << m << " x " << n << " x " << k;
            }
        }
}

TYPED_TEST(Product, LowerTrapezoidMatchesAndNothingBeyondTheMatrixIsTouched) {
    using T = TypeParam;
    for (Op op : {Op::none, Op::transpose, Op::adjoint}) {
        Index const m = 101, n = 77, k = 20;
        auto const a = random_dense<T>(m, k, 1);
        auto const b = operand<T>(op, k, n);
        auto c = random_dense<T>(m, n, 3);
        auto const expected = expected_difference(c, a, b, op);
        subtract_product_lower<T>(op, a.view(), b.view(), c.view());
        for (Index j = 0; j < n; ++j)
            for (Index i = j; i < m; ++i) ASSERT_LE(std::abs(c(i, j) - expected(i, j)), 100 * epsilon<T>);
    }
}

TYPED_TEST(Product, ByBlasMatchesPlainLoops) {
    using T = TypeParam;
    auto const a = random_dense<T>(11, 5, 1);
    auto const b = random_dense<T>(7, 5, 2);
    for (Op op : {Op::transpose, Op::adjoint}) {
        auto c = random_dense<T>(11, 7, 3);
        auto const expected = expected_difference(c, a, b, op);
        gemm<T>(Op::none, op, T(-1), a.view(), b.view(), T(1), c.view());
        EXPECT_LE(largest_difference(c, expected), 32 * epsilon<T>);
    }
}

TYPED_TEST(Product, RankKUpdateWritesTheLowerTriangleOnly) {
    using T = TypeParam;
    for (bool conjugate : {false, true}) {
        auto const a = random_dense<T>(9, 4, 1);
        auto c = random_symmetric<T>(conjugate, 9, 3);
        auto const before = c;
        auto const expected = expected_difference(c, a, a, conjugate ? Op::adjoint : Op::transpose);
        rank_k_update<T>(conjugate, -1, a.view(), 1, c.view());
        for (Index j = 0; j < 9; ++j) {
            for (Index i = 0; i < j; ++i) EXPECT_EQ(c(i, j), before(i, j));
            for (Index i = j; i < 9; ++i) EXPECT_LE(std::abs(c(i, j) - expected(i, j)), 32 * epsilon<T>);
        }
    }
}

TYPED_TEST(Product, TrsmUndoesAMultiplication) {
    using T = TypeParam;
    Index const n = 6;
    auto l = random_definite<T>(false, n, 1);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < j; ++i) l(i, j) = T(0);
    for (Op op : {Op::transpose, Op::adjoint}) {
        auto const x = random_dense<T>(8, n, 2);
        auto b = product(x, l, op);
        trsm<T>(Side::right, Uplo::lower, op, Diag::non_unit, T(1), l.view(), b.view());
        EXPECT_LE(largest_difference(b, x), 100 * epsilon<T>);
    }
    auto const x = random_dense<T>(n, 3, 2);
    auto b = product(l, x);
    trsm<T>(Side::left, Uplo::lower, Op::none, Diag::non_unit, T(1), l.view(), b.view());
    EXPECT_LE(largest_difference(b, x), 100 * epsilon<T>);
}

TEST(Blas, RejectsDimensionsThatOverflowItsIntegers) {
    double one = 1;
    Index const huge = Index(1) << 32;
    MatrixView<double const> const a{&one, huge, 1, huge};
    MatrixView<double> const c{&one, huge, 1, huge};
    EXPECT_EQ(status_of([&] { gemm<double>(Op::none, Op::transpose, 1, a, {&one, 1, 1, 1}, 0, c); }),
              Status::unsupported);
}

} // namespace
} // namespace espalier
