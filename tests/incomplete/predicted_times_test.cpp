#include "incomplete/predicted_times.hpp"

#include <gtest/gtest.h>

#include "generators/generators.hpp"
#include "rows/fill_pattern.hpp"

namespace espalier {
namespace {

RowPattern pattern_of(char const* spec, Index levels = 0) {
    return fill_pattern(block_pattern(std::get<CscMatrix<double>>(generate_matrix(spec).matrix), 1), levels);
}

/// Each row costs 1; nothing else has a cost.
RowCosts unit_rows() {
    return {.byte = 0,
            .row = 1,
            .gather = 0,
            .flop = 0,
            .update = 0,
            .factor_row = 1,
            .wait = 0,
            .chunk = 0,
            .check = 0};
}

TEST(PredictedTimes, AreTheSumOfAllRowsForOneWorker) {
    auto const pattern = pattern_of("lap3d:5");
    auto const order = make_execution_order(pattern, 1);
    auto const units = predict_sweeps(pattern, order, 1, 8, unit_rows());
    EXPECT_EQ(units.solve_s, 250);
    EXPECT_EQ(units.work_s, 250);
    EXPECT_EQ(units.factor_s, 125);
    RowCosts bytes = unit_rows();
    bytes.row = 0;
    bytes.byte = 1;
    // Each block has 8 bytes and an index; each row of a sweep reads and writes a vector.
    auto const by_bytes = predict_sweeps(pattern, order, 1, 8, bytes);
    EXPECT_EQ(by_bytes.solve_s, static_cast<double>(12 * pattern.num_blocks() + 2 * 16 * 125));
}

TEST(PredictedTimes, DoNotImproveWithWorkersForAChain) {
    auto const pattern = pattern_of("lap2d:1");
    EXPECT_EQ(predict_sweeps(pattern, make_execution_order(pattern, 3, "none"), 1, 8, unit_rows()).solve_s,
              2);
    RowPattern chain;
    chain.num_rows = 10;
    chain.symmetric = true;
    for (BlockRow i = 0; i < 10; ++i) {
        if (i > 0) chain.cols.push_back(i - 1);
        chain.diagonal.push_back(std::ssize(chain.cols));
        chain.cols.push_back(i);
        if (i < 9) chain.cols.push_back(i + 1);
        chain.ptr.push_back(std::ssize(chain.cols));
    }
    auto const order = make_execution_order(chain, 3, "none");
    EXPECT_EQ(predict_sweeps(chain, order, 1, 8, unit_rows()).solve_s, 20);
    EXPECT_EQ(
        predict_sweeps(chain, choose_execution_order(chain, 3, 1, 8, unit_rows()), 1, 8, unit_rows()).solve_s,
        20);
}

TEST(PredictedTimes, AreBetweenTheShareOfAWorkerAndAllWork) {
    for (char const* spec : {"lap3d:8", "convdiff3d:3"})
        for (Index const levels : {0, 2})
            for (int const workers : {2, 4}) {
                auto const pattern = pattern_of(spec, levels);
                for (char const* text : {"", "none", "F(8)", "D(20)"}) {
                    auto const order = make_execution_order(pattern, workers, text);
                    auto const predicted = predict_sweeps(pattern, order, 1, 8, unit_rows());
                    EXPECT_EQ(predicted.work_s, 2.0 * pattern.num_rows);
                    EXPECT_GE(predicted.solve_s, predicted.work_s / workers);
                    EXPECT_LE(predicted.solve_s, predicted.work_s);
                }
            }
}

TEST(PredictedTimes, IncludeTheCostsOfChunksAndOfWaits) {
    auto const pattern = pattern_of("lap3d:6");
    auto const order = make_execution_order(pattern, 2, "none");
    auto const one = make_execution_order(pattern, 1, "none");
    RowCosts costs = unit_rows();
    costs.chunk = 0.5;
    EXPECT_EQ(predict_sweeps(pattern, one, 1, 8, costs).solve_s, 2 * 216 * 1.5);
    EXPECT_EQ(predict_sweeps(pattern, one, 1, 8, costs).work_s, 2 * 216);
    RowCosts checked = unit_rows();
    checked.check = 100;
    auto const waits = static_cast<double>(order.forward.waits.size() + order.backward.waits.size());
    double const slower = predict_sweeps(pattern, order, 1, 8, checked).solve_s;
    EXPECT_GE(slower, 100 * waits / 2);
    EXPECT_LE(slower, 100 * waits + 2 * 216);
    EXPECT_EQ(predict_sweeps(pattern, one, 1, 8, checked).solve_s, 2 * 216);
    EXPECT_GT(predict_sweeps(pattern, one, 1, 8, RowCosts().with_tasks()).solve_s,
              3 * predict_sweeps(pattern, one, 1, 8).solve_s);
}

TEST(ChooseExecutionOrder, IsNotSlowerThanItsCandidates) {
    auto const pattern = pattern_of("lap3d:12");
    for (int const workers : {2, 8}) {
        auto const time = [&](ExecutionOrder const& order) {
            return predict_sweeps(pattern, order, 1, 8).solve_s;
        };
        auto const chosen = choose_execution_order(pattern, workers, 1, 8);
        EXPECT_EQ(chosen.num_workers, workers);
        EXPECT_LE(time(chosen), time(make_execution_order(pattern, workers)));
        EXPECT_LE(time(chosen), time(make_execution_order(pattern, workers, one_chunk)));
    }
}

TEST(ChooseExecutionOrder, TakesThePipelineOfALargeGrid) {
    EXPECT_EQ(choose_execution_order(pattern_of("lap3d:30"), 2, 1, 8).coarse_string, "W(2)");
    EXPECT_EQ(choose_execution_order(pattern_of("lap2d:150"), 3, 1, 8).coarse_string, "W(3)");
    // Each plane would have to wait for nearly all of the plane before it.
    auto const with_fill = fill_pattern(pattern_of("lap3d:16"), 1);
    EXPECT_FALSE(has_pipeline(with_fill, 2));
    EXPECT_NE(choose_execution_order(with_fill, 2, 1, 8).coarse_string, "W(2)");
}

TEST(ChooseExecutionOrder, TakesOneChunkIfWaitsCostMoreThanRows) {
    auto const pattern = pattern_of("lap3d:8");
    RowCosts costs;
    costs.wait = 1;
    EXPECT_EQ(choose_execution_order(pattern, 4, 1, 8, costs).coarse_string, "one");
    costs.wait = 0;
    EXPECT_NE(choose_execution_order(pattern, 4, 1, 8, costs).coarse_string, "one");
    EXPECT_EQ(choose_execution_order(pattern, 1, 1, 8, costs).coarse_string, "one");
}

} // namespace
} // namespace espalier
