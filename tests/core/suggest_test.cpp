// "Did you mean": near words are found, far ones are not.
#include <gtest/gtest.h>

#include <array>

#include "core/suggest.hpp"

namespace espalier {
namespace {

constexpr std::array<std::string_view, 4> known{"threads", "topology", "refine", "n"};

TEST(DidYouMean, FindsWordsWithinTwoEdits) {
    EXPECT_EQ(did_you_mean("thread", known), " (did you mean 'threads'?)");
    EXPECT_EQ(did_you_mean("rfeine", known), " (did you mean 'refine'?)");
    EXPECT_EQ(did_you_mean("TOPOLGY", known), " (did you mean 'topology'?)");
}

TEST(DidYouMean, IsEmptyForOtherWords) {
    EXPECT_EQ(did_you_mean("matrix", known), "");
    EXPECT_EQ(did_you_mean("x", known), "");
    EXPECT_EQ(did_you_mean("", known), "");
    EXPECT_EQ(did_you_mean(std::string(100'000, 'x'), known), "");
    EXPECT_EQ(did_you_mean("threads", {}), "");
}

} // namespace
} // namespace espalier
