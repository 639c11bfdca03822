// Scatter-subtract by runs.
#include "kernels/update.hpp"

#include "kernels/dense.hpp"

namespace espalier {
namespace {

using namespace testing;

template <class T> class Scatter : public ::testing::Test {};
TYPED_TEST_SUITE(Scatter, Scalars);

// Runs of a 20-row contribution in a 40-row panel, with gaps in the target and a run of one row.
std::vector<RowRun> const runs = {{0, 3, 5}, {5, 9, 1}, {6, 12, 10}, {16, 30, 4}};

TYPED_TEST(Scatter, SubtractsEachRunWhereItBelongs) {
    using T = TypeParam;
    auto const source = random_dense<T>(20, 6, 1);
    auto target = random_dense<T>(40, 6, 2);
    auto expected = target;
    for (auto const& run : runs)
        for (Index i = 0; i < run.height; ++i)
            for (Index j = 0; j < 6; ++j) expected(run.target_row + i, j) -= source(run.source_row + i, j);
    scatter_subtract<T>(source.view(), runs, target.view());
    EXPECT_EQ(target.values, expected.values);
}

TYPED_TEST(Scatter, OfNothingDoesNothing) {
    using T = TypeParam;
    auto const source = random_dense<T>(20, 0, 1);
    auto target = random_dense<T>(40, 2, 2);
    auto const before = target;
    scatter_subtract<T>(source.view(), runs, target.view());
    scatter_subtract<T>(random_dense<T>(20, 2, 1).view(), {}, target.view());
    EXPECT_EQ(target.values, before.values);
}

} // namespace
} // namespace espalier
