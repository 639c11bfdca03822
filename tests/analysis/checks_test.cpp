// Checks of large matrices, which several threads share.
#include "analysis/checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/status_of.hpp"

namespace espalier {
namespace {

constexpr Index order = 500'000; // enough entries for parts of two threads

// A tridiagonal matrix, lower triangle.
CscMatrix<double> large_matrix() {
    CscMatrix<double> a{order, order, Symmetry::symmetric, {0}, {}, {}};
    for (Index j = 0; j < order; ++j) {
        a.row_ind.push_back(j);
        a.values.push_back(2);
        if (j + 1 < order) {
            a.row_ind.push_back(j + 1);
            a.values.push_back(-1);
        }
        a.col_ptr.push_back(std::ssize(a.row_ind));
    }
    return a;
}

TEST(RequireValidValues, FindsValuesThatAreNotFiniteOnEachThread) {
    auto a = large_matrix();
    for (int const threads : {1, 2, 5}) {
        EXPECT_EQ(status_of([&] { require_valid_values(a, threads); }), Status::ok);
        for (std::size_t const entry : {std::size_t{0}, a.values.size() / 2, a.values.size() - 1}) {
            double const value = std::exchange(a.values[entry], std::numeric_limits<double>::infinity());
            EXPECT_EQ(status_of([&] { require_valid_values(a, threads); }), Status::bad_input);
            a.values[entry] = value;
        }
    }
}

TEST(RequireNoZeroRow, FindsRowsOfZerosOnEachThread) {
    auto a = large_matrix();
    for (int const threads : {1, 2, 5}) {
        EXPECT_EQ(status_of([&] { require_no_zero_row(a, {}, threads); }), Status::ok);
        for (Index const row : {Index{0}, order / 2, order - 1}) {
            auto const saved = a.values;
            for (Index j = std::max<Index>(row - 1, 0); j <= row; ++j)
                for (Offset p = a.col_ptr[j]; p < a.col_ptr[j + 1]; ++p)
                    if (j == row || a.row_ind[p] == row) a.values[p] = 0;
            EXPECT_EQ(status_of([&] { require_no_zero_row(a, {}, threads); }), Status::singular) << row;
            a.values = saved;
        }
    }
}

TEST(RequireBlockWidths, RefusesALeastWidthAboveTheLargest) {
    auto const message = [](Index least, Index most) {
        Options options;
        options.min_block_width = least;
        options.max_block_width = most;
        std::string text;
        return status_of([&] { require_sound(options); }, &text) == Status::usage ? text : "accepted";
    };
    EXPECT_EQ(message(300, 100), "min-block-width 300 is above max-block-width 100");
    EXPECT_EQ(message(100, 100), "accepted");
    EXPECT_EQ(message(300, 0), "accepted");
    EXPECT_EQ(message(0, 1), "accepted");
}

} // namespace
} // namespace espalier
