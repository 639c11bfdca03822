// Options by name: every value is printed as it is read, and wrong names and values are refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/status_of.hpp"
#include "espalier/options.hpp"
#include "espalier/types.hpp"

namespace espalier {
namespace {

std::string all_values(Options const& options) {
    std::string all;
    for (std::string_view const option : option_names()) all += get_option(options, option) + "\n";
    return all;
}

// The message of the Error for a value that leaves all options unchanged, or "accepted".
std::string refusal(std::string_view name, std::string_view value) {
    Options options;
    std::string const before = all_values(options);
    std::string message = "accepted";
    if (status_of([&] { set_option(options, name, value); }, &message) != Status::ok) {
        EXPECT_EQ(before, all_values(options)) << name << " was changed by a value that was refused";
    }
    return message;
}

TEST(Options, EveryValueIsPrintedAsItWasSpelled) {
    struct {
        char const* name;
        std::vector<char const*> values;
    } const all[] = {
        {"factorization", {"llh", "llt", "ldlt", "ldlh", "lu", "auto"}},
        {"matching", {"on", "off", "auto"}},
        {"scaling", {"on", "off", "auto"}},
        {"method", {"ilu", "auto", "direct"}},
        {"levels", {"2", "0"}},
        {"block-size", {"1", "6", "auto"}},
        {"coarsen", {"none", "CD(4)", "SD(300)F(32)", "auto"}},
        {"supernodes", {"on", "off", "auto"}},
        {"pivoting", {"delayed", "auto", "static"}},
        {"pivot-tolerance", {"0.1", "0.5", "0.01"}},
        {"runtime", {"tbb", "openmp", "espalier"}},
        {"mixed-precision", {"on", "off"}},
        {"condition", {"on", "off"}},
        {"allow-singular", {"on", "off"}},
        {"reuse-ordering", {"on", "off"}},
        {"ordering", {"metis", "amd", "natural", "rcm", "some/file", "scotch", "dissection", "auto"}},
        {"threads", {"1", "4096", "auto"}},
        {"bind", {"off", "on"}},
        {"comm-threads", {"0", "2", "1"}},
        {"comm-own-core", {"on", "off", "auto"}},
        {"topology", {"numa:2 core:4", "some/machine.xml", "here"}},
        {"calibration", {"on", "off", "auto"}},
        {"record-trace", {"on", "off"}},
        {"schedule", {"dynamic", "places", "nas", "auto", "static"}},
        {"push-init", {"randnuma", "cyclicnuma"}},
        {"push", {"pLoc", "pLocNum", "pNumaW", "pNumaWLoc"}},
        {"select", {"sRand", "sRandNuma", "sProc", "sNuma", "sProcNuma", "sNumaProc"}},
        {"strict", {"on", "off"}},
        {"seed", {"7", "0"}},
        {"split-width", {"1", "48"}},
        {"split-rows", {"1", "384"}},
        {"split-idle", {"7", "1"}},
        {"split-seconds", {"0", "0.5", "0.0001"}},
        {"subtrees-per-worker", {"1", "3"}},
        {"alloc", {"global", "interleave", "local"}},
        {"split", {"2d", "dynamic", "1d"}},
        {"max-block-width", {"1", "512", "auto"}},
        {"min-block-width", {"1", "64", "auto"}},
        {"amalgamation-fill", {"0", "0.1", "2.5"}},
        {"pivot-threshold", {"0", "1e-10", "0.1", "auto"}},
        {"refine", {"none", "ir", "cg", "gmres", "bicgstab", "auto"}},
        {"max-refine-iterations", {"3", "auto"}},
        {"tolerance", {"1e-14", "0.5", "auto"}},
        {"max-memory", {"1", "1000", "512M", "3G", "2T", "none"}},
    };
    auto const names = option_names();
    ASSERT_EQ(names.size(), std::size(all));
    for (auto const& [name, values] : all) {
        EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
        Options options;
        for (char const* value : values) {
            set_option(options, name, value);
            EXPECT_EQ(get_option(options, name), value) << name;
        }
    }
}

TEST(Options, DefaultsCanBeSet) {
    Options const fresh;
    for (std::string_view const name : option_names()) {
        Options options;
        set_option(options, name, get_option(fresh, name));
        EXPECT_EQ(get_option(options, name), get_option(fresh, name)) << name;
    }
}

TEST(Options, AnOrderingFromMemoryIsSpelledPositions) {
    Options options;
    EXPECT_NE(refusal("ordering", "positions").find("'./positions'"), std::string::npos);
    options.ordering = OrderingMethod::user;
    options.ordering_file = "perm.txt";
    options.ordering_positions = {1, 0};
    EXPECT_EQ(get_option(options, "ordering"), "positions");
    set_option(options, "ordering", "positions");
    EXPECT_EQ(options.ordering, OrderingMethod::user);
    EXPECT_EQ(options.ordering_positions, (std::vector<Index>{1, 0}));
    set_option(options, "ordering", "./positions");
    EXPECT_EQ(get_option(options, "ordering"), "./positions");
}

TEST(Options, SetTheMembers) {
    Options options;
    set_option(options, "ordering", "perm.txt");
    EXPECT_EQ(options.ordering, OrderingMethod::user);
    EXPECT_EQ(options.ordering_file, "perm.txt");
    set_option(options, "ordering", "amd");
    EXPECT_EQ(options.ordering, OrderingMethod::amd);
    EXPECT_EQ(options.ordering_file, "");
    set_option(options, "threads", "3");
    EXPECT_EQ(options.threads, 3);
    set_option(options, "max-memory", "1.5GiB");
    EXPECT_EQ(options.max_memory, std::uint64_t{3} << 29);
    set_option(options, "max-memory", "2kB");
    EXPECT_EQ(options.max_memory, 2000U);
    set_option(options, "matching", "off");
    EXPECT_EQ(options.matching, Toggle::off);
    set_option(options, "bind", "off");
    EXPECT_FALSE(options.bind_threads);
    set_option(options, "pivot-threshold", "0.25");
    EXPECT_EQ(options.pivot_threshold, 0.25);
}

TEST(Options, ErrorsListTheAllowedValues) {
    EXPECT_NE(
        refusal("colour", "red").find("unknown option 'colour'; the options are factorization, matching,"),
        std::string::npos);
    EXPECT_EQ(refusal("factorization", "qr"),
              "factorization needs one of auto, llh, llt, ldlt, ldlh, lu, not 'qr'");
    EXPECT_EQ(refusal("matching", "yes"), "matching needs one of auto, on, off, not 'yes'");
    EXPECT_EQ(refusal("condition", "auto"), "condition needs one of off, on, not 'auto'");
    EXPECT_EQ(refusal("threads", "0"), "threads needs auto or a whole number between 1 and 4096, not '0'");
    EXPECT_EQ(refusal("tolerance", "0"), "tolerance needs auto or a number above zero, not '0'");
    EXPECT_EQ(refusal("max-memory", "4X"),
              "max-memory needs none or a size above zero, such as 512M, 4G or 1.5GiB, not '4X'");
    EXPECT_EQ(refusal("coarsen", "X"),
              "coarsen needs auto, none or a coarse string such as CD(4): coarse string "
              "'X', position 1: 'X' is not an operator; the operators are B, C, D, F, G, H, S, T, W");
    Options const fresh;
    EXPECT_THROW(std::ignore = get_option(fresh, ""), Error);
}

TEST(Options, ErrorsSuggestTheNearestWord) {
    EXPECT_TRUE(refusal("thread", "2").starts_with("unknown option 'thread' (did you mean 'threads'?); "));
    EXPECT_TRUE(refusal("select", "snuma").ends_with("not 'snuma' (did you mean 'sNuma'?)"));
    EXPECT_TRUE(refusal("schedule", "dynmaic").ends_with("(did you mean 'dynamic'?)"));
    EXPECT_EQ(refusal("refine", "jacobi").find("did you mean"), std::string::npos);
}

TEST(Options, RefuseTextsThatAreNotOneValue) {
    for (std::string_view const name : option_names()) EXPECT_NE(refusal(name, ""), "accepted") << name;
    for (char const* text : {"-1", " 2", "2 ", "1e3", "0x2", "99999999999999999999", "two"})
        for (char const* name : {"threads", "max-refine-iterations", "max-block-width", "min-block-width"})
            EXPECT_NE(refusal(name, text), "accepted") << name << " " << text;
    for (char const* text : {"-1", "nan", "inf", "1e999", "1.0x", "+1"})
        for (char const* name :
             {"tolerance", "amalgamation-fill", "pivot-threshold", "pivot-tolerance", "max-memory"})
            EXPECT_NE(refusal(name, text), "accepted") << name << " " << text;
    for (char const* text : {"0", "0.51", "5", "nan"})
        EXPECT_EQ(refusal("pivot-tolerance", text),
                  "pivot-tolerance needs a number above zero and at most 0.5, not '" + std::string(text) +
                      "'");
    for (char const* text : {"0", "0.5", "M", "1e30T", "9000000T"})
        EXPECT_NE(refusal("max-memory", text), "accepted") << text;
}

} // namespace
} // namespace espalier
