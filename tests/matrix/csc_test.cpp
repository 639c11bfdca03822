// CscMatrix and the conversions of convert.hpp.
#include <limits>

#include <gtest/gtest.h>

#include "matrix/convert.hpp"
#include "matrix/dense_reference.hpp"

using namespace espalier;
using namespace espalier::test;
using Complex = std::complex<double>;

namespace {

template <class T> class Csc : public testing::Test {};
TYPED_TEST_SUITE(Csc, Scalars);

//   [ 4  .  1 ]
//   [ 2  5  . ]
//   [ .  .  6 ]
CscMatrix<double> example() {
    return {3, 3, Symmetry::general, {0, 2, 3, 5}, {0, 1, 1, 0, 2}, {4, 2, 5, 1, 6}};
}

//   [ 4  2  . ]
//   [ 2  .  3 ]   lower triangle stored
//   [ .  3  6 ]
CscMatrix<double> triangle() {
    return {3, 3, Symmetry::symmetric, {0, 2, 3, 4}, {0, 1, 2, 2}, {4, 2, 3, 6}};
}

void expect_rejected(CscMatrix<double> const& a, char const* words) {
    std::string message;
    EXPECT_EQ(status_of([&] { a.validate(); }, &message), Status::bad_input);
    EXPECT_NE(message.find(words), std::string::npos) << message;
}

} // namespace

TYPED_TEST(Csc, NnzCountsBothTrianglesOfASymmetricMatrix) {
    for (Symmetry const symmetry : all_symmetries) {
        auto const a = random_matrix<TypeParam>(12, 12, symmetry, 0.4, 3);
        Offset expected = 0;
        for (TypeParam const value : to_dense(a).values) expected += value != TypeParam(0);
        EXPECT_EQ(a.nnz(), expected);
        EXPECT_NO_THROW(a.validate());
    }
}

TEST(Csc, EmptyMatrixIsValid) {
    CscMatrix<double> const a;
    EXPECT_NO_THROW(a.validate());
    EXPECT_EQ(a.nnz(), 0);
}

TEST(Csc, ValidateNamesEachBrokenInvariant) {
    EXPECT_NO_THROW(example().validate());
    EXPECT_NO_THROW(triangle().validate());
    auto broken = [](auto change, bool symmetric = false) {
        auto a = symmetric ? triangle() : example();
        change(a);
        return a;
    };
    using M = CscMatrix<double>;
    expect_rejected(broken([](M& a) { a.rows = -1; }), "negative size");
    expect_rejected(broken([](M& a) { a.rows = 4; }, true), "must be square");
    expect_rejected(broken([](M& a) { a.col_ptr.clear(); }), "col_ptr has 0 entries");
    expect_rejected(broken([](M& a) { a.col_ptr.pop_back(); }), "col_ptr has 3 entries");
    expect_rejected(broken([](M& a) { a.cols = std::numeric_limits<Index>::max(); }),
                    "col_ptr has 4 entries");
    expect_rejected(broken([](M& a) { a.col_ptr[0] = 1; }), "starts with 1");
    expect_rejected(broken([](M& a) { a.col_ptr[1] = 4; }), "decreases from 4 to 3 at column 1");
    expect_rejected(broken([](M& a) { a.col_ptr[3] = 1000; }), "row_ind has 5 entries; col_ptr needs 1000");
    expect_rejected(broken([](M& a) { a.values.pop_back(); }), "values has 4 entries");
    expect_rejected(broken([](M& a) { a.row_ind[1] = 3; }), "row 3 in column 0 is outside 0 .. 2");
    expect_rejected(broken([](M& a) { a.row_ind[0] = -7; }), "row -7 in column 0");
    expect_rejected(broken([](M& a) { a.row_ind[1] = 0; }), "row 0 appears twice in column 0");
    expect_rejected(broken([](M& a) { std::swap(a.row_ind[3], a.row_ind[4]); }), "not sorted: 0 follows 2");
    expect_rejected(broken([](M& a) { a.row_ind[2] = 0; }, true),
                    "row 0, column 1 (counted from 0) is above");
    expect_rejected(broken([](M& a) { a.values[4] = std::nan(""); }),
                    "row 2, column 2 (counted from 0) is NaN");
    expect_rejected(broken([](M& a) { a.values[1] = -INFINITY; }),
                    "row 1, column 0 (counted from 0) is infinite");
}

TEST(Csc, ValidateRequiresARealDiagonalOfAHermitianMatrix) {
    CscMatrix<Complex> a{2, 2, Symmetry::hermitian, {0, 2, 3}, {0, 1, 1}, {{1, 0}, {2, 3}, {4, 0}}};
    EXPECT_NO_THROW(a.validate());
    a.values[2] = {4, 1e-30};
    EXPECT_EQ(status_of([&] { a.validate(); }), Status::bad_input);
    a.symmetry = Symmetry::symmetric;
    EXPECT_NO_THROW(a.validate());
    a.values[1] = {0, std::nan("")};
    EXPECT_EQ(status_of([&] { a.validate(); }), Status::bad_input);
}

TYPED_TEST(Csc, ExpandSymmetricFillsBothTriangles) {
    for (Symmetry const symmetry : all_symmetries) {
        auto const a = random_matrix<TypeParam>(15, 15, symmetry, 0.3, 5);
        auto const full = expand_symmetric(a);
        EXPECT_NO_THROW(full.validate());
        EXPECT_EQ(full.symmetry, Symmetry::general);
        EXPECT_EQ(full.stored(), a.nnz());
        EXPECT_EQ(to_dense(full).values, to_dense(a).values);
    }
}

TYPED_TEST(Csc, LowerTriangleUndoesExpandSymmetric) {
    for (Symmetry const symmetry : {Symmetry::symmetric, Symmetry::hermitian}) {
        auto const a = random_matrix<TypeParam>(15, 15, symmetry, 0.3, 6);
        for (auto const& lower :
             {lower_triangle(expand_symmetric(a), symmetry), lower_triangle(a, symmetry)}) {
            EXPECT_EQ(lower.symmetry, symmetry);
            EXPECT_EQ(lower.col_ptr, a.col_ptr);
            EXPECT_EQ(lower.row_ind, a.row_ind);
            EXPECT_EQ(lower.values, a.values);
        }
    }
}

TEST(Csc, LowerTriangleRejectsContradictions) {
    EXPECT_EQ(status_of([] { lower_triangle(example(), Symmetry::general); }), Status::usage);
    EXPECT_EQ(status_of([] { lower_triangle(triangle(), Symmetry::hermitian); }), Status::usage);
    auto const wide = random_matrix<double>(3, 4, Symmetry::general, 0.5, 1);
    EXPECT_EQ(status_of([&] { lower_triangle(wide, Symmetry::symmetric); }), Status::bad_input);
}

TYPED_TEST(Csc, TransposeExchangesRowsAndColumns) {
    for (Symmetry const symmetry : all_symmetries) {
        auto const a = random_matrix<TypeParam>(symmetry == Symmetry::general ? 9 : 13, 13, symmetry, 0.3, 7);
        auto const t = transpose(a);
        EXPECT_NO_THROW(t.validate());
        auto const dense = to_dense(a), transposed = to_dense(t);
        ASSERT_EQ(transposed.rows, 13);
        for (Index j = 0; j < a.cols; ++j)
            for (Index i = 0; i < a.rows; ++i) EXPECT_EQ(transposed(j, i), dense(i, j));
    }
}

TEST(Csc, ConvertKeepsPatternSymmetryAndValues) {
    auto const a = triangle();
    auto const z = convert<Complex>(a);
    EXPECT_EQ(z.symmetry, Symmetry::symmetric);
    EXPECT_EQ(z.row_ind, a.row_ind);
    EXPECT_EQ(z.col_ptr, a.col_ptr);
    EXPECT_EQ(z.values, (std::vector<Complex>{4, 2, 3, 6}));
    EXPECT_EQ(convert<float>(a).values, (std::vector<float>{4, 2, 3, 6}));
    CscMatrix<Complex> h{1, 1, Symmetry::hermitian, {0, 1}, {0}, {{0.5, 0}}};
    EXPECT_EQ(convert<std::complex<float>>(h).symmetry, Symmetry::hermitian);
}

TEST(Csc, ConvertRejectsComplexToReal) {
    CscMatrix<Complex> const a{1, 1, Symmetry::general, {0, 1}, {0}, {{2, 0}}};
    EXPECT_EQ(status_of([&] { convert<double>(a); }), Status::usage);
    EXPECT_EQ(status_of([&] { convert<float>(a); }), Status::usage);
    EXPECT_EQ(status_of([] { convert<double>(DenseMatrix<Complex>{1, 1, {{2, 0}}}); }), Status::usage);
}

TEST(Csc, ConvertNamesTheEntryThatOverflows) {
    auto a = example();
    a.values[3] = -1e39; // row 0, column 2
    std::string message;
    EXPECT_EQ(status_of([&] { convert<float>(a); }, &message), Status::bad_input);
    EXPECT_NE(message.find("row 0, column 2"), std::string::npos) << message;
    EXPECT_EQ(status_of([&] { convert<std::complex<float>>(a); }), Status::bad_input);
    EXPECT_EQ(status_of([] { convert<float>(DenseMatrix<double>{2, 1, {1, 1e300}}); }, &message),
              Status::bad_input);
    EXPECT_NE(message.find("row 1, column 0"), std::string::npos) << message;
}
