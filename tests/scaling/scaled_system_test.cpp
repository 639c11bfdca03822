#include "scaling/scaled_system.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "generators/generators.hpp"
#include "matrix/spmv.hpp"

namespace espalier {
namespace {

CscMatrix<double> dense(std::vector<std::vector<double>> const& rows) {
    CscMatrix<double> a;
    a.rows = a.cols = static_cast<Index>(rows.size());
    a.col_ptr.clear();
    for (std::size_t j = 0; j < rows.size(); ++j) {
        a.col_ptr.push_back(static_cast<Offset>(a.values.size()));
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (rows[i][j] != 0) {
                a.row_ind.push_back(static_cast<Index>(i));
                a.values.push_back(rows[i][j]);
            }
    }
    a.col_ptr.push_back(static_cast<Offset>(a.values.size()));
    return a;
}

TEST(ScaledSystem, LeavesAWellScaledMatrixAlone) {
    auto const lap = std::get<CscMatrix<double>>(generate_matrix("lap2d:5").matrix);
    EXPECT_TRUE(ScaledSystem<double>(lap, {.kind = Factorization::llh}).is_identity());
    EXPECT_TRUE(ScaledSystem<double>(lap, {.kind = Factorization::ldlt}).is_identity());
    EXPECT_FALSE(
        ScaledSystem<double>(lap, {.kind = Factorization::lu}).is_identity()); // both triangles are wanted
    EXPECT_FALSE(ScaledSystem<double>(lap, {.kind = Factorization::lu}).is_scaled());
}

TEST(ScaledSystem, BringsTheMatchedEntriesOntoTheDiagonal) {
    auto const a = dense({{0, 4, 0}, {0, 1e-9, 2e6}, {1e-4, 0, 3}});
    ScaledSystem<double> const system(a, {.kind = Factorization::lu});
    ASSERT_TRUE(system.is_permuted());
    auto const b = system.apply(a);
    b.validate();
    for (Index j = 0; j < 3; ++j) {
        double diagonal = 0, largest = 0;
        for (Offset p = b.col_ptr[j]; p < b.col_ptr[j + 1]; ++p) {
            double const value = std::abs(b.values[p]);
            largest = std::max(largest, value);
            if (b.row_ind[p] == j) diagonal = value;
        }
        EXPECT_GE(diagonal, 0.5); // 1 but for the rounding of scales to powers of two
        EXPECT_LE(largest, 2);
    }
}

TEST(ScaledSystem, IsTheSameSystem) {
    // A x = b  <=>  B y = P R b with x = C y.
    auto const a = dense({{0, 4, 0}, {0, 1e-9, 2e6}, {1e-4, 0, 3}});
    ScaledSystem<double> const system(a, {.kind = Factorization::lu});
    std::vector<double> const x{3, -2, 0.5, 1, 2, 3}; // two columns
    std::vector<double> b(6), left(6);
    multiply<double>(MatrixOp::none, 1.0, a, x, 0.0, b, 2);
    system.to_working(b, 2);
    std::vector<double> y = x;
    system.solution_to_working(y, 2);
    multiply<double>(MatrixOp::none, 1.0, system.apply(a), y, 0.0, left, 2);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(left[i], b[i], 1e-15 * std::abs(b[i]));
    system.from_working(y, 2);
    EXPECT_EQ(y, x);
}

TEST(ScaledSystem, NamesTheStructuralRank) {
    auto const a = dense({{1, 1, 1}, {0, 0, 1}, {0, 0, 1}});
    try {
        ScaledSystem<double> const system(a, {.kind = Factorization::lu});
        FAIL();
    } catch (Error const& error) {
        EXPECT_EQ(error.status(), Status::singular);
        EXPECT_NE(std::string(error.what()).find("structural rank is 2 of 3"), std::string::npos)
            << error.what();
    }
}

} // namespace
} // namespace espalier
