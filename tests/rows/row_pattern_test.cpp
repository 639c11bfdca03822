#include "rows/row_pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "common/matrices.hpp"
#include "core/status_of.hpp"
#include "rows/dense_blocks.hpp"
#include "rows/fill_pattern.hpp"
#include "solver/generated.hpp"

namespace espalier {
namespace {

using Levels = std::vector<std::vector<Index>>;
constexpr Index far = 1 << 20;

/// The levels of fill by the textbook definition: level(i, j) = min over k < min(i, j) of level(i, k) +
/// level(k, j) + 1.
Levels fill_levels(CscMatrix<double> const& a) {
    Levels level(a.rows, std::vector<Index>(a.rows, far));
    for (Index j = 0; j < a.cols; ++j) {
        level[j][j] = 0;
        for (Offset const p : a.entries_of(j)) {
            level[a.row_ind[p]][j] = 0;
            if (a.symmetry != Symmetry::general) level[j][a.row_ind[p]] = 0;
        }
    }
    for (Index k = 0; k < a.rows; ++k)
        for (Index i = k + 1; i < a.rows; ++i)
            for (Index j = k + 1; j < a.rows; ++j)
                level[i][j] = std::min(level[i][j], level[i][k] + level[k][j] + 1);
    return level;
}

std::set<std::pair<Index, Index>> blocks_of(RowPattern const& pattern) {
    std::set<std::pair<Index, Index>> result;
    for (BlockRow i = 0; i < pattern.num_rows; ++i) {
        auto const row = pattern.row(i);
        EXPECT_TRUE(std::is_sorted(row.begin(), row.end()));
        EXPECT_EQ(pattern.cols[pattern.diagonal[i]], i);
        EXPECT_EQ(std::ssize(pattern.lower(i)) + 1 + std::ssize(pattern.upper(i)), std::ssize(row));
        for (BlockRow const j : row) EXPECT_TRUE(result.emplace(i, j).second);
    }
    return result;
}

CscMatrix<double> random_matrix(Index n, Symmetry symmetry, double density, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    return matrix_of(n, symmetry, [&](Index i, Index j) {
        return uniform(random) < density || (i == j && i % 3 != 0) ? uniform(random) + 0.1 : 0.0;
    });
}

/// A general matrix of random values with a symmetric pattern and the whole diagonal.
CscMatrix<double> symmetric_pattern(Index n, double density, unsigned seed) {
    auto const stored = random_matrix(n, Symmetry::symmetric, density, seed);
    std::set<std::pair<Index, Index>> entries;
    for (Index j = 0; j < n; ++j) {
        entries.emplace(j, j);
        for (Offset const p : stored.entries_of(j)) {
            entries.emplace(stored.row_ind[p], j);
            entries.emplace(j, stored.row_ind[p]);
        }
    }
    return matrix_of(n, Symmetry::general, [&](Index i, Index j) {
        return entries.contains({i, j}) ? static_cast<double>(1 + i + n * j) : 0.0;
    });
}

TEST(BlockPattern, OfASymmetricPatternKnowsWhereTheEntriesAreStored) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        auto const a = symmetric_pattern(1 + 3 * seed, 0.2, seed);
        auto const pattern = block_pattern(a, 1, {}, nullptr, true);
        EXPECT_TRUE(pattern.symmetric);
        EXPECT_EQ(std::ssize(blocks_of(pattern)), a.stored());
        ASSERT_EQ(std::ssize(pattern.source), a.stored());
        for (BlockRow i = 0; i < pattern.num_rows; ++i)
            for (Offset e = pattern.ptr[i]; e < pattern.ptr[i + 1]; ++e)
                EXPECT_EQ(a.values[pattern.source[e]], static_cast<double>(1 + i + a.cols * pattern.cols[e]));
        EXPECT_TRUE(block_pattern(a, 1).source.empty());
    }
}

TEST(BlockPattern, OfAnotherPatternDoesNotKnowWhereTheEntriesAreStored) {
    auto const blocks = [](CscMatrix<double> const& a) {
        auto const pattern = block_pattern(a, 1, {}, nullptr, true);
        EXPECT_TRUE(pattern.source.empty());
        return blocks_of(pattern);
    };
    auto const entries = [](CscMatrix<double> const& a) {
        std::set<std::pair<Index, Index>> result;
        for (Index j = 0; j < a.cols; ++j) {
            result.emplace(j, j);
            for (Offset const p : a.entries_of(j)) result.emplace(a.row_ind[p], j);
        }
        return result;
    };
    auto const a = symmetric_pattern(30, 0.2, 1);
    for (Offset removed = 0; removed < a.stored(); ++removed) { // each of them, on and off the diagonal
        auto other = a;
        other.row_ind.erase(other.row_ind.begin() + removed);
        other.values.erase(other.values.begin() + removed);
        for (Offset& p : other.col_ptr) p -= p > removed ? 1 : 0;
        EXPECT_EQ(blocks(other), entries(other)) << "without entry " << removed;
    }
    for (Index j = 0; j < a.cols; ++j) {
        if (a.entries_of(j).size() < 2) continue;
        auto other = a; // a column that does not ascend
        std::swap(other.row_ind[a.col_ptr[j]], other.row_ind[a.col_ptr[j + 1] - 1]);
        EXPECT_EQ(blocks(other), entries(other)) << "column " << j;
    }
    // Row i and column i have equally many entries, but the pattern is not symmetric.
    auto const cycle = matrix_of(9, Symmetry::general,
                                 [](Index i, Index j) { return i == j || i == (j + 1) % 9 ? 1.0 : 0.0; });
    EXPECT_EQ(blocks(cycle), entries(cycle));
}

/// Whether the rows have two colors such that neighbors differ, by a search through each component.
bool has_two_colors(RowPattern const& pattern) {
    std::vector<int> color(pattern.num_rows, -1);
    for (BlockRow root = 0; root < pattern.num_rows; ++root) {
        if (color[root] >= 0) continue;
        color[root] = 0;
        for (std::vector<BlockRow> reached{root}; !reached.empty();) {
            BlockRow const i = reached.back();
            reached.pop_back();
            for (BlockRow const j : pattern.row(i)) {
                if (j == i) continue;
                if (color[j] == color[i]) return false;
                if (color[j] < 0) reached.push_back(j);
                color[j] = 1 - color[i];
            }
        }
    }
    return true;
}

TEST(IsBipartite, AgreesWithASearch) {
    int found = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        auto const n = static_cast<Index>(1 + seed % 40);
        auto const pattern = block_pattern(symmetric_pattern(n, 0.9 / static_cast<double>(n), seed), 1);
        EXPECT_EQ(is_bipartite(pattern), has_two_colors(pattern)) << "seed " << seed;
        found += is_bipartite(pattern) ? 1 : 0;
    }
    EXPECT_GT(found, 40);
    EXPECT_LT(found, 360);
}

// The parts of a ring that ascend and meet have different colors if its length is odd.
TEST(IsBipartite, UnitesThePartsOfARing) {
    for (Index n = 3; n < 60; ++n) {
        std::vector<Index> positions(n);
        std::iota(positions.begin(), positions.end(), Index(0));
        std::shuffle(positions.begin(), positions.end(), std::mt19937(static_cast<unsigned>(n)));
        auto const ring = matrix_of(n, Symmetry::general, [&](Index i, Index j) {
            Index const distance = std::abs(i - j);
            return distance <= 1 || distance == n - 1 ? 1.0 : 0.0;
        });
        EXPECT_EQ(is_bipartite(block_pattern(ring, 1, positions)), n % 2 == 0) << n << " rows";
    }
}

TEST(IsBipartite, NeedsASymmetricPattern) {
    auto const a = matrix_of(3, Symmetry::general, [](Index i, Index j) { return i <= j ? 1.0 : 0.0; });
    EXPECT_FALSE(is_bipartite(block_pattern(a, 1)));
}

TEST(FillPattern, HasTheEntriesUpToALevelOfFill) {
    for (unsigned seed = 0; seed < 12; ++seed)
        for (auto const symmetry : {Symmetry::general, Symmetry::symmetric}) {
            auto const a = random_matrix(40, symmetry, 0.03 + 0.005 * seed, seed);
            auto const level = fill_levels(a);
            auto const pattern = block_pattern(a, 1);
            for (Index const k : {0, 1, 2, 3, 40}) {
                std::set<std::pair<Index, Index>> expected;
                for (Index i = 0; i < a.rows; ++i)
                    for (Index j = 0; j < a.rows; ++j)
                        if (level[i][j] <= k) expected.emplace(i, j);
                auto const filled = fill_pattern(pattern, k, 1 + static_cast<int>(seed % 3));
                EXPECT_EQ(blocks_of(filled), expected) << "level " << k;
                bool const symmetric = std::all_of(expected.begin(), expected.end(), [&](auto const& entry) {
                    return expected.count({entry.second, entry.first}) == 1;
                });
                EXPECT_EQ(filled.symmetric, symmetric);
            }
        }
}

TEST(FillPattern, IsTheSameForAnyNumberOfThreads) {
    auto const a = matrix_of(5000, Symmetry::general, [](Index i, Index j) {
        return i == j || (i - j) % 997 == 3 || (j - i) % 1201 == 5 ? 1.0 : 0.0;
    });
    auto const one = fill_pattern(block_pattern(a, 1), 1, 1);
    auto const four = fill_pattern(block_pattern(a, 1), 1, 4);
    EXPECT_EQ(one.ptr, four.ptr);
    EXPECT_EQ(one.cols, four.cols);
}

TEST(FillPattern, CanBeCancelled) {
    // the search has four pieces of rows
    auto const pattern = block_pattern(generated<double>("lap3d:16"), 1, {});
    for (int const threads : {1, 2}) {
        Interrupt at_once([] { return true; });
        EXPECT_EQ(status_of([&] { fill_pattern(pattern, 2, threads, &at_once); }), Status::cancelled);
        Interrupt failing([]() -> bool { throw Error(Status::bad_input, "the caller's function"); });
        EXPECT_EQ(status_of([&] { fill_pattern(pattern, 2, threads, &failing); }), Status::bad_input);
    }
}

TEST(FillPattern, EndsAtTheMemoryLimit) {
    auto const general = random_matrix(3000, Symmetry::general, 0.001, 1);
    for (auto const& pattern :
         {block_pattern(generated<double>("lap3d:16"), 1, {}), block_pattern(general, 1, {})})
        for (int const threads : {1, 2}) {
            Offset const blocks = fill_pattern(pattern, 2).num_blocks();
            EXPECT_EQ(fill_pattern(pattern, 2, threads, nullptr, {1 << 20, blocks}).num_blocks(), blocks);
            EXPECT_TRUE(throws_error(
                Status::out_of_memory,
                "level of fill 2 needs more memory than the limit of 1048576 bytes (1 MiB)", [&] {
                    (void)fill_pattern(pattern, 2, threads, nullptr, {1 << 20, blocks - 1});
                }));
            EXPECT_TRUE(throws_error(Status::out_of_memory, "more memory than the available 1 MiB", [&] {
                (void)fill_pattern(pattern, 2, threads, nullptr, {1 << 20, blocks - 1, true});
            }));
        }
}

TEST(FillPattern, RefusesANegativeLevel) {
    EXPECT_TRUE(
        throws_error(Status::usage, "the level of fill is -1", [] { (void)fill_pattern(RowPattern{}, -1); }));
}

TEST(BlockPattern, HasTheBlocksWithEntriesAndTheDiagonal) {
    auto const a = matrix_of(6, Symmetry::general,
                             [](Index i, Index j) { return (i == 0 && j == 5) || (i == 3 && j == 1); });
    std::set<std::pair<Index, Index>> const expected{{0, 0}, {1, 1}, {2, 2}, {0, 2}, {1, 0}};
    EXPECT_EQ(blocks_of(block_pattern(a, 2)), expected);
    EXPECT_FALSE(block_pattern(a, 2).symmetric);
    auto const lower = matrix_of(6, Symmetry::symmetric, [](Index i, Index j) { return i == 5 && j == 2; });
    std::set<std::pair<Index, Index>> const mirrored{{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 1}};
    EXPECT_EQ(blocks_of(block_pattern(lower, 2)), mirrored);
    EXPECT_TRUE(block_pattern(lower, 2).symmetric);
}

TEST(WholeBlocks, AreFoundIfEveryEntryIsInOne) {
    auto const blocks = [](Index i, Index j) { return (i / 3 + 2 * (j / 3)) % 4 < 2; };
    auto const a = matrix_of(30, Symmetry::general, blocks);
    for (int const threads : {1, 3}) {
        auto const whole = whole_blocks(a, 3, threads);
        ASSERT_TRUE(whole);
        std::set<std::pair<Index, Index>> found, expected;
        for (BlockRow j = 0; j < 10; ++j)
            for (Offset k = whole->ptr[j]; k < whole->ptr[j + 1]; ++k) found.emplace(whole->rows[k], j);
        for (Index j = 0; j < 30; ++j)
            for (Index i = 0; i < 30; ++i)
                if (blocks(i, j)) expected.emplace(i / 3, j / 3);
        EXPECT_EQ(found, expected);
        EXPECT_EQ(blocks_of(block_pattern(a, 3, {}, &*whole)), blocks_of(block_pattern(a, 3)));
    }
    EXPECT_FALSE(whole_blocks(a, 1));
    EXPECT_FALSE(whole_blocks(a, 2));
    EXPECT_FALSE(whole_blocks(a, 4));
    for (Index const missing : {0, 4, 8}) {
        auto const gap = matrix_of(30, Symmetry::general, [&](Index i, Index j) {
            return blocks(i, j) && !(i == 3 + missing % 3 && j == missing / 3);
        });
        EXPECT_EQ(gap.stored() + 1, a.stored());
        EXPECT_FALSE(whole_blocks(gap, 3));
    }
    // The columns of the middle block keep their numbers of entries, but the entries are in other rows.
    auto const moved = matrix_of(
        6, Symmetry::general, [](Index i, Index j) { return j < 3 ? i < 3 : i - j % 2 <= 2 && i >= j % 2; });
    EXPECT_FALSE(whole_blocks(moved, 3));
    EXPECT_FALSE(whole_blocks(matrix_of(6, Symmetry::symmetric, [](Index, Index) { return true; }), 3));
}

TEST(BlockPattern, MovesBlockRowsToTheirPositions) {
    for (auto const symmetry : {Symmetry::general, Symmetry::symmetric}) {
        auto const a = random_matrix(24, symmetry, 0.1, 5);
        std::vector<Index> positions(12);
        std::iota(positions.begin(), positions.end(), Index(0));
        std::shuffle(positions.begin(), positions.end(), std::mt19937(3));
        std::set<std::pair<Index, Index>> expected;
        for (auto const& [i, j] : blocks_of(block_pattern(a, 2)))
            expected.emplace(positions[i], positions[j]);
        EXPECT_EQ(blocks_of(block_pattern(a, 2, positions)), expected);
    }
}

TEST(BlockPattern, RefusesWrongArguments) {
    auto const a = random_matrix(6, Symmetry::general, 0.5, 1);
    auto const wide = CscMatrix<double>{2, 3, Symmetry::general, {0, 0, 0, 0}, {}, {}};
    auto const refuses = [&](Status status, char const* part, auto const& matrix, int size,
                             std::vector<Index> const& positions) {
        return throws_error(status, part, [&] { (void)block_pattern(matrix, size, positions); });
    };
    EXPECT_TRUE(refuses(Status::bad_input, "2 x 3", wide, 1, {}));
    EXPECT_TRUE(refuses(Status::usage, "blocks of size 4 do not divide a matrix of size 6", a, 4, {}));
    EXPECT_TRUE(refuses(Status::usage, "blocks of size 0", a, 0, {}));
    EXPECT_TRUE(refuses(Status::usage, "2 positions for 3 block rows", a, 2, {0, 1}));
    EXPECT_TRUE(refuses(Status::usage, "not a permutation: 1", a, 2, {0, 1, 1}));
    EXPECT_TRUE(refuses(Status::usage, "not a permutation: 3", a, 2, {0, 1, 3}));
}

TEST(FindBlockSize, FindsDenseBlocks) {
    auto const blocks = [](int size, Symmetry symmetry) {
        return matrix_of(60, symmetry, [size](Index i, Index j) { return i / size % 5 == j / size % 5; });
    };
    for (auto const symmetry : {Symmetry::general, Symmetry::symmetric})
        for (int const size : {2, 3, 4, 5, 6}) EXPECT_EQ(find_block_size(blocks(size, symmetry)), size);
    auto const tridiagonal = [](Index i, Index j) { return std::abs(i - j) <= 1; };
    EXPECT_EQ(find_block_size(matrix_of(60, Symmetry::general, tridiagonal)), 1);
    EXPECT_EQ(find_block_size(matrix_of(7, Symmetry::general, [](Index, Index) { return 1; })), 1);
}

// A matrix of this size is examined in samples.
TEST(FindBlockSize, SamplesLargeMatrices) {
    auto const tridiagonal = [](Index blocks, int size) {
        CscMatrix<double> a;
        a.rows = a.cols = blocks * size;
        a.col_ptr = {0};
        for (Index j = 0; j < a.cols; ++j) {
            Index const block = j / size;
            for (Index i = std::max<Index>(0, block - 1) * size; i < std::min(blocks, block + 2) * size; ++i)
                a.row_ind.push_back(i);
            a.col_ptr.push_back(std::ssize(a.row_ind));
        }
        a.values.assign(a.row_ind.size(), 1.0);
        return a;
    };
    EXPECT_EQ(find_block_size(tridiagonal(10'000, 3)), 3);
    EXPECT_EQ(find_block_size(tridiagonal(60'000, 1)), 1);
}

} // namespace
} // namespace espalier
