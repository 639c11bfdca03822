#include "core/error.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "status_of.hpp"

namespace espalier {
namespace {

TEST(CheckedCast, KeepsValuesThatFit) {
    EXPECT_EQ(checked_cast<std::int32_t>(std::int64_t{2147483647}, "x"), 2147483647);
    EXPECT_EQ(checked_cast<std::int32_t>(std::int64_t{-2147483648}, "x"), -2147483648);
    EXPECT_EQ(checked_cast<std::uint8_t>(255, "x"), 255);
}

TEST(CheckedCast, NamesTheValueThatDoesNotFit) {
    std::string message;
    auto const cast = [] { checked_cast<std::int32_t>(std::int64_t{2147483648}, "the number of rows"); };
    EXPECT_EQ(status_of(cast, &message), Status::unsupported);
    EXPECT_NE(message.find("the number of rows = 2147483648"), std::string::npos);
    EXPECT_THROW(checked_cast<std::uint8_t>(-1, "x"), Error);
    EXPECT_THROW(checked_cast<std::int32_t>(std::int64_t{-2147483649}, "x"), Error);
}

TEST(FirstError, KeepsOneOfManyAndRethrowsItOnce) {
    FirstError first;
    EXPECT_NO_THROW(first.rethrow());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&first] {
            try {
                throw Error(Status::singular, "as told");
            } catch (...) {
                first.capture();
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_TRUE(first.raised());
    EXPECT_THROW(first.rethrow(), Error);
    EXPECT_FALSE(first.raised());
    EXPECT_NO_THROW(first.rethrow());
}

TEST(Names, AreTheSpellingsOfTheCommandLine) {
    EXPECT_STREQ(to_string(Factorization::automatic), "auto");
    EXPECT_STREQ(to_string(SchedulePolicy::static_order), "static");
    EXPECT_STREQ(to_string(Splitting::two_d), "2d");
    EXPECT_STREQ(to_string(Status::not_positive_definite), "not_positive_definite");
}

} // namespace
} // namespace espalier
