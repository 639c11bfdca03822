// The spelling of generators and the messages for invalid ones.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "generators/generators.hpp"
#include "matrix/dense_reference.hpp"

using namespace espalier;
using namespace espalier::test;

TEST(GeneratorSpecs, AreDistinguishedFromFileNamesByKindAndColon) {
    EXPECT_TRUE(is_generator("lap3d:60"));
    EXPECT_TRUE(is_generator("lap3d:x"));
    EXPECT_FALSE(is_generator("lap3d"));
    EXPECT_FALSE(is_generator("lap3d.mtx"));
    EXPECT_FALSE(is_generator("dir/lap3d:60"));
    EXPECT_FALSE(is_generator("unknown:60"));
    EXPECT_FALSE(is_generator(""));
    EXPECT_FALSE(is_generator(":"));
}

TEST(GeneratorSpecs, AreRejectedWithTheRequiredForm) {
    auto const refusal = [](std::string const& spec) {
        std::string message;
        EXPECT_EQ(status_of([&] { generate_matrix(spec); }, &message), Status::usage) << spec;
        return message;
    };
    EXPECT_EQ(refusal("lap3d:x"), "lap3d:N needs a positive integer N, got 'lap3d:x'");
    for (char const* spec : {"lap3d", "lap3d:", "lap3d:0", "lap3d:-3", "lap3d:+3", "lap3d: 3", "lap3d:3.5",
                             "lap3d:3:4", "lap3d:1e3", "lap3d:3x3x3"})
        EXPECT_NE(refusal(spec).find("lap3d:N needs"), std::string::npos) << spec;
    for (char const* spec : {"spe10like:4", "spe10like:4x4", "spe10like:4x4x0", "spe10like:4x4x4x4",
                             "spe10like:4:4:4", "spe10like:x4x4", "spe10like:4x4x"})
        EXPECT_NE(refusal(spec).find("spe10like:NXxNYxNZ needs"), std::string::npos) << spec;
    for (char const* spec : {"random:5", "random:5:6", "random:0:0:1", "random:2:3:1", "random:1:1:1",
                             "random:5:-1:1", "random:5:5:99999999999999999999"})
        EXPECT_NE(refusal(spec).find("random:N:NNZ:SEED needs"), std::string::npos) << spec;
    EXPECT_NE(refusal("nonsense:4").find("lap2d:N, lap3d:N"), std::string::npos);
    EXPECT_NE(refusal("").find("not a generator"), std::string::npos);
}

TEST(GeneratorSpecs, ThatAreTooLargeAreRejectedBeforeAnyComputation) {
    for (auto const& help : generator_help()) {
        std::string const kind(help.kind);
        for (std::string const number :
             {"2000000", "3037000500", "9223372036854775807", "99999999999999999999999"}) {
            std::string spec = kind + ":" + number;
            if (kind == "spe10like") spec += "x1000x1000";
            if (kind == "random") spec += ":" + number + "000000:1";
            std::string message;
            EXPECT_EQ(status_of([&] { generate_matrix(spec); }, &message), Status::usage) << spec;
            EXPECT_NE(message.find("too large"), std::string::npos) << message;
        }
    }
}

TEST(GeneratorSpecs, HelpListsEachKindOnce) {
    std::set<std::string> kinds;
    for (auto const& help : generator_help()) {
        EXPECT_TRUE(kinds.insert(std::string(help.kind)).second);
        EXPECT_FALSE(help.arguments.empty());
        EXPECT_EQ(help.description.find('\n'), std::string::npos);
    }
    EXPECT_EQ(kinds, (std::set<std::string>{"lap2d", "lap3d", "elast3d", "convdiff3d", "helmholtz3d",
                                            "hermitian3d", "spe10like", "saddle3d", "random"}));
}
