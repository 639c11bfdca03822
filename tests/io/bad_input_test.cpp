// Invalid Matrix Market files: each error has its own message with the line number.
#include <fmt/format.h>

#include "reading.hpp"

namespace espalier {
namespace {

using namespace reading;

std::string dense_error(std::string const& text) {
    return error_of([&] { parse_dense(text, "b.mtx", 1); });
}

void expect_error(std::string const& text, std::string const& message) {
    EXPECT_EQ(parse_error(text), message);
}

// The file is a real general matrix whose entries follow the banner; `message` begins with the line.
void expect_bad_body(std::string const& body, std::string const& message) {
    expect_error(coordinate("real general", body), "bad_input: test.mtx" + message);
}

TEST(BadMatrixMarket, ErrorsOfTheBannerAreNamed) {
    expect_error("hello\n", "bad_input: test.mtx:1: not a matrix file: it has neither a %%MatrixMarket "
                            "banner nor a Rutherford-Boeing header");
    expect_error("%%MatrixMarket matrix coordinate real\n1 1 0\n",
                 "bad_input: test.mtx:1: the banner must be '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'");
    expect_error("%%MatrixMarket matrix coordinate real general extra\n1 1 0\n",
                 "bad_input: test.mtx:1: the banner must be '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'");
    expect_error("%%MatrixMarketmatrix coordinate real general extra\n1 1 0\n",
                 "bad_input: test.mtx:1: the banner must be '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'");
    expect_error("%%MatrixMarket vector coordinate real general\n1 1 0\n",
                 "bad_input: test.mtx:1: the file holds a 'vector', not a matrix");
    expect_error("%%MatrixMarket matrix sparse real general\n1 1 0\n",
                 "bad_input: test.mtx:1: 'sparse' is not a Matrix Market format (coordinate, array)");
    expect_error(
        "%%MatrixMarket matrix coordinate quaternion general\n1 1 0\n",
        "bad_input: test.mtx:1: 'quaternion' is not a Matrix Market field (real, integer, complex, pattern)");
    expect_error("%%MatrixMarket matrix coordinate real lower\n1 1 0\n",
                 "bad_input: test.mtx:1: 'lower' is not a Matrix Market symmetry (general, symmetric, "
                 "skew-symmetric, hermitian)");
    expect_error("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n",
                 "bad_input: test.mtx:1: a pattern matrix cannot be skew-symmetric");
    expect_error("%%MatrixMarket matrix array real symmetric\n2 3\n1\n1\n1\n1\n1\n",
                 "bad_input: test.mtx:2: a 2 x 3 array cannot be declared array real symmetric");
    expect_error("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1.0\n2.0\n",
                 "bad_input: test.mtx:5: the file ends after 2 of 3 entries");
    expect_error("%%MatrixMarket matrix array real general\n1 2\n1\n2\n3\n",
                 "bad_input: test.mtx:5: there are more than the declared 2 entries");
    expect_error("%%MatrixMarket matrix array real general\n0 890246917\n",
                 "bad_input: test.mtx:2: 890246917 columns for 0 entries; nearly all columns are empty");
    expect_error("%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n",
                 "bad_input: test.mtx:2: a dense 4000000000 x 4000000000 block is too large for this file");
    expect_error("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n",
                 "bad_input: test.mtx: the matrix is declared symmetric, but has 2 rows and 3 columns");
}

TEST(BadMatrixMarket, ErrorsOfTheSizeLineAreNamed) {
    expect_bad_body("% only a comment\n", ":3: the size line is missing");
    expect_bad_body("2 2\n1 1 1\n", ":2: size line (rows, columns, entries): a number is missing");
    expect_bad_body("2 2 1.0\n1 1 1\n", ":2: size line (rows, columns, entries): '1.0' is not an integer");
    expect_bad_body("2 2 1 1\n1 1 1\n", ":2: size line: unexpected '1'");
    expect_bad_body("2 -2 1\n1 1 1\n", ":2: size line: -2 is negative");
    expect_bad_body(
        "99999999999999999999 2 1\n1 1 1\n",
        ":2: size line (rows, columns, entries): '99999999999999999999' does not fit a 64-bit integer");
    expect_bad_body("99999999999999 99999999999999 1\n1 1 1\n",
                    ":2: 99999999999999 rows exceed the limit of 1099511627776");
    expect_bad_body("2 500000000000 1\n1 1 1\n",
                    ":2: 500000000000 columns for 1 entries; nearly all columns are empty");
    expect_bad_body("2 2 9000000000000000000\n1 1 1\n",
                    ":2: 9000000000000000000 entries are declared, but only 6 bytes follow");
}

TEST(BadMatrixMarket, ErrorsOfEntriesNameTheirLine) {
    expect_bad_body("3 3 2\n1 1 1.00000\n", ":4: the file ends after 1 of 2 entries");
    expect_bad_body("3 3 1\n1 1 1\n\n% c\n2 2 2\n3 3 3\n", ":6: there are more than the declared 1 entries");
    expect_bad_body("3 3 1\n0 1 1\n", ":3: row index 0 is outside 1 .. 3");
    expect_bad_body("3 3 1\n1 4 1\n", ":3: column index 4 is outside 1 .. 3");
    expect_bad_body("3 3 1\n-1 1 1\n", ":3: row index -1 is outside 1 .. 3");
    expect_bad_body("3 3 1\n1.5 1 1\n", ":3: row index: '1.5' is not an integer");
    expect_bad_body("3 3 1\n1 18446744073709551617 1\n",
                    ":3: column index: '18446744073709551617' does not fit a 64-bit integer");
    expect_bad_body("3 3 1\n1 1 \n2 2 1 \n", ":3: value: a value is missing");
    expect_bad_body("2 2 2\n1 1\n2 2\n", ":3: value: a value is missing");
    expect_bad_body("3 3 1\n1 1 1 1\n", ":3: unexpected '1' after the entry");
    expect_bad_body("3 3 1\n1 1 one\n", ":3: value: 'one' is not a number");
    expect_bad_body("3 3 1\n1 1 +-1\n", ":3: value: '+-1' is not a number");
    expect_bad_body("3 3 1\n1 1 1.5.2\n", ":3: value: '1.5.2' is not a number");
    expect_bad_body("3 3 1\n1 1 1.5-3\n", ":3: value: '1.5-3' is not a number");
    expect_bad_body("3 3 1\n1 1 1e\n", ":3: value: '1e' is not a number");
    expect_bad_body("3 3 1\n1 1 0x10\n", ":3: value: '0x10' is not a number");
    expect_bad_body("3 3 1\n1 1 nan\n", ":3: value: 'nan' is not a finite number");
    expect_bad_body("3 3 1\n1 1 -Infinity\n", ":3: value: '-Infinity' is not a finite number");
    expect_bad_body("3 3 1\n1 1 1e999\n", ":3: value: '1e999' is too large for double precision");
    expect_bad_body("3 3 1\n1 1 1\x01\x80\n", ":3: value: '1?\?' is not a number");
    expect_bad_body("3 3 2\n1 1 1e308\n1 1 1e308\n",
                    ": the sum of the duplicates of entry (1, 1) overflows a double");
    expect_error("%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 1.5\n",
                 "bad_input: test.mtx:3: value: '1.5' is not an integer");
    expect_error("%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 9223372036854775808\n",
                 "bad_input: test.mtx:3: value: '9223372036854775808' does not fit a 64-bit integer");
    expect_error("%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 1 1.000\n",
                 "bad_input: test.mtx:3: imaginary part: a value is missing");
    expect_error("%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 1 1 inf\n",
                 "bad_input: test.mtx:3: imaginary part: 'inf' is not a finite number");
    expect_error("%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1 1\n",
                 "bad_input: test.mtx:3: unexpected '1' after the entry");
}

TEST(BadMatrixMarket, LongTokensAreShortenedInMessages) {
    auto const message =
        parse_error(coordinate("real general", "1 1 1\n1 1 " + std::string(100000, 'x') + "\n"));
    EXPECT_EQ(message, "bad_input: test.mtx:3: value: '" + std::string(40, 'x') + "...' is not a number");
}

TEST(BadMatrixMarket, FirstErrorOfTheFileIsReportedForAnyNumberOfThreads) {
    std::string body = "100000 100000 100000\n";
    for (int k = 1; k <= 100000; ++k)
        body += fmt::format("{} {} {}\n", k, k, k == 30000 || k == 90000 ? "x" : "1.25");
    auto const message = "bad_input: test.mtx:30002: value: 'x' is not a number";
    for (int const threads : {1, 2, 4})
        EXPECT_EQ(parse_error(coordinate("real general", body), threads), message);
}

TEST(BadMatrixMarket, EveryTruncationIsAnErrorOrCompletes) {
    std::string const text = coordinate("real general", "3 3 3\n1 1 1.25\n2 2 -1.5e3\n3 3 7\n");
    for (std::size_t size = 0; size + 2 < text.size(); ++size)
        EXPECT_NE(parse_error(text.substr(0, size)).find("test.mtx:"), std::string::npos) << size;
    EXPECT_EQ(stored(parse(text)), 3);
}

TEST(BadDense, ErrorsAreNamed) {
    EXPECT_EQ(dense_error("1\n2\n"),
              "bad_input: b.mtx:1: not a Matrix Market file: it has no %%MatrixMarket banner");
    EXPECT_EQ(dense_error("%%MatrixMarket matrix array real general\n3 1\n1.0\n2.0\n"),
              "bad_input: b.mtx:5: the file ends after 2 of 3 entries");
    EXPECT_EQ(dense_error("%%MatrixMarket matrix array real general\n1 1\n1\n2\n"),
              "bad_input: b.mtx:4: there are more than the declared 1 entries");
    EXPECT_EQ(dense_error("%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n"),
              "bad_input: b.mtx:2: a dense 4000000000 x 4000000000 block is too large for this file");
    EXPECT_EQ(dense_error("%%MatrixMarket matrix array real symmetric\n1 1\n1\n"),
              "unsupported: b.mtx:1: right-hand sides and other dense blocks must be stored as 'general'; "
              "this array is not");
    EXPECT_EQ(dense_error("%%MatrixMarket matrix array pattern general\n1 1\n1\n"),
              "bad_input: b.mtx:1: a pattern matrix cannot be an array");
    EXPECT_EQ(dense_error("%%MatrixMarket matrix array real general\n2 1\n1\nnan\n"),
              "bad_input: b.mtx:4: value: 'nan' is not a finite number");
    EXPECT_EQ(dense_error("%%MatrixMarket matrix coordinate real general\n1000000000 1000 1\n1 1 1\n"),
              "bad_input: b.mtx:2: a dense 1000000000 x 1000 block is too large for this file");
}

} // namespace
} // namespace espalier
