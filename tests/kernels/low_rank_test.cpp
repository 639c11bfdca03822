// The steps of low-rank changes for every instruction set against plain loops.
#include "kernels/low_rank.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "matrix/dense_reference.hpp"

namespace espalier {
namespace {

template <class T> class LowRank : public ::testing::Test {};
TYPED_TEST_SUITE(LowRank, test::Scalars);

template <class T> struct RowsOfFactor {
    std::vector<T> l, w;
};

// Entry by entry, as the head of the file says.
template <class T>
RowsOfFactor<T> expected(LowRankSteps<T> const& s, Index columns, Index rows, RowsOfFactor<T> given) {
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns;) {
            Index const count = s.starts_pair[j] ? 2 : 1;
            for (Index c = j; c < j + count; ++c) given.l[c * rows + i] *= s.before[c];
            for (Index t = 0; t < s.rank; ++t) {
                T& w = given.w[t * rows + i];
                for (Index c = j; c < j + count; ++c) w -= given.l[c * rows + i] * s.z[c * s.rank + t];
                for (Index c = j; c < j + count; ++c) given.l[c * rows + i] += w * s.y[c * s.rank + t];
            }
            for (Index c = j; c < j + count; ++c) given.l[c * rows + i] *= s.after[c];
            j += count;
        }
    return given;
}

// Groups of four columns, single ones and pairs, for sizes around those of vectors. The bound is 10
// roundings of the largest number in each step of an entry.
TYPED_TEST(LowRank, StepsMatchTheirFormulaForEveryInstructionSet) {
    using T = TypeParam;
    constexpr Index columns = 9;
    for (InstructionSet const set :
         {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
        if (set > widest_instruction_set()) continue;
        for (Index const rows : {1, 5, 70})
            for (Index const rank : {1, 3}) {
                LowRankSteps<T> steps;
                steps.rank = rank;
                steps.resize(columns);
                steps.z = test::random_vector<T>(columns * rank, 1);
                steps.y = test::random_vector<T>(columns * rank, 2);
                for (Index j = 0; j < columns; ++j) {
                    steps.before[j] = static_cast<Real<T>>(j % 2 == 0 ? 0.5 : 2);
                    steps.after[j] = static_cast<Real<T>>(j % 3 == 0 ? 0.25 : 1);
                }
                steps.starts_pair[5] = true;
                RowsOfFactor<T> given{test::random_vector<T>(columns * rows, 3),
                                      test::random_vector<T>(rank * rows, 4)};
                auto const right = expected(steps, columns, rows, given);
                double largest = 1;
                for (auto const* values : {&right.l, &right.w})
                    for (T const value : *values)
                        largest = std::max(largest, static_cast<double>(std::abs(value)));
                double const bound =
                    static_cast<double>(10 * columns * rank) * largest * static_cast<double>(epsilon<T>);
                MatrixView<T> const l{given.l.data(), rows, columns, rows},
                    w{given.w.data(), rows, rank, rows};
                auto const same = given;
                apply_low_rank<T>(set, steps, 0, columns, l, w, false);
                EXPECT_EQ(given.l, same.l);
                for (std::size_t k = 0; k < given.w.size(); ++k)
                    EXPECT_LE(std::abs(given.w[k] - right.w[k]), bound);
                given = same;
                apply_low_rank<T>(set, steps, 0, columns, l, w, true);
                for (std::size_t k = 0; k < given.l.size(); ++k)
                    EXPECT_LE(std::abs(given.l[k] - right.l[k]), bound) << k;
                for (std::size_t k = 0; k < given.w.size(); ++k)
                    EXPECT_LE(std::abs(given.w[k] - right.w[k]), bound) << k;
            }
    }
}

} // namespace
} // namespace espalier
