// Triangular solves from the right, and the pivot search, for every instruction set against plain loops.
#include "kernels/triangular.hpp"

#include "kernels/dense.hpp"
#include "kernels/pivot_search.hpp"

namespace espalier {
namespace {

using namespace testing;

template <class T> class Triangular : public ::testing::Test {};
TYPED_TEST_SUITE(Triangular, Scalars);

// The triangle of t that solve_right() reads, with a unit diagonal if `diag` is unit.
template <class T> Dense<T> triangle_of(Dense<T> const& t, Op op, Diag diag) {
    Dense<T> result(t.rows, t.cols);
    for (Index j = 0; j < t.cols; ++j)
        for (Index i = 0; i < t.rows; ++i) {
            if (op == Op::none ? i < j : i > j) result(i, j) = t(i, j);
            if (i == j) result(i, j) = diag == Diag::unit ? T(1) : t(i, j);
        }
    return result;
}

// Small entries and a diagonal near 1, so that errors do not grow; NaN in entries that must not be read.
template <class T> Dense<T> well_conditioned(Index n, Op op, Diag diag) {
    auto t = random_dense<T>(n, n, 4);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            bool const read = i == j ? diag == Diag::non_unit : (op == Op::none ? i < j : i > j);
            t(i, j) /= static_cast<Real<T>>(n + 1);
            if (i == j) t(i, j) += T(1);
            if (!read) t(i, j) = std::numeric_limits<Real<T>>::quiet_NaN();
        }
    return t;
}

TYPED_TEST(Triangular, SolveUndoesAProductForEveryShapeAndInstructionSet) {
    using T = TypeParam;
    for (InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
        if (set > widest_instruction_set()) continue;
        for (Op op : {Op::none, Op::transpose, Op::adjoint})
            for (Diag diag : {Diag::unit, Diag::non_unit})
                for (Index n : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 23, 40})
                    for (Index m : {0, 1, 2, 3, 5, 8, 9, 15, 16, 17, 31, 33, 300}) {
                        auto const t = well_conditioned<T>(n, op, diag);
                        auto const x = random_dense<T>(m, n, 5);
                        auto b = product(x, triangle_of(t, op, diag), op);
                        auto const beyond = b.values;
                        solve_right<T>(set, op, diag, t.view(), b.view());
                        ASSERT_LE(largest_difference(b, x), 100 * epsilon<T>)
                            << m << " x " << n << " op " << int(op) << " diag " << int(diag) << " set "
                            << int(set);
                        for (Index j = 0; j < n; ++j)
                            for (Index i = m; i < b.ld; ++i)
                                ASSERT_EQ(b.values[i + j * b.ld], beyond[i + j * b.ld]) << "below row " << m;
                    }
    }
}

// Threads divide the rows of a panel differently. A single real row is computed without vectors, and rounded
// differently.
TYPED_TEST(Triangular, SolveHasTheSameBitsIfItIsComputedInPartsOfRows) {
    using T = TypeParam;
    if (widest_instruction_set() != InstructionSet::avx512) GTEST_SKIP() << "this needs AVX-512";
    for (Index n : {30, 100, 170})
        for (Op op : {Op::none, Op::transpose, Op::adjoint}) {
            Index const m = 250;
            auto const t = well_conditioned<T>(n, op, Diag::non_unit);
            auto whole = random_dense<T>(m, n, 5), parts = whole;
            solve_right<T>(op, Diag::non_unit, t.view(), whole.view());
            for (Index i = 0, rows = 2; i < m; i += rows++)
                solve_right<T>(op, Diag::non_unit, t.view(),
                               parts.view().block(i, 0, std::min(rows, m - i), n));
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < m; ++i) ASSERT_EQ(whole(i, j), parts(i, j)) << i << ", " << j;
        }
}

TYPED_TEST(Triangular, AgreesWithTrsmOnAWidePanel) {
    using T = TypeParam;
    Index const m = 310, n = 150;
    for (Op op : {Op::transpose, Op::adjoint}) {
        auto const t = well_conditioned<T>(n, op, Diag::non_unit);
        auto ours = random_dense<T>(m, n, 5);
        auto theirs = ours;
        solve_right<T>(op, Diag::non_unit, t.view(), ours.view());
        trsm<T>(Side::right, Uplo::lower, op, Diag::non_unit, T(1), t.view(), theirs.view());
        EXPECT_LE(largest_difference(ours, theirs), 100 * epsilon<T>);
    }
}

TYPED_TEST(Triangular, PivotSearchFindsTheFirstOfTheLargestEntries) {
    using T = TypeParam;
    Real<T> const nan = std::numeric_limits<Real<T>>::quiet_NaN();
    for (Index n : {1, 2, 7, 8, 16, 17, 33, 100})
        for (Index where : {Index(0), n / 2, n - 1}) {
            auto x = random_dense<T>(n, 1, 6);
            x(where, 0) = T(-3);
            if (where + 1 < n) x(n - 1, 0) = T(3);
            auto found = largest_entry(x.view().data, n);
            EXPECT_EQ(found.index, where);
            EXPECT_EQ(found.value, 3);
            if (where > 0) {
                x(where - 1, 0) = nan;
                EXPECT_EQ(largest_entry(x.view().data, n).index, where) << "NaN is passed over";
            }
        }
    std::vector<T> const zeros(20, T(0)), nans(20, T(nan));
    EXPECT_EQ(largest_entry(zeros.data(), 20).index, -1);
    EXPECT_EQ(largest_entry(nans.data(), 20).index, -1);
    EXPECT_EQ(largest_entry(nans.data(), 0).index, -1);
}

} // namespace
} // namespace espalier
