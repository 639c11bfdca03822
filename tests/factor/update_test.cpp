#include "factor/update.hpp"

#include <gtest/gtest.h>

#include "matrix/dense_reference.hpp"

namespace espalier {
namespace {

// Source cblk 0 has columns [0, 3) and the rows 5-6, 8, 11-12, 40-79 below. Target cblk 1 has columns [5, 10)
// and the rows 10-13 and 40-79 below. The facing cblks are not used.
BlockStructure two_cblks() {
    BlockStructure s;
    s.n = 80;
    Cblk source{0, 3, 0, 5, 3 + 2 + 1 + 2 + 40, 1, 0, 0};
    Cblk target{5, 10, 5, 8, 5 + 4 + 40, no_cblk, 0, 1};
    s.cblks = {source, target};
    s.bloks = {{0, 3, 0, 0},   {5, 7, 1, 3},  {8, 9, 1, 5},   {11, 13, 2, 6},
               {40, 80, 2, 8}, {5, 10, 1, 0}, {10, 14, 2, 5}, {40, 80, 2, 9}};
    return s;
}

// The row of the matrix of a panel row of cblk k.
Index matrix_row(BlockStructure const& s, CblkId k, Index panel_row) {
    Cblk const& cblk = s.cblks[k];
    for (BlokId b = cblk.first_blok; b < cblk.end_blok; ++b) {
        Blok const& blok = s.bloks[b];
        if (panel_row < blok.panel_row + blok.height()) return blok.first_row + panel_row - blok.panel_row;
    }
    return -1;
}

TEST(RowRuns, FollowBothPanels) {
    auto const s = two_cblks();
    UpdateWorkspace<double> workspace;
    find_row_runs(s, facing_group(s, 0, 1), {}, workspace);
    std::vector<std::array<Index, 3>> runs;
    for (RowRun const& run : workspace.runs) runs.push_back({run.source_row, run.target_row, run.height});
    // Rows 8 (panel row 3 of the target) and 11 (panel row 6) are not adjacent in the target. Neither are
    // rows 12 and 40.
    EXPECT_EQ(runs, (std::vector<std::array<Index, 3>>{{3, 0, 2}, {5, 3, 1}, {6, 6, 2}, {8, 9, 40}}));
}

template <class T> void compare_with_dense(RowsFrom rows_from, Op op, bool upper_target) {
    auto const s = two_cblks();
    Cblk const& source = s.cblks[0];
    Cblk const& target = s.cblks[1];
    auto a = test::random_vector<T>(source.stride * 3, 1);
    auto b = test::random_vector<T>(source.stride * 3, 2);
    Index const skip = upper_target ? target.width() : 0;
    Index const rows = target.stride - skip;
    auto c = test::random_vector<T>(rows * target.width(), 3);
    auto const before = c;
    MatrixView<T> const av{a.data(), source.stride, 3, source.stride};
    MatrixView<T> const bv{b.data(), source.stride, 3, source.stride};
    MatrixView<T> const cv{c.data(), rows, target.width(), rows};
    UpdateWorkspace<T> workspace;
    auto const group = facing_group(s, 0, 1);
    find_row_runs(s, group, {}, workspace);
    subtract_contribution<T>(s, group, {av, 0}, {bv, 0}, op, rows_from, {cv, skip}, workspace);

    Index const first_row = rows_from == RowsFrom::group_end ? 6 : 3; // panel rows of the source
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < target.width(); ++j) {
            T expected = before[static_cast<std::size_t>(i + j * rows)];
            bool scratch = false; // above the diagonal of a symmetric target, where any value is correct
            for (Index r = first_row; r < source.stride; ++r)
                for (Index q = 3; q < 6; ++q) {
                    if (matrix_row(s, 0, r) != matrix_row(s, 1, i + skip) ||
                        matrix_row(s, 0, q) != target.first_col + j)
                        continue;
                    if (rows_from == RowsFrom::column && r < q) scratch = true;
                    for (Index p = 0; p < 3; ++p) expected -= av(r, p) * conj_if(op == Op::adjoint, bv(q, p));
                }
            if (scratch) continue;
            EXPECT_NEAR(std::abs(cv(i, j) - expected), 0, 20 * static_cast<double>(epsilon<T>))
                << i << ", " << j;
        }
}

TEST(Contribution, MatchesDenseForSymmetricTargets) {
    compare_with_dense<double>(RowsFrom::column, Op::transpose, false);
    compare_with_dense<float>(RowsFrom::column, Op::transpose, false);
    compare_with_dense<std::complex<double>>(RowsFrom::column, Op::adjoint, false);
    compare_with_dense<std::complex<float>>(RowsFrom::column, Op::transpose, false);
}

TEST(Contribution, MatchesDenseForBothSidesOfLu) {
    compare_with_dense<double>(RowsFrom::group_begin, Op::transpose, false);
    compare_with_dense<double>(RowsFrom::group_end, Op::transpose, true);
    compare_with_dense<std::complex<double>>(RowsFrom::group_begin, Op::transpose, false);
    compare_with_dense<std::complex<double>>(RowsFrom::group_end, Op::transpose, true);
}

} // namespace
} // namespace espalier
