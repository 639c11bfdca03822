#include "mapping/cost_model.hpp"

#include <gtest/gtest.h>

namespace espalier {
namespace {

// One cblk of 5 columns with bloks of 3 and 2 rows that face cblk 1, and of 4 rows that face cblk 2.
BlockStructure three_cblks() {
    BlockStructure structure;
    structure.cblks = {
        {0, 5, 0, 4, 14, 1, 0, 0}, {5, 15, 4, 6, 20, 2, 0, 1}, {15, 25, 6, 7, 10, no_cblk, 0, 2}};
    structure.bloks = {{0, 5, 0, 0},  {6, 9, 1, 5},    {11, 13, 1, 8}, {15, 19, 2, 10},
                       {5, 15, 1, 0}, {15, 25, 2, 10}, {15, 25, 2, 0}};
    structure.n = 25;
    structure.first_kept_cblk = 3;
    return structure;
}

CostModel with(PanelTerm panel, double panel_seconds, UpdateTerm update, double update_seconds) {
    CostModel model;
    model.panel_seconds = {};
    model.update_seconds = {};
    model.panel_seconds[panel] = panel_seconds;
    model.update_seconds[update] = update_seconds;
    return model;
}

TEST(CostModel, TakesTheBloksThatFaceTheSameCblkAsOneUpdate) {
    auto const structure = three_cblks();
    UpdateShape const first = update_shape(structure, structure.cblks[0], 1);
    EXPECT_EQ(first.rows, 9);
    EXPECT_EQ(first.cols, 5);
    EXPECT_EQ(first.depth, 5);
    EXPECT_EQ(first.stride, 14);
    EXPECT_EQ(first.bloks, 2);
    EXPECT_EQ(first.runs, 3);
    UpdateShape const second = update_shape(structure, structure.cblks[0], 3);
    EXPECT_EQ(second.rows, 4);
    EXPECT_EQ(second.cols, 4);
    EXPECT_EQ(second.bloks, 1);
    EXPECT_EQ(second.runs, 1);
}

TEST(CostModel, AddsUpPanelsAndUpdatesOfEachCblk) {
    auto structure = three_cblks();
    auto const model = with(PanelTerm::solve_entry, 1, UpdateTerm::call, 100);
    EXPECT_EQ(cblk_costs(structure, model), (std::vector<double>{9 * 5 + 200, 10 * 10 + 100, 0}));
    structure.first_kept_cblk = 1;
    EXPECT_EQ(cblk_costs(structure, model), (std::vector<double>{9 * 5 + 200, 0, 0}));
}

TEST(CostModel, CountsBothSidesOfLu) {
    KernelSet const cholesky{KernelKind::cholesky, 8}, lu{KernelKind::lu, 8};
    EXPECT_EQ(panel_counts(lu, 10, 30)[PanelTerm::solve_flop],
              2 * panel_counts(cholesky, 10, 30)[PanelTerm::solve_flop]);
    // Rows x cols on the side of L, and the part below the group on the side of U.
    UpdateShape const shape{30, 8, 5, 40, 1, 1};
    EXPECT_EQ(update_counts(cholesky, shape)[UpdateTerm::target], 30 * 8);
    EXPECT_EQ(update_counts(lu, shape)[UpdateTerm::target], 30 * 8 + 22 * 8);
    EXPECT_EQ(update_counts(lu, shape)[UpdateTerm::flop], 2 * 5 * (30 * 8 + 22 * 8));
}

TEST(CostModel, LeavesOutWhatLiesAboveTheStripsOfASymmetricUpdate) {
    UpdateShape const shape{1000, 300, 1, 1001, 1, 1};
    EXPECT_EQ(update_counts({KernelKind::cholesky, 8}, shape)[UpdateTerm::target],
              1000 * 128 + 872 * 128 + 744 * 44);
}

TEST(CostModel, ReadsTheSourceOfAColdUpdateFromMemory) {
    KernelSet const cholesky{KernelKind::cholesky, 8}, lu{KernelKind::lu, 8};
    UpdateShape shape{30, 8, 5, 40, 1, 1};
    EXPECT_EQ(update_counts(cholesky, shape)[UpdateTerm::cold], 0);
    shape.is_cold = true;
    EXPECT_EQ(update_counts(cholesky, shape)[UpdateTerm::cold], 30 * 5);
    EXPECT_EQ(update_counts(lu, shape)[UpdateTerm::cold], 2 * 30 * 5);
}

TEST(CostModel, SendsShortRunsThroughTheBuffer) {
    auto const part = [](Index rows, BlokId runs, BlokId bloks) {
        auto const counts = update_counts({KernelKind::cholesky, 8}, {rows, 10, 20, rows + 20, bloks, runs});
        return counts[UpdateTerm::scatter] / counts[UpdateTerm::target];
    };
    EXPECT_LT(part(2000, 2, 1), 0.01);
    EXPECT_GT(part(200, 50, 1), 0.98);
    EXPECT_EQ(part(2000, 2, 2), 1); // columns that are not adjacent
    for (BlokId runs = 1; runs < 20; ++runs) EXPECT_LT(part(640, runs, 1), part(640, runs + 1, 1));
}

TEST(CostModel, KnowsPanelsWhoseColumnsCollide) {
    auto const is_strided = [](KernelSet kernels, UpdateShape const& shape) {
        auto const counts = update_counts(kernels, shape);
        EXPECT_EQ(counts[UpdateTerm::flop] == 0, counts[UpdateTerm::strided] > 0);
        return counts[UpdateTerm::strided] > 0;
    };
    KernelSet const real{KernelKind::cholesky, 8}, complex{KernelKind::cholesky, 16};
    EXPECT_TRUE(is_strided(real, {100, 50, 128, 1024, 1, 1}));
    EXPECT_FALSE(is_strided(real, {100, 50, 128, 1025, 1, 1}));
    EXPECT_FALSE(is_strided(real, {100, 50, 32, 1024, 1, 1})); // so few columns stay in the cache
    EXPECT_FALSE(is_strided(real, {100, 50, 128, 64 * 9, 1, 1}));
    EXPECT_TRUE(is_strided(complex, {100, 50, 128, 64 * 9, 1, 1}));
    EXPECT_TRUE(is_strided({KernelKind::ldl, 8}, {200, 128, 64, 333, 1, 1}));     // the copy L D of the rows
    EXPECT_TRUE(is_strided({KernelKind::lu, 8}, {200, 100, 64, 64 + 256, 1, 1})); // the panel of U
    EXPECT_GT(panel_counts(real, 64, 1024 - 64)[PanelTerm::solve_strided], 0);
}

TEST(CostModel, SlowsEverythingDownWhenAllThreadsWork) {
    auto const structure = three_cblks();
    CostModel alone, together;
    together.contention = 1.25;
    together.threads_per_core = 2;
    auto const costs = cblk_costs(structure, alone), slow = cblk_costs(structure, together);
    for (std::size_t k = 0; k < costs.size(); ++k) EXPECT_DOUBLE_EQ(slow[k], 2.5 * costs[k]);
    EXPECT_DOUBLE_EQ(together.add(10, 20), 2.5 * alone.add(10, 20));
}

TEST(CostModel, ShipsOneForEveryScalarThatGrowsWithEverySize) {
    CostModel const real = default_cost_model(Scalar::d, KernelKind::cholesky);
    for (Scalar const scalar : {Scalar::s, Scalar::d, Scalar::c, Scalar::z})
        for (KernelKind const kind : {KernelKind::cholesky, KernelKind::ldl, KernelKind::lu}) {
            CostModel const model = default_cost_model(scalar, kind);
            EXPECT_EQ(model.kernels.kind, kind);
            auto const update = [&](Index rows, Index cols, Index depth) {
                return model.update({rows, cols, depth, depth + rows + 1, 1, 2});
            };
            EXPECT_GT(update(200, 50, 60), 0);
            EXPECT_GT(update(201, 50, 60), update(200, 50, 60));
            EXPECT_GT(update(200, 51, 60), update(200, 50, 60));
            EXPECT_GT(update(200, 50, 61), update(200, 50, 60));
        }
    auto const flop = [](Scalar s) {
        return default_cost_model(s, KernelKind::cholesky).update_seconds[UpdateTerm::flop];
    };
    EXPECT_DOUBLE_EQ(flop(Scalar::z), 4 * flop(Scalar::d));
    EXPECT_DOUBLE_EQ(flop(Scalar::s), flop(Scalar::d) / 2);
    EXPECT_DOUBLE_EQ(flop(Scalar::c), flop(Scalar::d) * 2);
    EXPECT_EQ(real.kernels.scalar_bytes, 8U);
}

} // namespace
} // namespace espalier
