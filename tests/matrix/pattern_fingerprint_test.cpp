#include "matrix/pattern_fingerprint.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace espalier {
namespace {

// A band matrix, lower triangle, with blocks of columns for several threads.
CscMatrix<double> band_matrix() {
    constexpr Index n = 300'000;
    CscMatrix<double> a{n, n, Symmetry::symmetric, {0}, {}, {}};
    for (Index j = 0; j < n; ++j) {
        for (Index i = j; i < std::min(n, j + 4); i += 3) a.row_ind.push_back(i);
        a.col_ptr.push_back(std::ssize(a.row_ind));
    }
    a.values.assign(a.row_ind.size(), 1);
    return a;
}

TEST(PatternFingerprint, DependsOnEachEntryAndNotOnTheThreads) {
    auto a = band_matrix();
    PatternFingerprint const expected(a);
    for (int const threads : {1, 2, 3, 5}) {
        EXPECT_EQ(PatternFingerprint(a, threads), expected);
        EXPECT_TRUE(expected.matches(a, threads));
        for (std::size_t const entry : {std::size_t{0}, a.row_ind.size() / 2, a.row_ind.size() - 1}) {
            a.row_ind[entry] ^= 1;
            EXPECT_FALSE(PatternFingerprint(a, threads) == expected) << entry << ", " << threads;
            EXPECT_FALSE(expected.matches(a, threads)) << entry << ", " << threads;
            a.row_ind[entry] ^= 1;
        }
    }
}

TEST(PatternFingerprint, TellsWhichBlockOfColumnsDiffers) {
    auto a = band_matrix();
    PatternFingerprint const expected(a);
    constexpr Index changed = 7;
    ++a.row_ind[a.col_ptr[changed * PatternFingerprint::block_columns]];
    EXPECT_TRUE(expected.has_sizes_of(a));
    for (Index block = 0; block < 20; ++block)
        EXPECT_EQ(expected.has_block(a, block), block != changed) << block;
}

TEST(PatternFingerprint, DependsOnSizesAndSymmetry) {
    auto const a = band_matrix();
    PatternFingerprint const expected(a);
    auto other = a;
    other.symmetry = Symmetry::general;
    EXPECT_FALSE(expected.matches(other));
    other = a;
    ++other.rows;
    EXPECT_FALSE(expected.matches(other));
    other = a; // an empty column at the end
    ++other.cols;
    other.col_ptr.push_back(other.col_ptr.back());
    EXPECT_FALSE(expected.matches(other));
    EXPECT_FALSE(PatternFingerprint(other) == expected);
    other = {};
    EXPECT_FALSE(expected.matches(other));
    EXPECT_TRUE(PatternFingerprint(CscMatrix<double>()).matches(CscMatrix<double>()));
}

TEST(HashOfValues, DependsOnEachValueAndNotOnTheThreads) {
    auto a = band_matrix();
    std::uint64_t const expected = hash_of_values(a);
    for (int const threads : {1, 2, 5}) {
        EXPECT_EQ(hash_of_values(a, threads), expected);
        for (std::size_t const entry : {std::size_t{0}, a.values.size() / 2, a.values.size() - 1}) {
            a.values[entry] = 1 + 4e-16;
            EXPECT_NE(hash_of_values(a, threads), expected) << entry;
            a.values[entry] = 1;
        }
    }
}

} // namespace
} // namespace espalier
