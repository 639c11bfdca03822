// Randomly changed Matrix Market and Harwell-Boeing text: accepted as a valid matrix or refused.
#include "common/mutations.hpp"
#include "io/harwell_boeing.hpp"
#include "matrix/assemble.hpp"
#include "reading.hpp"

namespace espalier {
namespace {

using namespace reading;

void expect_valid(NamedMatrix const& named) {
    std::visit([](auto const& matrix) { matrix.validate(); }, named.matrix);
}

TEST(MatrixMarket, SurvivesAnyChange) {
    for (std::string const& text :
         {coordinate("real general", "% a comment\n3 3 5\n1 1 1.5\n2 1 -2e3\n2 2 3\n3 3 4\n1 3 0.5\n"),
          coordinate("complex hermitian", "2 2 3\n1 1 1 0\n2 1 0.5 -2\n2 2 3 0\n"),
          coordinate("pattern symmetric", "4 4 5\n1 1\n2 1\n3 2\n4 1\n4 4\n"),
          coordinate("integer skew-symmetric", "3 3 2\n2 1 7\n3 1 -4\n"),
          std::string("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2.5\n3\n")})
        EXPECT_GT(
            test::refused_mutations(text, [](std::string const& changed) { expect_valid(parse(changed)); }),
            0);
}

TEST(HarwellBoeing, SurvivesAnyChange) {
    std::string const title = "A seed" + std::string(66, ' ') + "SEED    \n";
    for (std::string const& text :
         {title + "             5             1             2             2\n"
                  "rua                        3             3             5             0\n"
                  "(4I3)           (4I3)           (3E10.2)            \n"
                  "  1  3  4  6\n  1  3  2  1\n  3\n  1.00E+00  2.00E+00  3.00E+00\n  4.00E+00  5.00E+00\n",
          title + "             2             1             1             0\n"
                  "psa                        3             3             4             0\n"
                  "(4I3)           (4I3)\n"
                  "  1  3  4  5\n  1  3  2  3\n"})
        EXPECT_GT(test::refused_mutations(text,
                                          [](std::string const& changed) {
                                              expect_valid(assemble(
                                                  parse_harwell_boeing(Source(changed, "test.rb"), 1), 1));
                                          }),
                  0);
}

} // namespace
} // namespace espalier
