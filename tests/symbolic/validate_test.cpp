#include "symbolic/validate.hpp"

#include <gtest/gtest.h>

#include "symbolic/graphs.hpp"
#include "symbolic/symbolic.hpp"

namespace espalier {
namespace {

using namespace testing;

struct Fault {
    char const* message;
    void (*make)(BlockStructure&);
};

Fault const faults[] = {
    {"perm and inverse disagree", [](BlockStructure& s) { std::swap(s.perm[0], s.perm[1]); }},
    {"blok exceeds its facing cblk",
     [](BlockStructure& s) { s.bloks[s.cblks[0].first_blok + 1].facing_cblk = s.cblks[0].parent + 1; }},
    {"wrong panel_row", [](BlockStructure& s) { s.bloks.back().panel_row += 1; }},
    {"wrong parent", [](BlockStructure& s) { s.cblks[0].parent = no_cblk; }},
    {"wrong first_descendant", [](BlockStructure& s) { s.cblks[0].first_descendant = -1; }},
    {"not a postorder", [](BlockStructure& s) { s.cblks.back().first_descendant = s.num_cblks() - 1; }},
    {"wrong facing list",
     [](BlockStructure& s) { std::swap(s.facing.back(), s.facing[s.facing.size() - 2]); }},
    {"rows missing in the parent",
     [](BlockStructure& s) { // the last row of a parent that a child needs
         for (Cblk const& child : s.cblks) {
             if (child.parent == no_cblk || child.end_blok < child.first_blok + 3) continue;
             Cblk& parent = s.cblks[child.parent];
             Blok& last = s.bloks[parent.end_blok - 1];
             if (last.height() < 2 || s.bloks[child.end_blok - 1].end_row != last.end_row) continue;
             --last.end_row;
             --parent.stride;
             return;
         }
     }},
    {"first_kept_cblk out of range", [](BlockStructure& s) { s.first_kept_cblk = s.num_cblks() + 1; }},
    {"kept cblks are not those", [](BlockStructure& s) { s.first_kept_cblk = s.num_cblks() - 1; }},
    {"kept cblk", [](BlockStructure& s) { s.first_kept_cblk = 0; }},
    {"wrong number of stored coefficients", [](BlockStructure& s) { ++s.stored; }},
};

TEST(Validate, RejectsEveryFault) {
    SymbolicOptions options;
    options.amalgamate = false;
    options.min_width = 4;
    options.max_width = 8;
    auto const valid =
        symbolic_factorization(uncompressed(grid(8, 8, 2)), nested_dissection(8, 8, 2), options);
    EXPECT_NO_THROW(validate(valid));
    for (auto const& [message, make] : faults) {
        BlockStructure invalid = valid;
        make(invalid);
        try {
            validate(invalid);
            ADD_FAILURE() << message << " was accepted";
        } catch (std::logic_error const& error) {
            EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
        }
    }
}

} // namespace
} // namespace espalier
