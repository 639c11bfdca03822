// The interpretation of Matrix Market files.
#include <map>

#include <fmt/format.h>

#include "reading.hpp"

namespace espalier {
namespace {

using namespace reading;

TEST(ReadMatrixMarket, GeneralRealMatrixIsReadUnchanged) {
    auto const m = parse(coordinate("real general", "% a comment\n\n2 3 3\n1 1 1.5\n2 1 -2\n1 3 4e-3\n"));
    EXPECT_EQ(dense(m), (Rows{{1.5, 0, 4e-3}, {-2, 0, 0}}));
    EXPECT_EQ(symmetry_of(m), Symmetry::general);
    EXPECT_EQ(m.description.name, "test.mtx");
    EXPECT_EQ(m.description.format, "Matrix Market");
    EXPECT_EQ(m.description.declared, "coordinate real general");
    EXPECT_EQ(m.description.entries_in_file, 3);
    EXPECT_TRUE(m.description.notes.empty());
}

TEST(ReadMatrixMarket, BannerIsCaseInsensitiveAndLayoutIsFree) {
    auto const m = parse("%%matrixmarket MATRIX Coordinate Double GENERAL\r\n%c\r\n\r\n  2\t2 2 \r\n\r\n 1 1 "
                         " 1 \r\n% c\r\n\t2 1 3\r\n\r\n");
    EXPECT_EQ(dense(m), (Rows{{1, 0}, {3, 0}}));
}

TEST(ReadMatrixMarket, ByteOrderMarkIsSkipped) {
    EXPECT_EQ(dense(parse("\xEF\xBB\xBF" + coordinate("real general", "1 2 1\n1 2 7"))), (Rows{{0, 7}}));
}

TEST(ReadMatrixMarket, EmptyMatricesAreRead) {
    EXPECT_TRUE(dense(parse(coordinate("real general", "0 0 0\n"))).empty());
    EXPECT_TRUE(dense(parse(coordinate("real symmetric", "0 0 0"))).empty());
    EXPECT_EQ(stored(parse(coordinate("real general", "5 3 0\n"))), 0);
}

constexpr auto general = Symmetry::general;
constexpr auto symmetric = Symmetry::symmetric;
constexpr auto hermitian = Symmetry::hermitian;

/// Reads a coordinate file; `note` is a part of one of its notes, or empty if there must be none.
void expect_matrix(std::string const& words, std::string const& body, Rows const& rows, Symmetry symmetry,
                   Offset num_stored, std::string const& note = "") {
    SCOPED_TRACE(words + "\n" + body);
    auto const m = parse(coordinate(words, body));
    EXPECT_EQ(dense(m), rows);
    EXPECT_EQ(symmetry_of(m), symmetry);
    EXPECT_EQ(stored(m), num_stored);
    EXPECT_EQ(is_complex_matrix(m), words.starts_with("complex"));
    if (note.empty())
        EXPECT_TRUE(m.description.notes.empty());
    else
        EXPECT_TRUE(has_note(m, note));
}

TEST(ReadMatrixMarket, NumbersOfEachFieldAreRead) {
    expect_matrix("real general", "1 2 1\n1 2 7", {{0, 7}}, general, 1); // No newline at the end.
    expect_matrix("real general", "1 6 6\n1 1 1.5D+02\n1 +2 +2\n1 3 -1d0\n1 4 .5\n1 5 5.\n1 6 +1.E-2\n",
                  {{150, 2, -1, 0.5, 5, 0.01}}, general, 6);
    // Values too small for a double become zero.
    expect_matrix("real general", "1 3 3\n1 1 1e-400\n1 2 -1D-999999999999\n1 3 4.9e-324\n",
                  {{0, 0, 4.9e-324}}, general, 3);
    expect_matrix("integer general", "1 2 2\n1 1 -7\n1 2 +12\n", {{-7, 12}}, general, 2);
    expect_matrix("pattern symmetric", "2 2 2\n1 1\n2 1\n", {{1, 1}, {1, 0}}, symmetric, 2,
                  "every value is 1");
    expect_matrix("complex general", "1 2 2\n1 1 1 0\n1 2 2 0\n", {{1, 2}}, general, 2);
}

TEST(ReadMatrixMarket, ArraysAreReadWithoutTheirZeros) {
    auto const array = [](std::string const& words, std::string const& body) {
        return parse("%%MatrixMarket matrix array " + words + "\n" + body);
    };
    auto const whole = array("real general", "2 3\n1\n0\n-2\n3\n0\n0\n");
    EXPECT_EQ(dense(whole), (Rows{{1, -2, 0}, {0, 3, 0}}));
    EXPECT_EQ(stored(whole), 3);
    EXPECT_EQ(whole.description.entries_in_file, 6);
    EXPECT_TRUE(has_note(whole, "a dense array; 3 zeros are not stored"));

    auto const lower = array("integer symmetric", "3 3\n4\n-1\n0\n5\n2\n6\n");
    EXPECT_EQ(dense(lower), (Rows{{4, -1, 0}, {-1, 5, 2}, {0, 2, 6}}));
    EXPECT_EQ(symmetry_of(lower), Symmetry::symmetric);
    EXPECT_TRUE(has_note(array("real general", "1 2\n1\n2\n"), "a dense array"));
    EXPECT_EQ(dense(array("real skew-symmetric", "3 3\n1\n2\n3\n")),
              (Rows{{0, -1, -2}, {1, 0, -3}, {2, 3, 0}}));
    auto const one = array("complex hermitian", "2 2\n2 0\n0 0\n7 0\n");
    EXPECT_EQ(dense(one), (Rows{{2, 0}, {0, 7}}));
    EXPECT_TRUE(has_note(one, "a dense array; 1 zero is not stored"));
    EXPECT_TRUE(is_complex_matrix(one));
    EXPECT_TRUE(dense(array("real general", "0 0\n")).empty());
}

TEST(ReadSymmetry, EitherTriangleOrBothMayBeStored) {
    expect_matrix("real symmetric", "2 2 3\n1 1 4\n2 1 -1\n2 2 5\n", {{4, -1}, {-1, 5}}, symmetric, 3);
    expect_matrix("real symmetric", "3 3 4\n1 1 4\n1 2 -1\n1 3 2\n2 3 7\n",
                  {{4, -1, 2}, {-1, 0, 7}, {2, 7, 0}}, symmetric, 4, "upper triangle");
    expect_matrix("real symmetric", "3 3 3\n1 2 -1\n3 1 2\n2 3 7\n", {{0, -1, 2}, {-1, 0, 7}, {2, 7, 0}},
                  symmetric, 3, "either triangle");
    expect_matrix("real symmetric", "2 2 4\n1 1 4\n2 1 -1\n1 2 -1\n2 2 5\n", {{4, -1}, {-1, 5}}, symmetric, 3,
                  "both triangles");
    // Duplicates are summed before the triangles are compared.
    expect_matrix("real symmetric", "2 2 4\n2 1 1\n2 1 2\n1 2 3\n1 1 1\n", {{1, 3}, {3, 0}}, symmetric, 2,
                  "both triangles");
}

TEST(ReadSymmetry, HermitianAndSkewSymmetricHalvesAreCompleted) {
    expect_matrix("complex hermitian", "2 2 2\n1 1 2 0\n1 2 3 4\n", {{2, {3, 4}}, {{3, -4}, 0}}, hermitian, 2,
                  "upper triangle");
    expect_matrix("real hermitian", "2 2 1\n2 1 3\n", {{0, 3}, {3, 0}}, symmetric, 1);
    expect_matrix("complex symmetric", "2 2 2\n1 1 2 1\n2 1 3 4\n", {{{2, 1}, {3, 4}}, {{3, 4}, 0}},
                  symmetric, 2);
    expect_matrix("real skew-symmetric", "3 3 3\n2 1 5\n1 3 7\n3 3 0\n", {{0, -5, 7}, {5, 0, 0}, {-7, 0, 0}},
                  general, 5, "skew-symmetric");
}

TEST(ReadSymmetry, SymmetryOfAGeneralFileIsRecognized) {
    expect_matrix("real general", "3 3 5\n1 1 4\n3 1 -1\n2 2 1\n1 3 -1\n3 3 5\n",
                  {{4, 0, -1}, {0, 1, 0}, {-1, 0, 5}}, symmetric, 4,
                  "declared general; values are symmetric");
    expect_matrix("complex general", "2 2 3\n1 1 4 0\n2 1 1 2\n1 2 1 -2\n", {{4, {1, -2}}, {{1, 2}, 0}},
                  hermitian, 2, "declared general; values are Hermitian");
}

TEST(ReadSymmetry, OneDifferenceKeepsAMatrixGeneral) {
    // The difference is an entry above or below the diagonal, a value, or on the diagonal of a Hermitian
    // matrix.
    EXPECT_EQ(symmetry_of(parse(coordinate("real general", "3 3 2\n1 1 4\n1 3 -1\n"))), general);
    EXPECT_EQ(symmetry_of(parse(coordinate("real general", "3 3 2\n1 1 4\n3 1 -1\n"))), general);
    EXPECT_EQ(symmetry_of(parse(coordinate("real general", "3 3 2\n1 3 -1\n3 1 -2\n"))), general);
    EXPECT_EQ(symmetry_of(parse(coordinate("complex general", "2 2 3\n1 1 4 1\n2 1 1 2\n1 2 1 -2\n"))),
              general);
}

TEST(ReadSymmetry, ContradictionsAreErrors) {
    EXPECT_EQ(
        parse_error(coordinate("real symmetric", "3 3 2\n3 1 1.5\n1 3 2.5\n")),
        "bad_input: test.mtx: contradictory entries of a symmetric matrix: (3, 1) = 1.5 but (1, 3) = 2.5");
    EXPECT_EQ(parse_error(coordinate("complex hermitian", "2 2 2\n2 1 1 1\n1 2 1 1\n")),
              "bad_input: test.mtx: contradictory entries of a Hermitian matrix: (2, 1) = 1+1i but (1, 2) = "
              "1+1i");
    EXPECT_EQ(parse_error(coordinate("complex hermitian", "2 2 1\n2 2 3 -4\n")),
              "bad_input: test.mtx: the matrix is declared Hermitian, but its diagonal entry (2, 2) = 3-4i "
              "is not real");
    EXPECT_EQ(parse_error(coordinate("real skew-symmetric", "2 2 1\n2 2 1\n")),
              "bad_input: test.mtx: the matrix is declared skew-symmetric, but its diagonal entry (2, 2) = 1 "
              "is not zero");
}

TEST(ReadMatrixMarket, DuplicatesAreSummedAndCounted) {
    auto const m = parse(coordinate("real general", "2 3 5\n2 1 1\n1 2 5\n2 1 2\n2 1 4\n1 1 8\n"));
    EXPECT_EQ(dense(m), (Rows{{8, 5, 0}, {7, 0, 0}}));
    EXPECT_EQ(m.description.duplicates_summed, 2);
    EXPECT_EQ(m.description.entries_in_file, 5);
}

// The file is large enough to be parsed in several pieces.
TEST(ReadMatrixMarket, ThreadsDoNotChangeTheResult) {
    std::mt19937 random(1);
    std::map<std::pair<int, int>, double> expected;
    std::string body = "300 200 60000\n";
    for (int k = 0; k < 60000; ++k) {
        int const i = static_cast<int>(random() % 300), j = static_cast<int>(random() % 200);
        double const value = static_cast<double>(random()) / 1e3;
        expected[{i, j}] += value;
        body += fmt::format("{} {} {}\n", i + 1, j + 1, value);
        if (k % 1000 == 0) body += "\n% a comment\n";
    }
    auto const one = parse(coordinate("real general", body), 1);
    auto const four = parse(coordinate("real general", body), 4);
    auto const& a = std::get<0>(one.matrix);
    auto const& b = std::get<0>(four.matrix);
    EXPECT_EQ(a.col_ptr, b.col_ptr);
    EXPECT_EQ(a.row_ind, b.row_ind);
    EXPECT_EQ(a.values, b.values);
    EXPECT_EQ(one.description.duplicates_summed, 60000 - static_cast<Offset>(expected.size()));
    auto const full = dense(four);
    for (auto const& [position, value] : expected) EXPECT_EQ(full[position.first][position.second], value);
}

TEST(ReadDense, ArraysAreReadByColumnsAndCoordinateFilesAreFilledWithZeros) {
    auto const real = [](std::string const& text) {
        return std::get<DenseMatrix<double>>(parse_dense(text, "b.mtx", 1));
    };
    auto const b = real("%%MatrixMarket matrix array real general\n% b\n2 2\n1\n2\n\n3\n4\n");
    EXPECT_EQ(b.rows, 2);
    EXPECT_EQ(b.cols, 2);
    EXPECT_EQ(b.values, (std::vector<double>{1, 2, 3, 4}));
    EXPECT_EQ(real("%%MatrixMarket matrix array integer general\n2 1\n-1\n2\n").values,
              (std::vector<double>{-1, 2}));
    auto const complex = parse_dense("%%MatrixMarket matrix array complex general\n1 1\n1 -2\n", "b.mtx", 1);
    EXPECT_EQ(std::get<DenseMatrix<Complex>>(complex).values, (std::vector<Complex>{{1, -2}}));
    EXPECT_EQ(real(coordinate("real general", "3 2 3\n3 1 5\n1 2 7\n1 2 1\n")).values,
              (std::vector<double>{0, 0, 5, 8, 0, 0}));
}

TEST(ReadDense, ByteOrderMarkIsSkipped) {
    auto const b =
        parse_dense("\xEF\xBB\xBF%%MatrixMarket matrix array real general\n2 1\n3\n4\n", "b.mtx", 1);
    EXPECT_EQ(std::get<DenseMatrix<double>>(b).values, (std::vector<double>{3, 4}));
}

TEST(ReadDense, ThreadsDoNotChangeTheResult) {
    std::string text = "%%MatrixMarket matrix array real general\n150000 1\n";
    std::vector<double> expected;
    for (int k = 0; k < 150000; ++k) {
        expected.push_back(k * 0.125);
        text += fmt::format("{}\n", expected.back());
    }
    EXPECT_EQ(std::get<DenseMatrix<double>>(parse_dense(text, "b.mtx", 3)).values, expected);
}

} // namespace
} // namespace espalier
