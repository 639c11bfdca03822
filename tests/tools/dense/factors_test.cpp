// The kernels and the factors of tiled matrices against plain dense ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/dense.hpp"
#include "kernels/tile_qr.hpp"
#include "runtime/support.hpp"
#include "tools/dense/accuracy.hpp"
#include "tools/dense/support.hpp"

namespace espalier {

namespace {

using testing::Dense;
using testing::largest_difference;
using testing::product;
using testing::random_dense;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Dense<double> identity(Index n) {
    Dense<double> one(n, n);
    for (Index i = 0; i < n; ++i) one(i, i) = 1;
    return one;
}

} // namespace

TEST(TileQr, FactorsATileAndAppliesItsReflections) {
    for (auto const& [m, n, ib] : {std::array<Index, 3>{1, 1, 4}, {5, 5, 32}, {40, 40, 7}, {50, 33, 32}}) {
        auto const a = random_dense<double>(m, n, 1);
        auto qr = a;
        Dense<double> t(ib, n);
        std::vector<double> work(static_cast<std::size_t>(ib * std::max(m, n)));
        geqrt(qr.view(), t.view(), work);
        Dense<double> r(m, n);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i <= std::min(j, m - 1); ++i)
                r(i, j) = std::exchange(qr(i, j), nan); // R is not read
        auto q = identity(m);
        unmqr(Op::none, qr.view(), t.view(), q.view(), work);
        EXPECT_LT(largest_difference(product(q, r), a), 1e-13);
        unmqr(Op::transpose, qr.view(), t.view(), q.view(), work);
        EXPECT_LT(largest_difference(q, identity(m)), 1e-13);
    }
}

TEST(TileQr, FactorsATriangleOnASquareAndAppliesItsReflections) {
    for (auto const& [m, k, ib] : {std::array<Index, 3>{1, 1, 4}, {5, 7, 32}, {40, 40, 7}, {3, 33, 32}}) {
        auto stack = random_dense<double>(k + m, k, 2);
        for (Index j = 0; j < k; ++j)
            for (Index i = j + 1; i < k; ++i) stack(i, j) = nan; // entries below the triangle are not read
        auto qr = stack;
        auto const r = qr.view().block(0, 0, k, k), v = qr.view().block(k, 0, m, k);
        Dense<double> t(ib, k);
        std::vector<double> work(static_cast<std::size_t>(ib * (k + m)));
        tsqrt(r, v, t.view(), work);
        Dense<double> triangle(k + m, k);
        for (Index j = 0; j < k; ++j)
            for (Index i = 0; i < k; ++i) {
                EXPECT_EQ(std::isnan(r(i, j)), i > j);
                if (i <= j) triangle(i, j) = r(i, j);
                if (i > j) stack(i, j) = 0;
            }
        auto q = identity(k + m);
        auto const top = q.view().block(0, 0, k, k + m), bottom = q.view().block(k, 0, m, k + m);
        tsmqr(Op::none, v, t.view(), top, bottom, work);
        EXPECT_LT(largest_difference(product(q, triangle), stack), 1e-13);
        tsmqr(Op::transpose, v, t.view(), top, bottom, work);
        EXPECT_LT(largest_difference(q, identity(k + m)), 1e-13);
    }
}

TEST(TileQr, RefusesAWorkspaceThatIsTooSmall) {
    Dense<double> a(8, 8), t(4, 8);
    std::vector<double> work(31);
    EXPECT_EQ(status_of([&] { geqrt(a.view(), t.view(), work); }), Status::internal);
}

TEST(TiledMatrix, HasTheSameEntriesUnderEveryAllocation) {
    WorkerTeam team(machine(), 3);
    for (DenseKind const kind : kinds) {
        TileGrid const grid{50, 8};
        TiledMatrix one(kind, grid, 1, Allocation::local);
        one.fill_owned(0);
        EXPECT_EQ(one.tile(6, 2)(1, 5), one.entry(49, 21));
        EXPECT_EQ(one.entry(3, 40) == one.entry(40, 3), kind == DenseKind::cholesky);
        for (Allocation const allocation : {Allocation::global, Allocation::local, Allocation::interleave}) {
            TiledMatrix matrix(kind, grid, team.size(), allocation);
            matrix.fill(team);
            EXPECT_EQ(entries_of(matrix), entries_of(one));
        }
    }
}

TEST(TiledMatrix, StatesTheMissingMemory) {
    auto const allocate = [] { TiledMatrix(DenseKind::qr, {Index(1) << 24, 1 << 16}, 2, Allocation::local); };
    EXPECT_TRUE(throws_error(Status::out_of_memory, "the tiles need", allocate));
}

TEST(TiledCholesky, NamesTheColumnOfAPivotThatIsNotPositive) {
    TiledMatrix matrix(DenseKind::cholesky, {20, 8}, 2, Allocation::local);
    WorkerTeam team(machine(), 2);
    matrix.fill(team);
    matrix.tile(1, 1)(3, 3) = -1;
    FifoPolicy policy(2);
    auto const tasks = tasks_of(DenseKind::cholesky, matrix.grid(), 2);
    EXPECT_TRUE(throws_error(Status::not_positive_definite, "column 11",
                             [&] { factorize_tiles(matrix, tasks, policy, team); }));
}

// The estimate multiplies triangles, so factors with a small error are those of a dense factorization up to
// signs.
TEST(TiledFactors, HaveSmallErrorsForTilesOfAnySize) {
    for (DenseKind const kind : kinds)
        for (auto const& [n, tile] :
             {std::pair<Index, Index>{5, 2}, {1, 1}, {37, 40}, {64, 16}, {131, 33}, {200, 48}}) {
            TiledMatrix matrix(kind, {n, tile}, 1, Allocation::local);
            auto const tasks = tasks_of(kind, matrix.grid());
            factorize_in_order(matrix, tasks, sequence(tasks));
            auto const accuracy = measure_accuracy(matrix);
            EXPECT_TRUE(accuracy.within(1e-14)) << n << ' ' << tile << ": " << accuracy.backward_error;
            EXPECT_EQ(accuracy.orthogonality.has_value(), kind == DenseKind::qr);
        }
}

TEST(DenseAccuracy, DetectsASmallErrorInOneEntry) {
    for (DenseKind const kind : kinds) {
        TiledMatrix matrix(kind, {60, 16}, 1, Allocation::local);
        auto const tasks = tasks_of(kind, matrix.grid());
        for (double const error : {1e-7, nan}) {
            factorize_in_order(matrix, tasks, sequence(tasks));
            matrix.tile(2, 1)(5, 5) += error; // of L, or of a reflection
            auto const accuracy = measure_accuracy(matrix);
            EXPECT_FALSE(accuracy.within(1e-11));
            EXPECT_EQ(accuracy.orthogonality.has_value(), kind == DenseKind::qr);
            EXPECT_FALSE(accuracy.orthogonality.value_or(1) <= 1e-11);
        }
        factorize_in_order(matrix, tasks, sequence(tasks));
        matrix.tile(1, 1)(3, 3) += 1e-7; // of L, or of R
        EXPECT_GT(measure_accuracy(matrix).backward_error, 1e-11);
    }
}

} // namespace espalier
