#include "io/json.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "core/status_of.hpp"

namespace espalier {
namespace {

std::string json_error(std::string const& text) {
    std::string message;
    EXPECT_EQ(status_of([&] { Json::parse(text, "file 'a'"); }, &message), Status::bad_input);
    return message;
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
        EXPECT_NE(json_error(text).find("file 'a': line 1: this is not JSON: "), std::string::npos) << text;
    EXPECT_NE(
        json_error("{\"a\":\n1e999}").find("line 2: this is not JSON: real number overflow near '1e999'"),
        std::string::npos);
    EXPECT_NE(json_error(std::string(100'000, '[')).find("maximum parsing depth"), std::string::npos);
    EXPECT_NE(json_error(std::string(longest_json, ' ') + "1").find("larger than 4 MiB"), std::string::npos);
}

} // namespace
} // namespace espalier
