#include "mapping/branches.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "trees.hpp"

namespace espalier {
namespace {

TEST(Branches, OneWorkerGetsOneBranch) {
    auto const structure = tree_of({2, 2, no_cblk, 4, no_cblk});
    auto const partition = cut_branches(structure, {1, 1, 1, 1, 1}, 1);
    ASSERT_EQ(partition.branches.size(), 1U);
    EXPECT_EQ(partition.branches[0].first, 0);
    EXPECT_EQ(partition.branches[0].root, 4);
    EXPECT_DOUBLE_EQ(partition.branches[0].cost, 5);
    EXPECT_EQ(partition.branch_of_cblk, (std::vector<BranchId>{0, 0, 0, 0, 0}));
}

TEST(Branches, ConsecutiveSmallTreesAreOneBranch) {
    // The limit is 24 / (2 * 2) = 6. The tree of cblk 6 is cut, because it costs 9.
    auto const structure =
        tree_of({1, no_cblk, no_cblk, no_cblk, 6, 6, no_cblk, no_cblk, no_cblk, no_cblk, no_cblk});
    auto const partition = cut_branches(structure, {1, 1, 3, 2, 4, 2, 3, 2, 4, 1, 1}, 2, 2);
    std::vector<std::pair<CblkId, CblkId>> found;
    std::vector<double> costs;
    for (Branch const& branch : partition.branches) {
        found.emplace_back(branch.first, branch.root);
        costs.push_back(branch.cost);
    }
    EXPECT_EQ(found, (std::vector<std::pair<CblkId, CblkId>>{
                         {0, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 8}, {9, 10}}));
    EXPECT_EQ(costs, (std::vector<double>{5, 2, 4, 2, 3, 6, 2}));
}

TEST(Branches, CutAHeavyTreeBelowItsRoot) {
    // Two chains of three under one root; the limit 12 / (2 * 1) = 6 keeps each chain whole.
    auto const structure = tree_of({1, 2, 6, 4, 5, 6, no_cblk});
    auto const partition = cut_branches(structure, {1, 1, 3, 1, 1, 3, 2}, 2, 1);
    ASSERT_EQ(partition.branches.size(), 3U);
    EXPECT_EQ(partition.branches[0].root, 2);
    EXPECT_EQ(partition.branches[1].root, 5);
    EXPECT_EQ(partition.branches[2].first, 6);
}

TEST(Branches, NeverMixKeptCblksWithOthers) {
    // Kept: 4 and 5. Two subtrees hang from 4, one from 5, and there is another tree.
    auto structure = tree_of({1, 4, 3, 4, 5, no_cblk});
    structure.first_kept_cblk = 4;
    for (int const workers : {1, 3}) {
        auto const partition = cut_branches(structure, {1, 1, 1, 1, 0, 0}, workers, 0.01);
        std::vector<std::pair<CblkId, CblkId>> found;
        for (Branch const& branch : partition.branches) found.emplace_back(branch.first, branch.root);
        EXPECT_EQ(found, (std::vector<std::pair<CblkId, CblkId>>{{0, 1}, {2, 3}, {4, 4}, {5, 5}}));
    }
}

TEST(Branches, CoverEveryCblkOnceAndStayBelowTheLimitOnRandomForests) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        auto const parent = random_forest(200, seed);
        auto const structure = tree_of(parent);
        std::mt19937 engine(seed);
        std::vector<double> costs(parent.size());
        for (double& cost : costs) cost = 1 + static_cast<double>(engine() % 100);
        double const total = std::accumulate(costs.begin(), costs.end(), 0.0);
        int const workers = 1 + static_cast<int>(seed % 5);
        auto const partition = cut_branches(structure, costs, workers, 4);
        CblkId next = 0;
        double sum = 0;
        for (std::size_t b = 0; b < partition.branches.size(); ++b) {
            Branch const& branch = partition.branches[b];
            EXPECT_EQ(branch.first, next);
            next = branch.root + 1;
            sum += branch.cost;
            if (branch.first < branch.root && workers > 1) {
                EXPECT_LE(branch.cost, total / (workers * 4.0));
            }
            for (CblkId k = branch.first; k <= branch.root; ++k) {
                EXPECT_EQ(partition.branch_of_cblk[k], static_cast<BranchId>(b));
                if (k < branch.root) { // a whole subtree
                    EXPECT_LE(parent[k], branch.root);
                }
            }
        }
        EXPECT_EQ(next, static_cast<CblkId>(parent.size()));
        EXPECT_NEAR(sum, total, 1e-9 * total);
    }
}

} // namespace
} // namespace espalier
