#include "ordering/permutation.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "common/mutations.hpp"
#include "core/status_of.hpp"
#include "ordering/graphs.hpp"
#include "ordering/ordering.hpp"

namespace espalier {
namespace {

// A temporary file, removed at the end of the test.
class ReadPermutation : public testing::Test {
  protected:
    std::string write(std::string const& text) {
        std::ofstream(path_, std::ios::binary) << text;
        return path_;
    }
    std::vector<Index> read(std::string const& text, Index n) { return read_permutation(write(text), n); }
    std::string failure(std::string const& text, Index n) {
        std::string message;
        EXPECT_EQ(status_of([&] { read(text, n); }, &message), Status::bad_input);
        EXPECT_EQ(message.find('\n'), std::string::npos);
        EXPECT_NE(message.find(path_), std::string::npos) << message;
        return message;
    }
    void TearDown() override { std::filesystem::remove(path_); }

    std::string path_ = testing::TempDir() + "espalier_permutation_" + std::to_string(getpid()) + "_" +
                        testing::UnitTest::GetInstance()->current_test_info()->name() + ".txt";
};

void expect_mention(std::string const& message, std::vector<std::string> const& parts) {
    for (auto const& part : parts)
        EXPECT_NE(message.find(part), std::string::npos) << message << " without " << part;
}

TEST_F(ReadPermutation, AcceptsBothBases) {
    EXPECT_EQ(read("2 0 1", 3), (std::vector<Index>{2, 0, 1}));
    EXPECT_EQ(read("3\n1\n2\n", 3), (std::vector<Index>{2, 0, 1}));
    EXPECT_EQ(read("0", 1), std::vector<Index>{0});
    EXPECT_EQ(read("1", 1), std::vector<Index>{0});
    EXPECT_TRUE(read("", 0).empty());
}

TEST_F(ReadPermutation, SkipsCommentsAndWindowsLineEnds) {
    EXPECT_EQ(read("% made by hand\r\n# twice\r\n 1 2 % inner\r\n\r\n0", 3), (std::vector<Index>{1, 2, 0}));
    EXPECT_EQ(read("%%Mat is not a banner\n0 1", 2), (std::vector<Index>{0, 1}));
}

TEST_F(ReadPermutation, AcceptsAMatrixMarketArray) {
    EXPECT_EQ(read("%%MatrixMarket matrix array integer general\n% c\n3 1\n3\n1\n2\n", 3),
              (std::vector<Index>{2, 0, 1}));
    EXPECT_EQ(read("%%MatrixMarket matrix array integer general\n1 2\n1\n0\n", 2),
              (std::vector<Index>{1, 0}));
    expect_mention(failure("%%MatrixMarket matrix array integer general\n4 1\n1 2 3\n", 3),
                   {"line 2", "4 by 1", "3 rows"});
    expect_mention(failure("%%MatrixMarket matrix coordinate integer general\n3 1 1\n", 3),
                   {"line 1", "coordinate"});
    expect_mention(failure("%%MatrixMarket matrix array integer general\n3", 3), {"no sizes"});
}

TEST_F(ReadPermutation, NamesErrorsWithTheirLines) {
    expect_mention(failure("0\n1\n", 3), {"has 2 integers", "3 rows"});
    expect_mention(failure("0 1\n2\n3\n", 3), {"line 3", "more integers", "3 rows"});
    expect_mention(failure("0\n2\n2\n", 3), {"line 3", "2 occurs twice", "line 2"});
    expect_mention(failure("0\n1\n3\n", 3), {"line 3", "3 is out of range 0 .. 2"});
    expect_mention(failure("1\n2\n4\n", 3), {"line 3", "4 is out of range 1 .. 3"});
    expect_mention(failure("1\n-2\n3\n", 3), {"line 2", "-2 is out of range"});
    expect_mention(failure("0\n1.5\n2\n", 3), {"line 2", "'1.5' is not an integer"});
    expect_mention(failure("0 1 two", 3), {"line 1", "'two'"});
    expect_mention(failure("99999999999999999999", 3), {"line 1", "too large"});
    expect_mention(failure(std::string("0\n\0\x01\x02", 5), 3), {"line 2", "'\?\?\?'"});
    expect_mention(failure(std::string(100000, '1'), 3), {"line 1", "too large"});
}

TEST_F(ReadPermutation, SurvivesAnyChange) {
    for (char const* const text :
         {"% five rows\n3 1 2, 5 4\n", "%%MatrixMarket matrix array integer general\n5 1\n3\n1\n2\n5\n4\n"}) {
        int const refused = test::refused_mutations(text, [this](std::string const& changed) {
            std::vector<Index> perm = read(changed, 5);
            std::ranges::sort(perm);
            EXPECT_EQ(perm, (std::vector<Index>{0, 1, 2, 3, 4}));
        });
        EXPECT_GT(refused, 0);
    }
}

TEST_F(ReadPermutation, AFileThatCannotBeReadIsAnIoError) {
    for (std::string const& path : {std::string("/nonexistent/order.txt"), testing::TempDir()}) {
        std::string message;
        EXPECT_EQ(status_of([&] { read_permutation(path, 3); }, &message), Status::io_error) << message;
        expect_mention(message, {path});
    }
}

TEST_F(ReadPermutation, IsTheUserOrdering) {
    OrderingOptions options;
    options.method = OrderingMethod::user;
    options.user_file = write("4 3 2 1");
    auto const ordering = compute_ordering(test::path(4), options);
    EXPECT_EQ(ordering.perm, (std::vector<Index>{3, 2, 1, 0}));
    EXPECT_EQ(ordering.inverse, (std::vector<Index>{3, 2, 1, 0}));
}

TEST(InvertPermutation, RejectsInvalidPermutations) {
    EXPECT_EQ(invert_permutation({2, 0, 1}, "test"), (std::vector<Index>{1, 2, 0}));
    EXPECT_THROW(invert_permutation({0, 0, 1}, "test"), Error);
    EXPECT_THROW(invert_permutation({0, 3, 1}, "test"), Error);
    EXPECT_THROW(invert_permutation({0, -1, 1}, "test"), Error);
}

} // namespace
} // namespace espalier
