#include "distributed/parallel_product.hpp"

#include <gtest/gtest.h>

#include "matrix/dense_reference.hpp"
#include "matrix/norms.hpp"
#include "matrix/spmv.hpp"

namespace espalier {
namespace {

using test::all_ops, test::all_symmetries, test::random_vector;

// 500,000 stored entries: column j has entries in row j and in rows at the given distances from it, if they
// exist.
template <class T> CscMatrix<T> with_distances(Symmetry symmetry, std::vector<Index> const& distances) {
    Index const n = 100'000;
    CscMatrix<T> a{n, n, symmetry, {0}, {}, {}};
    for (Index j = 0; j < n; ++j) {
        for (Index const distance : distances)
            if (Index const i = j + distance; i >= 0 && i < n) a.row_ind.push_back(i);
        a.col_ptr.push_back(std::ssize(a.row_ind));
    }
    a.values = random_vector<T>(std::ssize(a.row_ind), 7);
    return a;
}

std::vector<ColumnPart> parts_of(CscMatrix<double> const& a) {
    return column_parts(a.col_ptr, a.row_ind);
}

TEST(ColumnParts, DividesColumnsByEntries) {
    auto const parts = parts_of(with_distances<double>(Symmetry::general, {-3, -1, 0, 2, 5}));
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].columns.first, 0);
    EXPECT_EQ(parts[0].columns.last, parts[1].columns.first);
    EXPECT_EQ(parts[1].columns.last, 100'000);
    EXPECT_NEAR(static_cast<double>(parts[0].columns.size()), 50000, 10);
    // Rows on one side only do not contain those of the columns.
    EXPECT_EQ(parts[0].touched, (IndexRange{parts[0].columns.last, parts[0].columns.last + 5}));
    EXPECT_EQ(parts[1].touched, (IndexRange{parts[1].columns.first - 3, parts[1].columns.first}));
}

TEST(ColumnParts, HasOnePartIfOtherRowsAreMany) {
    // Half of the rows are outside the columns of each part: 100,000 sums for 500,000 entries.
    EXPECT_EQ(parts_of(with_distances<double>(Symmetry::general, {-50'000, -1, 0, 1, 2, 50'000})).size(), 1U);
}

TEST(ColumnParts, HasOnePartIfEntriesAreFew) {
    EXPECT_EQ(parts_of(with_distances<double>(Symmetry::general, {0, 1, 2})).size(), 1U);
}

TEST(ColumnParts, HasEightPartsAtMost) {
    std::vector<Index> distances;
    for (Index distance = 0; distance < 40; ++distance) distances.push_back(distance);
    auto const parts = parts_of(with_distances<double>(Symmetry::general, distances));
    ASSERT_EQ(parts.size(), 8U);
    for (std::size_t p = 0; p + 1 < parts.size(); ++p) {
        EXPECT_EQ(parts[p].columns.last, parts[p + 1].columns.first);
        EXPECT_EQ(parts[p].touched.size(), 39);
    }
    EXPECT_TRUE(parts.back().touched.empty());
}

template <class T> class ParallelProductOf : public testing::Test {};
TYPED_TEST_SUITE(ParallelProductOf, test::Scalars);

TYPED_TEST(ParallelProductOf, BandHasTheProductOfOneThreadAndTheSameBitsForAnyNumberOfWorkers) {
    using T = TypeParam;
    WorkerTeam two(Topology::synthetic("numa:1 core:3 pu:1"), 2, false),
        three(Topology::synthetic("numa:1 core:3 pu:1"), 3, false);
    for (Symmetry const symmetry : all_symmetries) {
        auto const a =
            with_distances<T>(symmetry, symmetry == Symmetry::general ? std::vector<Index>{-40, -1, 0, 3, 9}
                                                                      : std::vector<Index>{0, 1, 2, 7, 40});
        ParallelProduct<T> product(a);
        ASSERT_EQ(column_parts(a.col_ptr, a.row_ind).size(), 2U);
        auto const x = random_vector<T>(a.cols, 1), y = random_vector<T>(a.rows, 2);
        for (MatrixOp const op : all_ops) {
            auto expected = y;
            multiply<T>(op, T(2), a, x, T(3), expected, 1);
            auto of_one = y, of_two = y, of_three = y;
            product.run(op, T(2), a, x.data(), T(3), of_one.data(), {});
            product.run(op, T(2), a, x.data(), T(3), of_two.data(),
                        {2, [&]() -> WorkerTeam& { return two; }});
            product.run(op, T(2), a, x.data(), T(3), of_three.data(),
                        {3, [&]() -> WorkerTeam& { return three; }});
            for (Index i = 0; i < a.rows; ++i)
                ASSERT_LE(std::abs(of_one[i] - expected[i]), 100 * epsilon<T>) << i;
            EXPECT_EQ(of_two, of_one);
            EXPECT_EQ(of_three, of_one);
        }
    }
}

TYPED_TEST(ParallelProductOf, FactorZeroDoesNotReadTheVector) {
    using T = TypeParam;
    auto const a = with_distances<T>(Symmetry::general, {-2, -1, 0, 1, 2});
    std::vector<T> const x(a.cols, T(1));
    std::vector<T> y(a.rows, T(std::numeric_limits<Real<T>>::quiet_NaN()));
    ParallelProduct<T>(a).run(MatrixOp::none, T(1), a, x.data(), T(0), y.data(), {});
    EXPECT_TRUE(all_finite(std::span<T const>(y)));
}

} // namespace
} // namespace espalier
