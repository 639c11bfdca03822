// Panels of lu after an attempt: rows that were copied are restored exactly, others by products of small
// factors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "kernels/panel.hpp"
#include "kernels/panel_backup.hpp"
#include "kernels/product.hpp"
#include "kernels/threshold.hpp"

namespace espalier {
namespace {

constexpr Index width = 20, below = 300;

MatrixView<double> view(std::vector<double>& values, Index rows) {
    return {values.data(), rows, width, rows};
}

// The first `tiny` columns have no pivot in the diagonal block.
struct Panel {
    explicit Panel(double diagonal, Index tiny = 0) : lower((width + below) * width) {
        std::mt19937 random(1);
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (double& x : lower) x = uniform(random);
        for (Index j = 0; j < width; ++j) view(lower, width + below)(j, j) += diagonal;
        for (Index j = 0; j < tiny; ++j)
            for (Index i = 0; i < width; ++i) view(lower, width + below)(i, j) *= 1e-9;
    }
    // An attempt in two blocks of rows. Returns how many of them were copied. Drops copies that are not
    // needed.
    int attempt_and_restore(double growth, bool drops = false) {
        MatrixView<double> const l = view(lower, width + below);
        MatrixView<double> const a11 = l.block(0, 0, width, width), a21 = l.block(width, 0, below, width);
        LuBackup<double> backup;
        std::vector<double> memory(lower.size());
        backup.save_diagonal(l, memory.data());
        std::vector<std::int32_t> rows(width), columns(width);
        eliminated = factor_lu_leading<double>(a11, rows, columns, 1e-6).eliminated;
        Index const e = eliminated, rest = width - e;
        backup.prepare_rows(a11, e);
        int copied = 0;
        for (auto const& [first, count] : {std::pair<Index, Index>{0, 256}, {256, 44}}) {
            bool const is_copied = backup.save_rows(a21, first, count, growth);
            copied += is_copied;
            permute_columns<double>(a21.block(first, 0, count, width), columns);
            auto const l21 = a21.block(first, 0, count, e);
            double const largest = solve_panel_lu<double>(a11.block(0, 0, e, e), l21, count);
            if (is_copied && drops) backup.drop_rows(first, largest);
            subtract_product<double>(Op::none, l21, a11.block(0, e, e, rest),
                                     a21.block(first, e, count, rest));
        }
        backup.restore(l, e, columns, true);
        return copied;
    }
    std::vector<double> lower;
    Index eliminated = 0;
};

double difference(std::vector<double> const& a, std::vector<double> const& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
    return most;
}

TEST(LuBackup, MultipliesSmallFactorsBack) {
    for (Index const tiny : {0, 1, 5}) {
        Panel const before(30, tiny);
        Panel panel = before;
        EXPECT_EQ(panel.attempt_and_restore(100), 0);
        EXPECT_EQ(panel.eliminated, width - tiny);
        EXPECT_LE(difference(panel.lower, before.lower), 1e-14);
    }
}

TEST(LuBackup, CopiesRowsWhoseFactorsMayBeLarge) {
    for (Index const tiny : {0, 5})
        for (auto const& [diagonal, growth] : {std::pair{0.0, 100.0}, {30.0, 1e-3}}) {
            Panel const before(diagonal, tiny);
            Panel panel = before;
            EXPECT_EQ(panel.attempt_and_restore(growth), 2);
            EXPECT_EQ(panel.lower, before.lower);
        }
}

// The second block has large entries, and alone is copied.
TEST(LuBackup, CopiesBlocksOfRowsOnTheirOwn) {
    Panel before(30);
    for (Index j = 0; j < width; ++j) view(before.lower, width + below)(width + 270, j) *= 1e5;
    Panel panel = before;
    EXPECT_EQ(panel.attempt_and_restore(100), 1);
    EXPECT_LE(difference(panel.lower, before.lower), 1e-14);
}

// The entries of L21 are small, although their bound is not, but for one row in either block.
TEST(LuBackup, DropsCopiesThatAreNotNeeded) {
    for (Index const large : {Index{-1}, Index{17}, Index{270}}) {
        Panel before(30, 5);
        if (large >= 0)
            for (Index j = 0; j < width; ++j) view(before.lower, width + below)(width + large, j) *= 1e9;
        Panel panel = before;
        EXPECT_EQ(panel.attempt_and_restore(1e-3, true), 2);
        double const lost = difference(panel.lower, before.lower);
        EXPECT_LE(lost, 1e-14) << large;
        EXPECT_GT(lost, 0) << "the other block is multiplied back";
    }
}

// One object serves one panel after the other.
TEST(LuBackup, ForgetsThePivotsOfAnEarlierPanel) {
    std::vector<double> panel{1, 1}, memory(panel.size());
    MatrixView<double> const all{panel.data(), 2, 1, 2}, row{panel.data() + 1, 1, 1, 2};
    LuBackup<double> backup;
    for (auto const& [pivot, is_copied] : {std::pair{1e-3, true}, {1.0, false}}) {
        backup.save_diagonal(all, memory.data());
        backup.prepare_rows({&pivot, 1, 1, 1}, 1);
        EXPECT_EQ(backup.save_rows(row, 0, 1, 100.0), is_copied) << pivot;
    }
}

// Products with infinite entries of U11, or of U12 in a column without a pivot, would not restore the rows.
TEST(LuBackup, CopiesRowsIfEntriesOfTheDiagonalBlockOverflow) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    std::vector<double> diagonal{1, 0, infinite, infinite}, panel{1, 0, 1, 0, 1, 1}, memory(panel.size());
    for (Index const pivots : {2, 1}) {
        LuBackup<double> backup;
        backup.save_diagonal({panel.data(), 3, 2, 3}, memory.data());
        backup.prepare_rows({diagonal.data(), 2, 2, 2}, pivots);
        EXPECT_TRUE(backup.save_rows({panel.data() + 2, 1, 2, 3}, 0, 1, 100.0)) << pivots;
    }
}

} // namespace
} // namespace espalier
