// Threshold pivoting in whole panels: what is eliminated and what is left over multiply back to the panel,
// and L is bounded.
#include "kernels/threshold.hpp"

#include "kernels/dense.hpp"

namespace espalier {
namespace {

using namespace testing;

template <class T> class ThresholdTyped : public ::testing::Test {};
TYPED_TEST_SUITE(ThresholdTyped, Scalars);

// Rows that dwarf the fully summed ones, from column to column more.
template <class T> void enlarge_below(Dense<T>& a, Index first_row) {
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = first_row; i < a.rows; ++i) a(i, j) *= static_cast<Real<T>>(j % 3 == 0 ? 1000 : 1);
}

template <class T> void expect_bounded(Dense<T> const& a, Index pivots, Index rows, Real<T> u) {
    for (Index j = 0; j < pivots; ++j)
        for (Index i = j + 1; i < rows; ++i)
            ASSERT_LE(std::abs(a(i, j)), Real<T>(1.5) / u) << i << " " << j; // |Re| + |Im| is bounded by 1/u
}

// A panel of m fully summed columns and `below` rows. The first `bounded` rows below count.
template <class T> ThresholdPivots check_ldl(bool conjugate, Dense<T> const& square, Dense<T> const& below,
                                             Index bounded, Real<T> u) {
    Index const m = square.cols, r = below.rows;
    Dense<T> panel(m + r, m);
    for (Index j = 0; j < m; ++j) {
        for (Index i = j; i < m; ++i) panel(i, j) = square(i, j);
        for (Index i = 0; i < r; ++i) panel(m + i, j) = below(i, j);
    }
    std::vector<std::int32_t> perm(m);
    std::vector<T> off_diagonal(m);
    auto const found =
        factor_ldl_threshold<T>(conjugate, panel.view(), perm, off_diagonal, {u, 10 * epsilon<T>, bounded});
    EXPECT_TRUE(is_permutation(perm));
    Index const e = found.eliminated;
    expect_bounded(panel, e, m + bounded, u);
    Dense<T> l(m + r, e), ld(m + r, e);
    for (Index j = 0; j < e; ++j) {
        l(j, j) = T(1);
        for (Index i = j + 1; i < m + r; ++i) l(i, j) = panel(i, j);
    }
    multiply_by_d<T>(conjugate, panel.view().block(0, 0, e, e), std::span(off_diagonal).first(e), l.view(),
                     ld.view());
    auto const back = product(l, ld, conjugate ? Op::adjoint : Op::transpose);
    Real<T> largest = 0, error = 0;
    for (Index j = 0; j < m; ++j)
        for (Index i = j; i < m + r; ++i) {
            T const given = i < m ? square(perm[i], perm[j]) : below(i - m, perm[j]);
            T const left = j < e ? T(0) : panel(i, j);
            largest = std::max({largest, std::abs(given), std::abs(left), std::abs(back(i, j))});
            error = std::max(error, std::abs(back(i, j) + left - given));
        }
    EXPECT_LE(error, 1000 * static_cast<Real<T>>(m) * epsilon<T> * largest) << "m = " << m << ", r = " << r;
    return found;
}

TYPED_TEST(ThresholdTyped, LdlEliminatesWhatItCan) {
    using T = TypeParam;
    auto const u = static_cast<Real<T>>(0.01);
    for (bool const conjugate : {false, true})
        for (Index const m : {1, 2, 5, 31, 32, 33, 70, 100})
            for (Index const r : {0, 1, 40}) {
                auto const square = random_symmetric<T>(conjugate, m, 3);
                auto below = random_dense<T>(r, m, 4);
                EXPECT_EQ(check_ldl(conjugate, square, random_dense<T>(0, m, 1), 0, u).eliminated, m);
                enlarge_below(below, 0);
                auto const found = check_ldl(conjugate, square, below, r, u);
                EXPECT_EQ(found.stats.replaced, 0);
                EXPECT_TRUE(found.eliminated < m || r == 0 || m < 31) << m << ' ' << r;
                EXPECT_EQ(check_ldl(conjugate, square, below, 0, u).eliminated, m) << "no row below counts";
            }
}

// L D L^H and what remains multiply back to a matrix, some rows and columns of which are tiny.
template <class T> void check_leading(bool conjugate, Index m, Index tiny_every) {
    auto const threshold = static_cast<Real<T>>(1e-4);
    auto square = random_symmetric<T>(conjugate, m, 7);
    Index tiny = 0;
    for (Index k = 0; k < m; k += tiny_every, ++tiny)
        for (Index i = 0; i < m; ++i) {
            square(i, k) *= threshold / Real<T>(1000);
            square(k, i) *= threshold / Real<T>(1000);
        }
    auto a = square;
    std::vector<std::int32_t> perm(m);
    std::vector<T> off_diagonal(m);
    auto const found = factor_ldl_leading<T>(conjugate, a.view(), perm, off_diagonal, threshold);
    EXPECT_TRUE(is_permutation(perm));
    EXPECT_EQ(found.stats.replaced, 0);
    Index const e = found.eliminated;
    EXPECT_EQ(e, tiny_every == 1 ? 0 : m - tiny) << m << ' ' << tiny_every;
    Dense<T> l(m, e), ld(m, e);
    for (Index j = 0; j < e; ++j)
        for (Index i = j; i < m; ++i) l(i, j) = i == j ? T(1) : a(i, j);
    expect_bounded(l, e, m, Real<T>(0.1));
    multiply_by_d<T>(conjugate, a.view().block(0, 0, e, e), std::span(off_diagonal).first(e), l.view(),
                     ld.view());
    auto const back = product(l, ld, conjugate ? Op::adjoint : Op::transpose);
    for (Index j = 0; j < m; ++j)
        for (Index i = j; i < m; ++i) {
            T const left = j < e ? T(0) : a(i, j);
            auto const allowed = 1000 * static_cast<Real<T>>(m) * epsilon<T>;
            EXPECT_LE(std::abs(back(i, j) + left - square(perm[i], perm[j])), allowed) << i << ' ' << j;
        }
}

TYPED_TEST(ThresholdTyped, LdlPostponesColumnsWithoutAPivot) {
    for (bool const conjugate : {false, true})
        for (Index const m : {1, 2, 6, 32, 33, 80, 130})
            for (Index const tiny_every : {1, 2, 3, 7, 50})
                check_leading<TypeParam>(conjugate, m, tiny_every);
}

// Zeros on the diagonal: [0 B^H; B 0].
TYPED_TEST(ThresholdTyped, LdlFindsPairs) {
    using T = TypeParam;
    for (bool const conjugate : {false, true}) {
        Index const n = 20;
        auto a = random_symmetric<T>(conjugate, 2 * n, 5);
        for (Index j = 0; j < 2 * n; ++j)
            for (Index i = 0; i < 2 * n; ++i)
                if ((i < n) == (j < n)) a(i, j) = T(0);
        auto const below = random_dense<T>(10, 2 * n, 6);
        auto const found = check_ldl(conjugate, a, below, 10, static_cast<Real<T>>(0.01));
        EXPECT_EQ(found.eliminated, 2 * n);
        EXPECT_EQ(found.stats.negative, conjugate || !is_complex<T> ? n : 0);
    }
}

// L U and what remains multiply back to a matrix, every `tiny_every`-th column of which is tiny, and one of
// them zero.
template <class T> void check_leading_lu(Index m, Index tiny_every, BlockDivision const* division) {
    auto const threshold = static_cast<Real<T>>(1e-4);
    auto square = random_dense<T>(m, m, 7);
    Index tiny = 0;
    for (Index k = 0; k < m; k += tiny_every, ++tiny)
        for (Index i = 0; i < m; ++i) square(i, k) *= k == 0 ? 0 : threshold / Real<T>(1000);
    auto a = square;
    std::vector<std::int32_t> rows(m), columns(m);
    auto const found = factor_lu_leading<T>(a.view(), rows, columns, threshold, division);
    EXPECT_TRUE(is_permutation(rows));
    EXPECT_TRUE(is_permutation(columns));
    EXPECT_EQ(found.stats.replaced, 0);
    EXPECT_EQ(found.stats.zero_column, -1);
    Index const e = found.eliminated;
    EXPECT_EQ(e, m - tiny) << m << ' ' << tiny_every;
    for (Index j = e; j < m; ++j) EXPECT_EQ(columns[j] % tiny_every, 0);
    Dense<T> l(m, e), u(e, m);
    for (Index j = 0; j < e; ++j)
        for (Index i = j; i < m; ++i) l(i, j) = i == j ? T(1) : a(i, j);
    for (Index j = 0; j < m; ++j)
        for (Index i = 0; i < std::min(e, j + 1); ++i) u(i, j) = a(i, j);
    expect_bounded(l, e, m, Real<T>(1));
    auto const back = product(l, u);
    for (Index j = 0; j < m; ++j)
        for (Index i = 0; i < m; ++i) {
            T const left = i < e || j < e ? T(0) : a(i, j);
            auto const allowed = 100 * static_cast<Real<T>>(m) * epsilon<T>;
            ASSERT_LE(std::abs(back(i, j) + left - square(rows[i], columns[j])), allowed) << i << ' ' << j;
        }
}

TYPED_TEST(ThresholdTyped, LuPostponesColumnsWithoutAPivot) {
    Backwards division;
    for (Index const m : {1, 2, 6, 8, 9, 16, 17, 33, 80, 130})
        for (Index const tiny_every : {1, 2, 3, 7, 50})
            for (BlockDivision const* const divided :
                 {static_cast<BlockDivision const*>(nullptr), static_cast<BlockDivision const*>(&division)})
                check_leading_lu<TypeParam>(m, tiny_every, divided);
}

TYPED_TEST(ThresholdTyped, LuWithoutPostponedColumnsHasTheBitsOfFactorLu) {
    using T = TypeParam;
    for (Index const m : {1, 9, 70}) {
        auto a = random_dense<T>(m, m, 3), b = a;
        std::vector<std::int32_t> rows(m), columns(m), perm(m);
        EXPECT_EQ(factor_lu_leading<T>(a.view(), rows, columns, epsilon<T>).eliminated, m);
        factor_lu<T>(b.view(), perm, epsilon<T>);
        EXPECT_EQ(rows, perm);
        EXPECT_TRUE(std::ranges::is_sorted(columns));
        EXPECT_EQ(largest_difference(a, b), 0);
    }
}

template <class T>
ThresholdPivots check_lu(Dense<T> const& given, Dense<T> const& right, Index bounded, Real<T> u) {
    Index const m = given.cols, r = given.rows - m;
    auto panel = given;
    Dense<T> upper(right.cols, m); // transposed
    for (Index j = 0; j < m; ++j)
        for (Index i = 0; i < right.cols; ++i) upper(i, j) = right(j, i);
    std::vector<std::int32_t> row_perm(m), column_perm(m);
    auto const found = factor_lu_threshold<T>(panel.view(), upper.view(), row_perm, column_perm,
                                              {u, 10 * epsilon<T>, bounded});
    EXPECT_TRUE(is_permutation(row_perm));
    EXPECT_TRUE(is_permutation(column_perm));
    Index const e = found.eliminated;
    expect_bounded(panel, e, m + bounded, u);
    Dense<T> l(m + r, e), u_rows(e, m), u_right(e, right.cols);
    for (Index j = 0; j < e; ++j) {
        l(j, j) = T(1);
        for (Index i = j + 1; i < m + r; ++i) l(i, j) = panel(i, j);
    }
    for (Index i = 0; i < e; ++i) {
        for (Index j = i; j < m; ++j) u_rows(i, j) = panel(i, j);
        for (Index j = 0; j < right.cols; ++j) u_right(i, j) = upper(j, i);
    }
    auto const back = product(l, u_rows), back_right = product(l, u_right);
    Real<T> largest = 0, error = 0;
    auto const compare = [&](T wanted, T left, T product) {
        largest = std::max({largest, std::abs(wanted), std::abs(left), std::abs(product)});
        error = std::max(error, std::abs(product + left - wanted));
    };
    for (Index i = 0; i < m + r; ++i) {
        Index const row = i < m ? row_perm[i] : i;
        for (Index j = 0; j < m; ++j)
            compare(given(row, column_perm[j]), i < e || j < e ? T(0) : panel(i, j), back(i, j));
        for (Index j = 0; j < right.cols && i < m; ++j)
            compare(right(row, j), i < e ? T(0) : upper(j, i), back_right(i, j));
    }
    EXPECT_LE(error, 1000 * static_cast<Real<T>>(m) * epsilon<T> * largest) << "m = " << m << ", r = " << r;
    return found;
}

TYPED_TEST(ThresholdTyped, LuEliminatesWhatItCan) {
    using T = TypeParam;
    auto const u = static_cast<Real<T>>(0.01);
    for (Index const m : {1, 2, 5, 31, 32, 33, 70, 100})
        for (Index const r : {0, 1, 40}) {
            auto panel = random_dense<T>(m + r, m, 3);
            auto const right = random_dense<T>(m, r, 4);
            EXPECT_EQ(check_lu(random_dense<T>(m, m, 8), random_dense<T>(m, 0, 1), 0, u).eliminated, m);
            enlarge_below(panel, m);
            auto const found = check_lu(panel, right, r, u);
            EXPECT_EQ(found.stats.replaced, 0);
            EXPECT_TRUE(found.eliminated < m || r == 0 || m < 31) << m << ' ' << r;
            EXPECT_EQ(check_lu(panel, right, 0, u).eliminated, m) << "no row below counts";
        }
}

TYPED_TEST(ThresholdTyped, ZeroColumnsOfLuWaitForZeroRows) {
    using T = TypeParam;
    Index const m = 40, r = 10;
    auto const u = static_cast<Real<T>>(0.01);
    auto a = random_dense<T>(m + r, m, 3);
    auto right = random_dense<T>(m, r, 4);
    for (Index i = 0; i < m + r; ++i) a(i, 7) = a(i, 13) = T(0);
    auto const left = check_lu(a, right, r, u);
    EXPECT_EQ(left.eliminated, m - 2);
    EXPECT_EQ(left.stats.replaced, 0);
    for (Index j = 0; j < m; ++j) a(20, j) = T(0);
    for (Index j = 0; j < r; ++j) right(20, j) = T(0);
    auto const one = check_lu(a, right, r, u);
    EXPECT_EQ(one.eliminated, m - 1);
    EXPECT_EQ(one.stats.replaced, 1);
}

// Wherever the zero columns are, the others find their pivots.
TYPED_TEST(ThresholdTyped, OnlyPivotsOfZeroColumnsAreReplacedWhereNoRowBelowCounts) {
    using T = TypeParam;
    Index const m = 70, r = 10;
    auto a = random_dense<T>(m + r, m, 3);
    for (Index i = 0; i < m; ++i) a(i, 0) = a(i, 33) = a(i, 41) = T(0);
    auto const found = check_lu(a, random_dense<T>(m, r, 4), 0, static_cast<Real<T>>(0.01));
    EXPECT_EQ(found.eliminated, m);
    EXPECT_EQ(found.stats.replaced, 3);
}

TYPED_TEST(ThresholdTyped, ZeroColumnsOfLdlAreReplacedAndZeroRowsAreLeftOver) {
    using T = TypeParam;
    Index const m = 40, r = 10;
    auto square = random_symmetric<T>(true, m, 5);
    auto below = random_dense<T>(r, m, 6);
    for (Index i = 0; i < m; ++i) square(i, 7) = square(7, i) = T(0);
    EXPECT_LT(check_ldl(true, square, below, r, static_cast<Real<T>>(0.01)).eliminated, m);
    for (Index i = 0; i < r; ++i) below(i, 7) = T(0);
    auto const replaced = check_ldl(true, square, below, r, static_cast<Real<T>>(0.01));
    EXPECT_EQ(replaced.eliminated, m);
    EXPECT_EQ(replaced.stats.replaced, 1);
}

} // namespace
} // namespace espalier
