// Harwell-Boeing and Rutherford-Boeing files and their Fortran formats.
#include <fmt/format.h>

#include "io/fixed_section.hpp"
#include "reading.hpp"

namespace espalier {
namespace {

using namespace reading;

// A file with the given sections and a header with matching line counts.
struct Sample {
    std::string type;
    int rows = 0, cols = 0, entries = 0;
    std::string pointer_format = "(4I3)", index_format = "(4I3)", value_format = "(3E10.2)";
    std::vector<std::string> pointers, indices, values;
    std::vector<std::string> right_hand_sides; // The first one is the header line that declares them.
    bool harwell = false;

    [[nodiscard]] std::string text() const {
        auto const total = pointers.size() + indices.size() + values.size();
        std::string result = fmt::format("{:<72}{:<8}\n", "A sample for the tests", "SAMPLE");
        result += fmt::format("{:14}{:14}{:14}{:14}", total, pointers.size(), indices.size(), values.size());
        if (harwell)
            result += fmt::format("{:14}", right_hand_sides.empty() ? 0 : right_hand_sides.size() - 1);
        result += fmt::format("\n{:<14}{:14}{:14}{:14}{:14}\n", type, rows, cols, entries, 0);
        result += fmt::format("{:<16}{:<16}{:<20}\n", pointer_format, index_format,
                              type[0] == 'p' ? "" : value_format);
        std::size_t k = 0;
        if (!right_hand_sides.empty()) result += right_hand_sides[k++] + "\n";
        for (auto const* section : {&pointers, &indices, &values})
            for (auto const& line : *section) result += line + "\n";
        for (; k < right_hand_sides.size(); ++k) result += right_hand_sides[k] + "\n";
        return result;
    }
};

Sample sample_of(std::string type, int rows, int cols, int entries, std::string const& pointers) {
    Sample s;
    s.type = std::move(type);
    s.rows = rows;
    s.cols = cols;
    s.entries = entries;
    s.pointers = {pointers};
    return s;
}

//  1  0  4
//  0  3  0
//  2  0  5
Sample unsymmetric() {
    auto s = sample_of("rua", 3, 3, 5, "  1  3  4  6");
    s.indices = {"  1  3  2  1", "  3"};
    s.values = {"  1.00E+00  2.00E+00  3.00E+00", "  4.00E+00  5.00E+00"};
    return s;
}

Rows const unsymmetric_values{{1, 0, 4}, {0, 3, 0}, {2, 0, 5}};

TEST(HarwellBoeing, RealUnsymmetricIsRead) {
    auto const m = parse(unsymmetric().text());
    EXPECT_EQ(dense(m), unsymmetric_values);
    EXPECT_EQ(m.description.format, "Rutherford-Boeing");
    EXPECT_EQ(m.description.declared, "rua");
    EXPECT_EQ(m.description.entries_in_file, 5);
    EXPECT_TRUE(m.description.notes.empty());
}

TEST(HarwellBoeing, FifthCountMakesItHarwellBoeing) {
    auto s = unsymmetric();
    s.harwell = true;
    s.type = "RUA";
    auto const m = parse(s.text());
    EXPECT_EQ(dense(m), unsymmetric_values);
    EXPECT_EQ(m.description.format, "Harwell-Boeing");
    EXPECT_EQ(m.description.declared, "rua");
}

TEST(HarwellBoeing, RightHandSidesAreSkippedWithANote) {
    auto s = unsymmetric();
    s.harwell = true;
    s.right_hand_sides = {"F                          1             0", "  1.00E+00  1.00E+00  1.00E+00"};
    auto const m = parse(s.text());
    EXPECT_EQ(dense(m), unsymmetric_values);
    EXPECT_TRUE(has_note(m, "right-hand sides"));
}

TEST(HarwellBoeing, FieldsMayTouch) {
    auto s = unsymmetric();
    s.pointer_format = "(4I1)";
    s.pointers = {"1346"};
    s.index_format = "(5I2)";
    s.indices = {"01030201+3"};
    s.value_format = "(1P,3D9.2)";
    s.values = {"-1.00D+00-2.00D+003.000D+00", "-4.00D+00-5.00D+00"};
    EXPECT_EQ(dense(parse(s.text())), (Rows{{-1, 0, -4}, {0, 3, 0}, {-2, 0, -5}}));
}

TEST(HarwellBoeing, FortranNumberFormsAreRead) {
    auto s = unsymmetric();
    s.value_format = "(5F9.2)";
    s.values = {"     150   1.5-02   .5d+01     -5.  2.5E002"};
    // 150 has an implied decimal point: 1.50.
    auto const m = parse(s.text());
    EXPECT_EQ(dense(m), (Rows{{1.5, 0, -5}, {0, 5, 0}, {0.015, 0, 250}}));
    EXPECT_TRUE(has_note(m, "decimal point"));
}

TEST(HarwellBoeing, ScaleFactorAppliesWithoutExponent) {
    auto s = unsymmetric();
    s.value_format = "(2P5F9.2)";
    s.values = {"    150.0   1.5E00    100.0   100.0    100.0"};
    EXPECT_EQ(dense(parse(s.text())), (Rows{{1.5, 0, 1}, {0, 1, 0}, {1.5, 0, 1}}));
}

TEST(HarwellBoeing, EitherTriangleOfASymmetricMatrixIsRead) {
    auto s = sample_of("rsa", 2, 2, 3, "  1  3  4");
    s.indices = {"  1  2  2"};
    s.values = {"  4.00E+00 -1.00E+00  5.00E+00"};
    auto const m = parse(s.text());
    EXPECT_EQ(symmetry_of(m), Symmetry::symmetric);
    EXPECT_EQ(dense(m), (Rows{{4, -1}, {-1, 5}}));
    s.pointers = {"  1  2  4"};
    s.indices = {"  1  1  2"};
    EXPECT_EQ(dense(parse(s.text())), (Rows{{4, -1}, {-1, 5}}));
}

TEST(HarwellBoeing, ComplexHermitianIsReadInPairs) {
    auto s = sample_of("cha", 2, 2, 2, "  1  3  3");
    s.indices = {"  1  2"};
    s.values = {"  4.00E+00  0.00E+00  1.00E+00", "  2.00E+00"};
    auto const m = parse(s.text());
    EXPECT_EQ(symmetry_of(m), Symmetry::hermitian);
    EXPECT_EQ(dense(m), (Rows{{4, Complex(1, -2)}, {Complex(1, 2), 0}}));
}

TEST(HarwellBoeing, PatternAndIntegerAndSkewAreRead) {
    auto s = unsymmetric();
    s.type = "pua";
    s.values.clear();
    auto const pattern = parse(s.text());
    EXPECT_EQ(dense(pattern), (Rows{{1, 0, 1}, {0, 1, 0}, {1, 0, 1}}));
    EXPECT_TRUE(has_note(pattern, "every value is 1"));

    s.type = "iua";
    s.value_format = "(5I3)";
    s.values = {"  1  2  3 -4  5"};
    EXPECT_EQ(dense(parse(s.text())), (Rows{{1, 0, -4}, {0, 3, 0}, {2, 0, 5}}));

    auto skew = sample_of("rza", 2, 2, 1, "  1  2  2");
    skew.indices = {"  2"};
    skew.values = {"  4.00E+00"};
    EXPECT_EQ(dense(parse(skew.text())), (Rows{{0, -4}, {4, 0}}));
}

TEST(HarwellBoeing, RectangularAndEmptyAreRead) {
    auto s = sample_of("rra", 3, 1, 1, "  1  2");
    s.indices = {"  3"};
    s.values = {"  4.00E+00"};
    EXPECT_EQ(dense(parse(s.text())), (Rows{{0}, {0}, {4}}));
    EXPECT_TRUE(dense(parse(sample_of("psa", 0, 0, 0, "  1").text())).empty());
}

TEST(HarwellBoeing, UnsortedColumnsAndCarriageReturnsDoNotMatter) {
    auto s = unsymmetric();
    s.indices = {"  3  1  2  3", "  1"};
    s.values = {"  2.00E+00  1.00E+00  3.00E+00", "  5.00E+00  4.00E+00"};
    std::string text;
    for (char const c : s.text()) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
    EXPECT_EQ(dense(parse(text)), unsymmetric_values);
}

TEST(HarwellBoeing, WrongLineCountsInTheHeaderAreNoted) {
    auto s = unsymmetric();
    auto text = s.text();
    text.replace(text.find("             2"), 14, "             9"); // Lines of row indices.
    auto const m = parse(text);
    EXPECT_EQ(dense(m), unsymmetric_values);
    EXPECT_TRUE(has_note(m, "declares 9 lines of row indices, the format needs 2"));
}

// The sections are parsed in several pieces.
TEST(HarwellBoeing, ThreadsDoNotChangeTheResult) {
    Index const n = 120'000;
    auto s = sample_of("rua", n, n, n, "");
    s.pointers.clear();
    s.pointer_format = "(8I9)";
    s.index_format = "(7I9)";
    s.value_format = "(5F12.3)";
    auto const add = [](std::vector<std::string>& lines, Index k, Index per_line, std::string const& field) {
        if (k % per_line == 0) lines.emplace_back();
        lines.back() += field;
    };
    for (Index k = 0; k <= n; ++k) add(s.pointers, k, 8, fmt::format("{:9}", k + 1));
    for (Index k = 0; k < n; ++k) add(s.indices, k, 7, fmt::format("{:9}", (k * 7) % n + 1));
    for (Index k = 0; k < n; ++k) add(s.values, k, 5, fmt::format("{:12.3f}", static_cast<double>(k)));
    auto const text = s.text();
    for (int const threads : {1, 3}) {
        auto const m = parse(text, threads);
        auto const& a = std::get<CscMatrix<double>>(m.matrix);
        ASSERT_EQ(a.stored(), n);
        for (Index k = 0; k < n; k += 997) {
            EXPECT_EQ(a.row_ind[k], (k * 7) % n);
            EXPECT_EQ(a.values[k], static_cast<double>(k));
        }
        a.validate();
    }
}

/// Replaces one section of unsymmetric() and expects this error at this line.
void expect_error_with(std::vector<std::string> Sample::* section, std::vector<std::string> lines,
                       std::string const& message) {
    auto s = unsymmetric();
    s.*section = std::move(lines);
    EXPECT_EQ(parse_error(s.text()), "bad_input: test.mtx:" + message);
}

TEST(BadHarwellBoeing, ErrorsInASectionNameItsLine) {
    expect_error_with(&Sample::pointers, {"  2  3  4  6"}, "5: column pointers: the first is 2, not 1");
    expect_error_with(&Sample::pointers, {"  1  4  3  6"}, "5: column pointers: 3 follows 4");
    expect_error_with(&Sample::pointers, {"  1  3  4  5"},
                      "5: column pointers: the last is 5, but the header declares 5 entries");
    expect_error_with(&Sample::pointers, {"  1  3  4  7"}, "5: column pointers: 7 is outside 1 .. 6");
    expect_error_with(&Sample::indices, {"  1  3  2  1", "  4"}, "7: row indices: 4 is outside 1 .. 3");
    expect_error_with(&Sample::indices, {"  1  3  x  1", "  3"}, "6: row indices: 'x' is not an integer");
    expect_error_with(&Sample::indices, {"  1  3  2", "  1  3"},
                      "6: columns 10 to 12 are blank; expected number 4 of 5 row indices");
    expect_error_with(&Sample::indices, {"1 3 2 1", "3"},
                      "6: row indices: '1 3' is not one number; the columns do not fit the format");
    expect_error_with(&Sample::indices, {"  1  3  2  1  3", "  3"},
                      "6: unexpected '3' in column 15, after the last of the row indices");
    expect_error_with(&Sample::indices, {"  1  3  2  1", "  3  3"},
                      "7: unexpected '3' in column 6, after the last of the row indices");
    expect_error_with(&Sample::values, {"  1.00E+00  2.00E+00       NaN", "  4.00E+00  5.00E+00"},
                      "8: values: 'NaN' is not a finite number");
    expect_error_with(&Sample::values, {"  1.00E+00  2.00E+00  1.00+999", "  4.00E+00  5.00E+00"},
                      "8: values: '1.00+999' is too large for double precision");
    expect_error_with(&Sample::values, {"  1.00E+00  2.00E+00       one", "  4.00E+00  5.00E+00"},
                      "8: values: 'one' is not a number");
    expect_error_with(&Sample::values, {"  1.00E+00  2.00E+00  3.00E+00", "  4.00E+00"},
                      "9: columns 11 to 20 are blank; expected number 5 of 5 values");
    expect_error_with(&Sample::values, {"  1.00E+00  2.00E+00  3.00E+00"},
                      "9: the file ends in the values, after 1 of 2 lines");
    expect_error_with(&Sample::values,
                      {"  1.00E+00  2.00E+00  3.00E+00", "  4.00E+00  5.00E+00", "  6.00E+00"},
                      "10: unexpected '6.00E+00' after the last entry");
    expect_error_with(&Sample::values, {},
                      "3: type rua has values, but the header declares no lines of values");
}

std::string error_with(Sample const& s) {
    return parse_error(s.text());
}

TEST(BadHarwellBoeing, UnsupportedTypesAreNamed) {
    auto s = unsymmetric();
    s.type = "rse";
    EXPECT_EQ(
        error_with(s),
        "unsupported: test.mtx:3: type rse: elemental matrices are not supported; assemble the matrix first");
    s.type = "qua";
    EXPECT_EQ(error_with(s), "unsupported: test.mtx:3: type qua: the values are in another file");
}

TEST(BadHarwellBoeing, ImplausibleSizesAreRejectedBeforeAllocation) {
    auto s = unsymmetric();
    s.cols = 2'000'000'000;
    EXPECT_NE(
        error_with(s).find("test.mtx:3: the header declares 2000000000 columns and 5 entries, but only"),
        std::string::npos);
    s = unsymmetric();
    s.rows = 2'000'000'000;
    EXPECT_EQ(error_with(s),
              "bad_input: test.mtx:3: 2000000000 rows for 5 entries; nearly all rows are empty");
    s = unsymmetric();
    s.pointer_format = "(2000I1)"; // Lines with many numbers, and lines without numbers.
    s.cols = 50;
    EXPECT_EQ(
        error_with(s),
        "bad_input: test.mtx:5: the header declares 51 column pointers, but their lines have only 13 bytes");
}

TEST(BadHarwellBoeing, FormatsAreChecked) {
    auto s = unsymmetric();
    s.index_format = "(4A3)";
    EXPECT_EQ(
        error_with(s),
        "unsupported: test.mtx:4: the format '(4A3)' has a descriptor other than I, E, D, F, G, P and X");
    s.index_format = "(4I3";
    EXPECT_NE(error_with(s).find("test.mtx:4: "), std::string::npos);
    s.index_format = "";
    s.value_format = "";
    EXPECT_EQ(error_with(s), "bad_input: test.mtx:4: format 2 is missing");
    s.pointer_format = "";
    EXPECT_EQ(error_with(s), "bad_input: test.mtx:4: format 1 is missing");
    s = unsymmetric();
    s.pointer_format = "";
    EXPECT_EQ(error_with(s), "bad_input: test.mtx:4: format 1 is missing");
    s = unsymmetric();
    s.index_format = "";
    EXPECT_EQ(error_with(s), "bad_input: test.mtx:4: format 2 is missing");
}

TEST(BadHarwellBoeing, EveryTruncationIsAnError) {
    std::string const text = unsymmetric().text();
    for (std::size_t size = 0; size + 1 < text.size(); ++size)
        EXPECT_NE(parse_error(text.substr(0, size)).find("test.mtx:"), std::string::npos) << size;
}

std::vector<std::pair<int, int>> columns_of(char const* format) {
    std::vector<std::pair<int, int>> columns;
    for (auto const& field : parse_fortran_format(format)) columns.emplace_back(field.begin, field.end);
    return columns;
}

TEST(FortranFormat, FieldsAreAdjacent) {
    using Columns = std::vector<std::pair<int, int>>;
    EXPECT_EQ(columns_of("(3I5)"), (Columns{{0, 5}, {5, 10}, {10, 15}}));
    EXPECT_EQ(columns_of(" ( I2 , 1x, i3.3 ) "), (Columns{{0, 2}, {3, 6}}));
    EXPECT_EQ(columns_of("(2(1X,E9.2))"), (Columns{{1, 10}, {11, 20}}));
    EXPECT_EQ(columns_of("(1P,2E20.12E3)"), (Columns{{0, 20}, {20, 40}}));
    EXPECT_EQ(columns_of("(1P2ES20.12)"), (Columns{{0, 20}, {20, 40}}));
    EXPECT_EQ(columns_of("(1P,2(D8.1))"), (Columns{{0, 8}, {8, 16}}));
}

TEST(FortranFormat, DecimalsAndScaleAreKept) {
    auto const fields = parse_fortran_format("(-2P,F8.3,0PF8.1,I4)");
    ASSERT_EQ(fields.size(), 3u);
    EXPECT_EQ(fields[0].decimals, 3);
    EXPECT_EQ(fields[0].scale, -2);
    EXPECT_EQ(fields[1].decimals, 1);
    EXPECT_EQ(fields[1].scale, 0);
    EXPECT_EQ(fields[2].decimals, 0);
}

TEST(FortranFormat, InvalidFormatsAreRejected) {
    char const* const invalid[] = {"",           "I5",
                                   "(",          "()",
                                   "(I)",        "(I0)",
                                   "(0I5)",      "(5)",
                                   "(I5",        "(I5))",
                                   "(I5)x",      "(-I5)",
                                   "(*)",        "(I5/I5)",
                                   "(99999I5)",  "(1000I9)",
                                   "(1P)",       "(2(2(I5)))",
                                   "(3X)",       "(I3,2(I5))",
                                   "(2(I5),I3)", "(I99999999999999)"};
    for (auto const* text : invalid) EXPECT_THROW(parse_fortran_format(text), Error) << text;
}

} // namespace
} // namespace espalier
