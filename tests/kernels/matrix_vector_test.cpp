// Products and triangular solves with one vector, for every instruction set against plain loops.
#include "kernels/matrix_vector.hpp"

#include "kernels/dense.hpp"
#include "kernels/instruction_set.hpp"
#include "kernels/panel_vector.hpp"

namespace espalier {
namespace {

using namespace testing;

template <class T> class MatrixVector : public ::testing::Test {};
TYPED_TEST_SUITE(MatrixVector, Scalars);

template <class T> std::vector<T> random_vector(Index n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> x(n);
    for (T& value : x) value = random_scalar<T>(random);
    return x;
}

template <class T> double distance(std::vector<T> const& a, std::vector<T> const& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, double(std::abs(a[i] - b[i])));
    return largest;
}

// Entry (i, j) of op(A).
template <class T> T entry_of(Dense<T> const& a, Index i, Index j, Op op) {
    return op == Op::none ? a(i, j) : conj_if(op == Op::adjoint, a(j, i));
}

std::vector<InstructionSet> supported_sets() {
    std::vector<InstructionSet> sets;
    for (auto const set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512})
        if (set <= widest_instruction_set()) sets.push_back(set);
    return sets;
}

constexpr Index all_rows[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 255, 256, 257, 700};
constexpr Index all_columns[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 40};

TYPED_TEST(MatrixVector, ProductIsAddedForEveryShapeAndInstructionSet) {
    using T = TypeParam;
    for (auto const set : supported_sets())
        for (Index const m : all_rows)
            for (Index const n : all_columns) {
                auto const a = random_dense<T>(m, n, 1);
                auto const x = random_vector<T>(n, 2);
                auto y = random_vector<T>(m, 3);
                auto expected = y;
                for (Index j = 0; j < n; ++j)
                    for (Index i = 0; i < m; ++i) expected[i] += a(i, j) * x[j];
                add_product_with_vector<T>(set, a.view(), x, y);
                ASSERT_LE(distance(y, expected), 100 * epsilon<T>) << m << " x " << n << " set " << int(set);
            }
}

TYPED_TEST(MatrixVector, TransposedProductIsSubtractedForEveryShapeAndInstructionSet) {
    using T = TypeParam;
    for (auto const set : supported_sets())
        for (Op const op : {Op::transpose, Op::adjoint})
            for (Index const m : all_rows)
                for (Index const n : all_columns) {
                    auto const a = random_dense<T>(m, n, 1);
                    auto const y = random_vector<T>(m, 2);
                    auto x = random_vector<T>(n, 3);
                    auto expected = x;
                    for (Index j = 0; j < n; ++j)
                        for (Index i = 0; i < m; ++i) expected[j] -= entry_of(a, j, i, op) * y[i];
                    subtract_product_with_vector<T>(set, op, a.view(), y, x);
                    ASSERT_LE(distance(x, expected), 1000 * epsilon<T>)
                        << m << " x " << n << " op " << int(op) << " set " << int(set);
                }
}

TYPED_TEST(MatrixVector, SolveUndoesTheProductWithATriangle) {
    using T = TypeParam;
    for (Uplo const uplo : {Uplo::lower, Uplo::upper})
        for (Op const op : {Op::none, Op::transpose, Op::adjoint})
            for (Diag const diag : {Diag::unit, Diag::non_unit})
                for (Index const n : {0, 1, 2, 3, 7, 8, 9, 16, 17, 23, 40, 300}) {
                    auto a = random_dense<T>(n, n, 4);
                    for (Index j = 0; j < n; ++j)
                        for (Index i = 0; i < n; ++i) {
                            bool const is_read =
                                i == j ? diag == Diag::non_unit : (uplo == Uplo::lower) == (i > j);
                            a(i, j) /= static_cast<Real<T>>(n + 1);
                            if (i == j) a(i, j) += T(1);
                            if (!is_read) a(i, j) = std::numeric_limits<Real<T>>::quiet_NaN();
                        }
                    auto const expected = random_vector<T>(n, 5);
                    std::vector<T> x(n);
                    for (Index i = 0; i < n; ++i)
                        for (Index j = 0; j < n; ++j) {
                            bool const in_triangle =
                                ((uplo == Uplo::lower) == (op == Op::none)) ? i > j : i < j;
                            if (i == j)
                                x[i] += (diag == Diag::unit ? T(1) : entry_of(a, i, i, op)) * expected[i];
                            else if (in_triangle)
                                x[i] += entry_of(a, i, j, op) * expected[j];
                        }
                    solve_with_vector<T>(uplo, op, diag, a.view(), x);
                    ASSERT_LE(distance(x, expected), 100 * epsilon<T>)
                        << n << " uplo " << int(uplo) << " op " << int(op) << " diag " << int(diag);
                }
}

TYPED_TEST(MatrixVector, SolveWithAPanelUndoesTheProductAndUpdatesTheRowsBelow) {
    using T = TypeParam;
    for (Diag const diag : {Diag::unit, Diag::non_unit})
        for (Index const n : {0, 1, 2, 3, 4, 7, 8, 13, 16, 23, 40})
            for (Index const below : {0, 1, 2, 5, 8, 17, 40, 1100}) { // the last one has long columns
                auto panel = random_dense<T>(n + below, n, 4);
                for (Index j = 0; j < n; ++j)
                    for (Index i = 0; i < n; ++i) {
                        panel(i, j) /= static_cast<Real<T>>(n + 1);
                        if (i == j) panel(i, j) += T(1);
                        if (i < j || (i == j && diag == Diag::unit))
                            panel(i, j) = std::numeric_limits<Real<T>>::quiet_NaN();
                    }
                auto const l = [&](Index i, Index j) {
                    return i == j && diag == Diag::unit ? T(1) : panel(i, j);
                };
                auto const expected = random_vector<T>(n + below, 5);
                auto const bound = static_cast<Real<T>>(std::max<Index>(100, n + below)) * epsilon<T>;
                for (auto const set : supported_sets()) {
                    // [x; y] with L x = L x_expected, and y above the expectation by M x_expected.
                    std::vector<T> w(n + below);
                    for (Index i = 0; i < n + below; ++i) {
                        w[i] = i < n ? T(0) : expected[i];
                        for (Index j = 0; j < std::min(n, i + 1); ++j) w[i] += l(i, j) * expected[j];
                    }
                    solve_panel_with_vector<T>(set, diag, panel.view(), w);
                    ASSERT_LE(distance(w, expected), bound) << n << " + " << below << " set " << int(set);
                    for (Op const op : {Op::transpose, Op::adjoint}) {
                        // x + op(M) y with op(L) x_expected
                        w = expected;
                        for (Index j = 0; j < n; ++j) {
                            w[j] = 0;
                            for (Index i = j; i < n + below; ++i)
                                w[j] += conj_if(op == Op::adjoint, l(i, j)) * expected[i];
                        }
                        solve_transposed_panel_with_vector<T>(set, op, diag, panel.view(), w);
                        ASSERT_LE(distance(w, expected), bound)
                            << n << " + " << below << " set " << int(set) << " op " << int(op);
                    }
                }
            }
}

TYPED_TEST(MatrixVector, OfAnUpperPanelMatchesPlainLoops) {
    using T = TypeParam;
    for (auto const set : supported_sets())
        for (Index n : {1, 2, 7, 8, 21})
            for (Index rows : {0, 1, 5, 19, 300, 1100}) {
                auto const panel = random_dense<T>(rows, n, 1);
                auto diagonal = random_dense<T>(n, n, 2);
                for (Index j = 0; j < n; ++j) diagonal(j, j) += T(static_cast<Real<T>>(n));
                std::vector<T> triangle(packed_upper_size(n));
                pack_upper<T>(diagonal.view(), triangle.data());
                auto const y = random_vector<T>(rows, 3);
                auto const expected = random_vector<T>(n, 4);
                std::vector<T> x(n); // D x_expected + U^T y
                for (Index j = 0; j < n; ++j) {
                    for (Index i = 0; i <= j; ++i) x[i] += diagonal(i, j) * expected[j];
                    for (Index i = 0; i < rows; ++i) x[j] += panel(i, j) * y[i];
                }
                solve_upper_panel_with_vector<T>(set, panel.view(), triangle.data(), y, x, 3);
                ASSERT_LE(distance(x, expected),
                          static_cast<Real<T>>(std::max<Index>(300, rows)) * epsilon<T>)
                    << n << " x " << rows << " set " << int(set);
            }
}

// The vectors at the end of the rows overlap, so an infinity must not spread.
TYPED_TEST(MatrixVector, AnInfiniteEntryStaysInItsRow) {
    using T = TypeParam;
    Index const m = 21, n = 3;
    auto a = random_dense<T>(m, n, 6);
    a(17, 1) = std::numeric_limits<Real<T>>::infinity();
    for (auto const set : supported_sets()) {
        auto const x = random_vector<T>(n, 7);
        std::vector<T> y(m);
        add_product_with_vector<T>(set, a.view(), x, y);
        for (Index i = 0; i < m; ++i) EXPECT_EQ(std::isfinite(std::abs(y[i])), i != 17) << i;
    }
}

} // namespace
} // namespace espalier
