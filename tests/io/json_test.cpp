#include "io/json.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "core/status_of.hpp"

namespace espalier {
namespace {

::testing::AssertionResult is_refused(std::string const& text, std::string const& part) {
    return throws_error(Status::bad_input, part, [&] { Json::parse(text, "file 'a'"); });
}

TEST(Json, ReadsBackWhatItWrites) {
    Json list = Json::array();
    list.append(1).append(Json::object({{"b", "x\"\t\xe2\x82\xac"}})).append(true).append(Json());
    Json const json = Json::object({{"a", list}, {"c", -1e-11 / 3}, {"d", Json::object()}});
    EXPECT_EQ(json.text(0, 4),
              "{\"a\": [1, {\"b\": \"x\\\"\\t\xe2\x82\xac\"}, true, null], \"c\": -3.333e-12, \"d\": {}}");
    std::string const source = "file 'a'";
    Json const again = Json::parse(json.text(2), source);
    JsonField const root(again, source);
    auto const items = root["a"].items();
    ASSERT_EQ(items.size(), 4U);
    EXPECT_EQ(items[0].count(0, 1), 1);
    EXPECT_EQ(items[1]["b"].text(), "x\"\t\xe2\x82\xac");
    EXPECT_TRUE(items[2]);
    EXPECT_FALSE(items[3]);
    EXPECT_EQ(root["c"].number(-1, 1), -1e-11 / 3);
    EXPECT_FALSE(root["e"]["f"]);
}

TEST(Json, WritesNullForInfinityAndQuestionMarksForBytesThatAreNotUtf8) {
    EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).text(), "null");
    EXPECT_EQ(Json("a\xff\x01").text(), "\"a?\\u0001\"");
}

TEST(Json, RefusesTextThatIsNotOneValueAndNamesTheLine) {
    for (char const* const text : {"", "{", "[1,]", "{\"a\":1,\"a\":2}", "{\"a\" 1}", "1 2", "nan", "1e999",
                                   "\"\\q\"", "\"\\u12\"", "+1", "\"a", "[1}", "\"\\ud83d\"", "\"\xff\""})
        EXPECT_TRUE(is_refused(text, "file 'a': line 1: this is not JSON: ")) << text;
    EXPECT_TRUE(is_refused("{\"a\":\n1e999}", "line 2: this is not JSON: real number overflow near '1e999'"));
    EXPECT_TRUE(
        is_refused("\"a\\\n\"", "line 2: this is not JSON: invalid escape near '\"a\\ '")); // in one line
    EXPECT_TRUE(is_refused(std::string(100'000, '['), "maximum parsing depth"));
    EXPECT_TRUE(is_refused(std::string(longest_json, ' ') + "1", "larger than 4 MiB"));
}

} // namespace
} // namespace espalier
