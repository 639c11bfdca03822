// Compares sparse right-hand sides with dense ones, and checks which part of the tree they visit.
#include "solve/solve_sparse.hpp"

#include <gtest/gtest.h>

#include "solve/sparse_block.hpp"
#include "solve/system.hpp"

namespace espalier {
namespace {

using namespace testing;

// Columns of at most `most` random entries. Every third column is empty.
template <class T> CscMatrix<T> random_columns(Index n, Index nrhs, int most, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<Index> row(0, n - 1);
    CscMatrix<T> b{n, nrhs, Symmetry::general, {0}, {}, {}};
    for (Index j = 0; j < nrhs; ++j) {
        std::set<Index> rows;
        for (int i = 0; i < most && j % 3 != 2; ++i) rows.insert(row(random));
        for (Index const r : rows) {
            b.row_ind.push_back(r);
            b.values.push_back(random_scalar<T>(random));
        }
        b.col_ptr.push_back(static_cast<Offset>(b.row_ind.size()));
    }
    return b;
}

template <class T> class SparseSolveTyped : public ::testing::Test {};
using RealAndComplex = ::testing::Types<float, std::complex<double>>;
TYPED_TEST_SUITE(SparseSolveTyped, RealAndComplex);

TYPED_TEST(SparseSolveTyped, AgreesWithTheDenseSolve) {
    using T = TypeParam;
    Index const n = 120;
    for (Factorization const kind : all_factorizations) {
        auto const a = random_system<T>(kind, n, 11);
        Factorized<T> f(a, kind, 2);
        for (MatrixOp const op : all_ops)
            for (Index const nrhs : {1, 3, 150}) {
                auto const b = random_columns<T>(n, nrhs, 2, 5);
                auto expected = to_dense(b).values;
                solve<T>(f.factor, f.plan, f.view(expected), f.team, {op, nullptr});
                std::vector<T> x(expected.size(), std::numeric_limits<Real<T>>::quiet_NaN());
                solve_sparse<T>(f.factor, f.plan, b, f.view(x), f.team, {op, nullptr});
                // Columns are grouped into other blocks, so rounding differs.
                ASSERT_LE(difference(x, expected), 1e4 * epsilon<T>)
                    << to_string(kind) << ", op " << to_string(op) << ", " << nrhs << " columns";
            }
    }
}

TEST(SparseSolve, GivesTheBitsOfTheDenseSolveForOneColumn) {
    auto const a = real("lap3d:8");
    Factorized<double> f(a, Factorization::llh, 2);
    auto const b = random_columns<double>(a.cols, 1, 3, 1);
    auto expected = to_dense(b).values;
    solve<double>(f.factor, f.plan, f.view(expected), f.team);
    std::vector<double> x(expected.size());
    solve_sparse<double>(f.factor, f.plan, b, f.view(x), f.team);
    EXPECT_EQ(x, expected);
}

// Small trees of a forest are one branch. A right-hand side may reach some of them only.
TEST(SparseSolve, ReachesSingleTreesOfAForest) {
    Index const rows_of_tree = 25, n = 40 * rows_of_tree;
    auto const a = matrix_of(n, Symmetry::symmetric, [=](Index i, Index j) {
        return i == j ? 2.5 : i == j + 1 && i % rows_of_tree != 0 ? -1.0 : 0.0;
    });
    for (int const threads : {1, 2}) {
        Factorized<double> f(a, Factorization::ldlt, threads, threads);
        for (Index const row : {Index(0), Index(3 * rows_of_tree + 7), n / 2, n - 1}) {
            CscMatrix<double> const b{n, 1, Symmetry::general, {0, 1}, {row}, {1.0}};
            auto expected = to_dense(b).values;
            solve<double>(f.factor, f.plan, f.view(expected), f.team);
            std::vector<double> x(expected.size());
            solve_sparse<double>(f.factor, f.plan, b, f.view(x), f.team);
            EXPECT_EQ(x, expected) << "row " << row << ", " << threads << " threads";
        }
    }
}

// Marks the pattern of L column by column, as Gilbert and Peierls do.
TEST(SparseSolve, ReachesTheUnknownsThatThePatternOfLReaches) {
    auto const a = real("lap2d:20");
    auto const structure = System<double>(a, Factorization::llh, 1).structure;
    auto const b = random_columns<double>(a.cols, 9, 2, 3);
    auto const order = order_by_first_entry(b, structure);
    ASSERT_EQ(order.size(), 6U); // the columns that are not empty
    for (Index c = 0; c < 6; ++c) {
        auto const block = make_sparse_block(b, structure, order, c, 1);
        std::vector<char> expected(structure.cblks.size(), 0);
        for (auto const& entry : block.entries) expected[structure.cblk_of_col[entry.row]] = 1;
        for (CblkId k = 0; k < structure.num_cblks(); ++k) {
            Cblk const& cblk = structure.cblks[k];
            for (BlokId i = cblk.first_blok; expected[k] && i < cblk.end_blok; ++i)
                expected[structure.bloks[i].facing_cblk] = 1;
        }
        EXPECT_EQ(block.reached, expected);
    }
}

TEST(SparseSolve, VisitsASmallPartOfTheTree) {
    auto const a = real("lap3d:12");
    auto const structure = System<double>(a, Factorization::llh, 1).structure;
    // Unit vectors of all unknowns, in an order unrelated to the tree.
    Index const n = a.cols;
    auto const b = matrix_of(n, Symmetry::general, [n](Index i, Index j) { return i == j * 1009 % n; });
    auto const order = order_by_first_entry(b, structure);
    auto const visited = [&](Index first, Index count) {
        return std::ranges::count(make_sparse_block(b, structure, order, first, count).reached, 1);
    };
    Index together = 0, blocks = 0;
    for (Index first = 0; first < n; first += 64, ++blocks)
        together += visited(first, std::min<Index>(64, n - first));
    EXPECT_LT(together, blocks * structure.num_cblks() / 3); // neighbors share their paths
    Index path = 0;
    for (CblkId k = 0; k != no_cblk; k = structure.cblks[k].parent) ++path;
    EXPECT_EQ(visited(0, 1), path);
    EXPECT_LT(path, structure.num_cblks() / 4);
}

TEST(SparseSolve, RefusesWrongSizes) {
    auto const a = random_system<double>(Factorization::lu, 40, 2);
    Factorized<double> f(a, Factorization::lu, 1);
    std::vector<double> x(80);
    auto const status_for = [&](CscMatrix<double> const& b) {
        return status_of([&] { solve_sparse<double>(f.factor, f.plan, b, f.view(x), f.team); });
    };
    auto const good = random_columns<double>(40, 2, 3, 1);
    EXPECT_EQ(status_for(good), Status::ok);
    EXPECT_EQ(status_for(random_columns<double>(40, 3, 3, 1)), Status::usage);
    EXPECT_EQ(status_for(random_columns<double>(39, 2, 3, 1)), Status::usage);
    auto declared = good;
    declared.symmetry = Symmetry::symmetric;
    EXPECT_EQ(status_for(declared), Status::usage);
    auto outside = good;
    outside.row_ind[1] = 40;
    EXPECT_EQ(status_for(outside), Status::bad_input);
    outside.row_ind[1] = -1;
    EXPECT_EQ(status_for(outside), Status::bad_input);
}

} // namespace
} // namespace espalier
