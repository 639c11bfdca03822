// Panels of lu after an attempt: rows that were copied are restored exactly, others by products of small
// factors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "kernels/lu_backup.hpp"
#include "kernels/panel.hpp"
#include "kernels/triangular.hpp"

namespace espalier {
namespace {

constexpr Index width = 20, below = 300;

MatrixView<double> view(std::vector<double>& values, Index rows) {
    return {values.data(), rows, width, rows};
}

struct Panel {
    explicit Panel(double diagonal) : lower((width + below) * width), upper(below * width) {
        std::mt19937 random(1);
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (double& x : lower) x = uniform(random);
        for (double& x : upper) x = uniform(random);
        for (Index j = 0; j < width; ++j) view(lower, width + below)(j, j) += diagonal;
    }
    // An attempt in two blocks of rows. Returns how many of them were copied.
    int attempt_and_restore(double growth) {
        MatrixView<double> const l = view(lower, width + below), u = view(upper, below);
        MatrixView<double> const a11 = l.block(0, 0, width, width), a21 = l.block(width, 0, below, width);
        LuBackup<double> backup;
        std::vector<double> memory(lower.size());
        backup.save_diagonal(l, memory.data());
        std::vector<std::int32_t> perm(width);
        factor_lu<double>(a11, perm, 0);
        backup.bound_rows(a11);
        int copied = 0;
        for (auto const& [first, count] : {std::pair<Index, Index>{0, 256}, {256, 44}}) {
            copied += backup.save_rows(a21, first, count, growth);
            solve_panel_lu<double>(a11, a21.block(first, 0, count, width));
        }
        permute_columns<double>(u, perm);
        solve_right<double>(Op::transpose, Diag::unit, a11, u);
        backup.restore(l, u, perm, true);
        return copied;
    }
    std::vector<double> lower, upper;
};

double difference(std::vector<double> const& a, std::vector<double> const& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
    return most;
}

TEST(LuBackup, MultipliesSmallFactorsBack) {
    Panel const before(30);
    Panel panel = before;
    EXPECT_EQ(panel.attempt_and_restore(100), 0);
    EXPECT_LE(difference(panel.lower, before.lower), 1e-14);
    EXPECT_LE(difference(panel.upper, before.upper), 1e-14);
}

TEST(LuBackup, CopiesRowsWhoseFactorsMayBeLarge) {
    for (auto const& [diagonal, growth] : {std::pair{0.0, 100.0}, {30.0, 1e-3}}) {
        Panel const before(diagonal);
        Panel panel = before;
        EXPECT_EQ(panel.attempt_and_restore(growth), 2);
        EXPECT_EQ(panel.lower, before.lower);
        EXPECT_LE(difference(panel.upper, before.upper), 1e-13);
    }
}

// The second block has large entries, and alone is copied.
TEST(LuBackup, CopiesBlocksOfRowsOnTheirOwn) {
    Panel before(30);
    for (Index j = 0; j < width; ++j) view(before.lower, width + below)(width + 270, j) *= 1e3;
    Panel panel = before;
    EXPECT_EQ(panel.attempt_and_restore(100), 1);
    EXPECT_LE(difference(panel.lower, before.lower), 1e-14);
}

// Products with infinite entries of U11 would not restore the rows.
TEST(LuBackup, CopiesRowsIfEntriesOfTheDiagonalBlockOverflow) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    std::vector<double> diagonal{1, 0, infinite, infinite}, panel{1, 0, 1, 0, 1, 1}, memory(panel.size());
    LuBackup<double> backup;
    backup.save_diagonal({panel.data(), 3, 2, 3}, memory.data());
    backup.bound_rows({diagonal.data(), 2, 2, 2});
    EXPECT_TRUE(backup.save_rows({panel.data() + 2, 1, 2, 3}, 0, 1, 100.0));
}

} // namespace
} // namespace espalier
