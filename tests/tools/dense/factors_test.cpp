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
#include "tools/dense/dense_run.hpp"
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
    std::string message;
    EXPECT_EQ(status_of(
                  [] {
                      TiledMatrix(DenseKind::qr, {Index(1) << 24, 1 << 16}, 2, Allocation::local);
                  },
                  &message),
              Status::out_of_memory);
    EXPECT_TRUE(contains(message, "the tiles need"));
}

TEST(TiledCholesky, MatchesTheDenseFactor) {
    for (auto const& [n, tile] :
         {std::pair<Index, Index>{5, 2}, {1, 1}, {37, 40}, {64, 16}, {131, 33}, {200, 48}}) {
        TiledMatrix matrix(DenseKind::cholesky, {n, tile}, 1, Allocation::local);
        auto const tasks = tasks_of(DenseKind::cholesky, matrix.grid());
        factorize_in_order(matrix, tasks, sequence(tasks));
        Dense<double> l(n, n); // column by column
        double largest = 0;
        for (Index j = 0; j < n; ++j)
            for (Index i = j; i < n; ++i) {
                double sum = matrix.entry(i, j);
                for (Index p = 0; p < j; ++p) sum -= l(i, p) * l(j, p);
                l(i, j) = i == j ? std::sqrt(sum) : sum / l(j, j);
                auto const block =
                    matrix.tile(static_cast<std::int32_t>(i / tile), static_cast<std::int32_t>(j / tile));
                largest = std::max(largest, std::abs(block(i % tile, j % tile) - l(i, j)));
            }
        EXPECT_LT(largest, 1e-12) << n << ' ' << tile;
        EXPECT_LT(measure_accuracy(matrix).backward_error, 1e-14);
    }
}

TEST(TiledCholesky, NamesTheColumnOfAPivotThatIsNotPositive) {
    TiledMatrix matrix(DenseKind::cholesky, {20, 8}, 2, Allocation::local);
    WorkerTeam team(machine(), 2);
    matrix.fill(team);
    matrix.tile(1, 1)(3, 3) = -1;
    FifoPolicy policy(2);
    std::string message;
    auto const tasks = tasks_of(DenseKind::cholesky, matrix.grid(), 2);
    EXPECT_EQ(status_of([&] { factorize_tiles(matrix, tasks, policy, team); }, &message),
              Status::not_positive_definite);
    EXPECT_TRUE(contains(message, "column 11"));
}

TEST(TiledQr, MatchesTheDenseFactor) {
    for (auto const& [n, tile] :
         {std::pair<Index, Index>{5, 2}, {1, 1}, {37, 40}, {64, 16}, {131, 33}, {100, 48}}) {
        TiledMatrix matrix(DenseKind::qr, {n, tile}, 1, Allocation::local);
        auto const tasks = tasks_of(DenseKind::qr, matrix.grid());
        factorize_in_order(matrix, tasks, sequence(tasks));
        Dense<double> q(n, n); // Gram-Schmidt, twice
        double largest = 0;
        for (Index j = 0; j < n; ++j) {
            std::vector<double> r(static_cast<std::size_t>(j) + 1, 0.0);
            for (Index i = 0; i < n; ++i) q(i, j) = matrix.entry(i, j);
            for (int pass = 0; pass < 2; ++pass)
                for (Index p = 0; p < j; ++p) {
                    double dot = 0;
                    for (Index i = 0; i < n; ++i) dot += q(i, p) * q(i, j);
                    for (Index i = 0; i < n; ++i) q(i, j) -= dot * q(i, p);
                    r[p] += dot;
                }
            for (Index i = 0; i < n; ++i) r[j] = std::hypot(r[j], q(i, j));
            for (Index i = 0; i < n; ++i) q(i, j) /= r[j];
            for (Index i = 0; i <= j; ++i) { // rows of R are unique up to their signs
                auto const block =
                    matrix.tile(static_cast<std::int32_t>(i / tile), static_cast<std::int32_t>(j / tile));
                largest = std::max(largest, std::abs(std::abs(block(i % tile, j % tile)) - std::abs(r[i])));
            }
        }
        EXPECT_LT(largest, 1e-11) << n << ' ' << tile;
        auto const accuracy = measure_accuracy(matrix);
        EXPECT_LT(accuracy.backward_error, 1e-14);
        EXPECT_LT(accuracy.orthogonality.value(), 1e-14);
        EXPECT_TRUE(accuracy.within(1e-14));
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
