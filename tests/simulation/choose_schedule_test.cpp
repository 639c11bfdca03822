#include "simulation/choose_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/status_of.hpp"
#include "symbolic/graphs.hpp"

namespace espalier {
namespace {

SupernodalStructure const& box() {
    static SupernodalStructure const whole =
        find_supernodes(uncompressed(testing::grid(16, 16, 16)), testing::nested_dissection(16, 16, 16), {});
    return whole;
}

CostModel costs() {
    return default_cost_model(Scalar::d, KernelKind::cholesky);
}

MachineModel machine(int processes, int threads, int nodes) {
    MachineModel model;
    model.processes = processes;
    model.threads = threads;
    for (int t = 0; t < threads; ++t) model.node_of_thread.push_back(t * nodes / threads);
    return model;
}

ScheduleOptions automatic() {
    ScheduleOptions options;
    options.schedule = SchedulePolicy::automatic;
    return options;
}

double predicted(MachineModel const& model, ScheduleSettings const& settings) {
    auto const widths = piece_widths(box().supernodes, settings, model.num_workers());
    ScheduleOptions options{settings};
    options.models_memory = true;
    return simulate_schedule(split_structure(box(), widths), costs(), model, options).makespan();
}

TEST(ChooseSchedule, KeepsAGivenPolicy) {
    MachineModel const model = machine(2, 4, 1);
    ScheduleOptions options;
    options.schedule = SchedulePolicy::nas;
    options.max_block_width = 40;
    ScheduleChoice const choice = choose_schedule(box(), costs(), {&model, 1}, options);
    EXPECT_EQ(choice.settings.schedule, SchedulePolicy::nas);
    EXPECT_EQ(choice.settings.max_block_width, 40);
    EXPECT_EQ(choice.tried, 0);
    EXPECT_LT(choice.seconds, 0);
}

TEST(ChooseSchedule, ExpectsWhatTheSimulationOfItsChoiceGives) {
    for (MachineModel const& model : {machine(1, 1, 1), machine(1, 6, 2), machine(4, 8, 2)}) {
        ScheduleChoice const choice = choose_schedule(box(), costs(), {&model, 1}, automatic());
        EXPECT_NE(choice.settings.schedule, SchedulePolicy::automatic);
        EXPECT_DOUBLE_EQ(choice.seconds, predicted(model, choice.settings));
        EXPECT_DOUBLE_EQ(choice.default_seconds, predicted(model, {}));
        EXPECT_LE(choice.seconds, choice.default_seconds);
        EXPECT_GT(choice.tried, 3);
    }
}

TEST(ChooseSchedule, BeatsTheDefaultsOnManyWorkers) {
    MachineModel const model = machine(4, 16, 2);
    ScheduleChoice const choice = choose_schedule(box(), costs(), {&model, 1}, automatic());
    EXPECT_LT(choice.seconds, choice.default_seconds / 1.2);
}

TEST(ChooseSchedule, EqualInputsHaveEqualChoices) {
    MachineModel const model = machine(3, 8, 2);
    ScheduleChoice const one = choose_schedule(box(), costs(), {&model, 1}, automatic());
    ScheduleChoice const two = choose_schedule(box(), costs(), {&model, 1}, automatic());
    EXPECT_EQ(one.settings.schedule, two.settings.schedule);
    EXPECT_EQ(one.settings.splitting, two.settings.splitting);
    EXPECT_EQ(one.settings.max_block_width, two.settings.max_block_width);
    EXPECT_EQ(one.settings.split_rows, two.settings.split_rows);
    EXPECT_EQ(one.tried, two.tried);
    EXPECT_EQ(one.seconds, two.seconds);
}

TEST(ChooseSchedule, KeepsGivenWidthsAndWhatItDoesNotChoose) {
    MachineModel const model = machine(2, 8, 2);
    ScheduleOptions options = automatic();
    options.max_block_width = 24;
    options.allocation = Allocation::interleave;
    options.splitting = Splitting::two_d;
    ScheduleChoice const choice = choose_schedule(box(), costs(), {&model, 1}, options);
    EXPECT_EQ(choice.settings.max_block_width, 24);
    EXPECT_EQ(choice.settings.allocation, Allocation::interleave);
    ScheduleSettings defaults;
    defaults.max_block_width = 24;
    defaults.allocation = Allocation::interleave;
    EXPECT_DOUBLE_EQ(choice.default_seconds, predicted(model, defaults));
}

TEST(ChooseSchedule, KeepsAGivenLeastWidth) {
    ScheduleOptions options = automatic();
    options.min_block_width = 150;
    for (MachineModel const& model : {machine(1, 1, 1), machine(4, 16, 2)}) {
        ScheduleChoice const choice = choose_schedule(box(), costs(), {&model, 1}, options);
        EXPECT_EQ(choice.settings.min_block_width, 150);
        Index const most = choice.settings.max_block_width;
        EXPECT_TRUE(most == 0 || most >= 150) << most;
        EXPECT_DOUBLE_EQ(choice.seconds, predicted(model, choice.settings));
    }
}

TEST(PieceWidthsOfSettings, TheLeastWidthIsObeyed) {
    auto const& supernodes = box().supernodes;
    Index const widest = std::ranges::max(supernodes.width);
    for (Index const least : {1, 20, 100, 200, 300})
        for (Index const most : {0, 100, 250, 300}) {
            if (most > 0 && least > most) continue;
            ScheduleSettings settings;
            settings.min_block_width = least;
            settings.max_block_width = most;
            auto const structure = split_structure(box(), piece_widths(supernodes, settings, 64));
            Index pieces = 0;
            std::vector<Index> width(structure.num_supernodes, 0);
            for (Cblk const& cblk : structure.cblks) width[cblk.supernode] += cblk.width();
            for (Cblk const& cblk : structure.cblks) {
                EXPECT_GE(cblk.width(), std::min(least, width[cblk.supernode])) << least << " " << most;
                pieces += cblk.width() < width[cblk.supernode] ? 1 : 0;
            }
            EXPECT_EQ(pieces > 0, std::max(2 * least, most + 1) <= widest) << least << " " << most;
        }
}

TEST(ChooseSchedule, TakesTheBestShapeOfTheMachine) {
    std::vector<MachineModel> shapes{machine(8, 1, 1), machine(1, 8, 1)};
    shapes[0].network.latency = 1e-2;
    EXPECT_EQ(choose_schedule(box(), costs(), shapes, automatic()).machine, 1U);
    std::swap(shapes[0], shapes[1]);
    EXPECT_EQ(choose_schedule(box(), costs(), shapes, automatic()).machine, 0U);
}

TEST(ChooseSchedule, CanBeCancelled) {
    MachineModel const model = machine(2, 4, 1);
    Interrupt interrupt([] { return true; });
    EXPECT_EQ(status_of([&] { choose_schedule(box(), costs(), {&model, 1}, automatic(), &interrupt); }),
              Status::cancelled);
}

} // namespace
} // namespace espalier
