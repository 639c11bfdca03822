// Copies of columns that permute them.
#include "core/column_moves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace espalier {
namespace {

TEST(ColumnMoves, MakeEveryPermutation) {
    std::mt19937 random(3);
    ColumnMoves moves; // used again for each permutation
    for (int n = 0; n <= 12; ++n)
        for (int own = 0; own <= n; ++own)
            for (int trial = 0; trial < 20; ++trial) {
                std::vector<std::int32_t> perm(n);
                std::iota(perm.begin(), perm.end(), 0);
                if (trial > 0) std::shuffle(perm.begin(), perm.end(), random);
                moves.find(perm, own);
                std::vector<std::int32_t> panel(n + 1, -1), rotated(n + 1);
                for (std::int32_t j = own; j < n; ++j) panel[j] = j;
                for (auto const [to, from] : moves.all()) panel[to] = from < own ? from : panel[from];
                panel.pop_back();
                EXPECT_EQ(panel, perm);
                moves.find_rotated(perm, own);
                for (std::int32_t j = 0; j < n; ++j) rotated[(j + n - own) % n] = j;
                for (auto const [to, from] : moves.all()) rotated[to] = rotated[from];
                rotated.pop_back();
                EXPECT_EQ(rotated, perm);
            }
}

} // namespace
} // namespace espalier
