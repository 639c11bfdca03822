#include "symbolic/validate.hpp"

#include <gtest/gtest.h>

#include "symbolic/graphs.hpp"
#include "symbolic/symbolic.hpp"

namespace espalier {
namespace {

using namespace testing;

// Each test makes one field of a valid structure invalid.
class Validate : public ::testing::Test {
  protected:
    static BlockStructure good_structure() {
        SymbolicOptions options;
        options.amalgamate = false;
        options.min_width = 4;
        options.max_width = 8;
        return symbolic_factorization(uncompressed(grid(8, 8, 2)), nested_dissection(8, 8, 2), options);
    }
    void expect_rejected(std::string const& why) {
        try {
            validate(structure_);
        } catch (Error const& error) {
            EXPECT_EQ(error.status(), Status::internal);
            EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
            return;
        }
        ADD_FAILURE() << "accepted";
    }
    BlockStructure structure_ = good_structure();
};

TEST_F(Validate, AcceptsAValidStructure) {
    EXPECT_NO_THROW(validate(structure_));
}

TEST_F(Validate, RejectsAnInvalidPermutation) {
    std::swap(structure_.perm[0], structure_.perm[1]);
    expect_rejected("perm and inverse disagree");
}

TEST_F(Validate, RejectsABlokThatExceedsItsFacingCblk) {
    auto& cblk = structure_.cblks[0];
    ASSERT_GT(cblk.end_blok, cblk.first_blok + 1);
    structure_.bloks[cblk.first_blok + 1].facing_cblk = cblk.parent + 1;
    expect_rejected("blok exceeds its facing cblk");
}

TEST_F(Validate, RejectsAWrongPanelRow) {
    structure_.bloks.back().panel_row += 1;
    expect_rejected("wrong panel_row");
}

TEST_F(Validate, RejectsAWrongParent) {
    structure_.cblks[0].parent = no_cblk;
    expect_rejected("wrong parent");
}

TEST_F(Validate, RejectsAWrongFirstDescendant) {
    for (CblkId k = 1; k < structure_.num_cblks(); ++k)
        if (structure_.cblks[k].first_descendant == k) { // a leaf
            structure_.cblks[k].first_descendant = k - 1;
            return expect_rejected("wrong first_descendant");
        }
    FAIL() << "no second leaf";
}

TEST_F(Validate, RejectsATreeThatIsNotPostordered) {
    structure_.cblks.back().first_descendant = structure_.num_cblks() - 1;
    expect_rejected("not a postorder");
}

TEST_F(Validate, RejectsAFacingListOutOfOrder) {
    for (CblkId j = 0; j < structure_.num_cblks(); ++j)
        if (structure_.facing_ptr[j + 1] - structure_.facing_ptr[j] >= 2) {
            std::swap(structure_.facing[structure_.facing_ptr[j]],
                      structure_.facing[structure_.facing_ptr[j] + 1]);
            return expect_rejected("facing list out of order");
        }
    FAIL() << "no facing list of two";
}

TEST_F(Validate, RejectsRowsMissingInTheParent) {
    // Remove the last row of the last blok of a parent that needs it for a child.
    for (Cblk const& child : structure_.cblks) {
        if (child.parent == no_cblk || child.end_blok < child.first_blok + 3) continue;
        Cblk& parent = structure_.cblks[child.parent];
        if (parent.end_blok < parent.first_blok + 2) continue;
        Blok& last = structure_.bloks[parent.end_blok - 1];
        if (last.height() < 2 || structure_.bloks[child.end_blok - 1].end_row != last.end_row) continue;
        --last.end_row;
        --parent.stride;
        return expect_rejected("rows missing in the parent");
    }
    FAIL() << "no such parent";
}

TEST_F(Validate, RejectsKeptCblksOutsideTheLastSupernode) {
    ASSERT_EQ(structure_.first_kept_cblk, structure_.num_cblks());
    structure_.first_kept_cblk = structure_.num_cblks() + 1;
    expect_rejected("first_kept_cblk out of range");
    structure_.first_kept_cblk = structure_.num_cblks() - 1;
    ASSERT_EQ(structure_.cblks[structure_.num_cblks() - 2].supernode, structure_.cblks.back().supernode);
    expect_rejected("supernode with kept and other cblks");
    structure_.first_kept_cblk = 0;
    expect_rejected("kept cblk");
}

TEST_F(Validate, RejectsWrongTotals) {
    ++structure_.stored;
    expect_rejected("wrong number of stored coefficients");
}

TEST_F(Validate, TreeDepthIsTheLongestPath) {
    int longest = 0;
    for (Cblk const& leaf : structure_.cblks) {
        int length = 1;
        for (CblkId p = leaf.parent; p != no_cblk; p = structure_.cblks[p].parent) ++length;
        longest = std::max(longest, length);
    }
    EXPECT_EQ(tree_depth(structure_), longest);
}

} // namespace
} // namespace espalier
