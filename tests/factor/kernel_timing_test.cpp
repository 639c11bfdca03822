#include "factor/kernel_timing.hpp"

#include <gtest/gtest.h>

#include "core/status_of.hpp"
#include "factor/timing_structure.hpp"
#include "kernels/blas.hpp"

namespace espalier {
namespace {

TEST(TimingStructure, HasEveryRowOfACblkInThePanelsItUpdates) {
    for (Factorization const kind : {Factorization::llh, Factorization::lu}) {
        BlockStructure const s = make_timing_structure({kind}, sizeof(double), {});
        Index widest = 0, tallest = 0;
        for (CblkId k = 0; k < s.num_cblks(); ++k) {
            Cblk const& cblk = s.cblks[k];
            widest = std::max(widest, cblk.width());
            tallest = std::max(tallest, cblk.stride);
            Index row = 0, panel_row = 0;
            for (BlokId b = cblk.first_blok; b < cblk.end_blok; ++b) {
                Blok const& blok = s.bloks[b];
                Cblk const& facing = s.cblks[blok.facing_cblk];
                ASSERT_GT(blok.height(), 0);
                ASSERT_GE(blok.first_row, row);
                ASSERT_EQ(blok.panel_row, panel_row);
                ASSERT_GE(blok.first_row, facing.first_col);
                ASSERT_LE(blok.end_row, facing.end_col);
                ASSERT_GE(blok.facing_cblk, k);
                row = blok.end_row;
                panel_row += blok.height();
                // The target has all later columns of its front.
                if (b > cblk.first_blok) {
                    Blok const& last = s.bloks[facing.end_blok - 1];
                    ASSERT_LE(s.bloks[cblk.end_blok - 1].end_row, last.end_row);
                    ASSERT_EQ(last.end_row - facing.first_col, facing.stride);
                }
            }
            ASSERT_EQ(cblk.stride, panel_row);
        }
        EXPECT_EQ(widest, 256);
        EXPECT_GT(tallest, 1500);
    }
}

TEST(TimingStructure, StaysWithinItsLimits) {
    auto const bytes = [](double most, double flops) {
        FactorForm const form{Factorization::ldlt};
        return panel_bytes(make_timing_structure(form, 16, {most, flops}), form, 16);
    };
    EXPECT_LT(bytes(256e6, 1e12), 300e6);
    EXPECT_LT(bytes(20e6, 1e12), 25e6);
    EXPECT_LT(bytes(256e6, 1e9), bytes(256e6, 1e12));
    EXPECT_GT(bytes(0, 0), 0U); // small fronts at least
}

template <class T> void expect_model(Factorization kind, WorkerTeam& team) {
    KernelTimings const timings = time_kernels<T>({kind}, team, {0.005, 4e6, nullptr});
    ASSERT_GT(timings.samples.panels.size(), 100U);
    ASSERT_GT(timings.samples.updates.size(), 100U);
    for (auto const& sample : timings.samples.updates) ASSERT_GT(sample.seconds, 0);
    if (team.size() == 1)
        EXPECT_EQ(timings.contention, 1);
    else
        EXPECT_GT(timings.contention, 0.2); // the machine may have other work to do
    Calibration const found = fit_cost_model(timings.samples, scalar_of<T>, kernel_kind(kind));
    EXPECT_LT(std::abs(found.update.total_error), 0.5);
    // Between very small and hours.
    double const seconds = found.model.update({100, 40, 50, 153, 1, 3});
    EXPECT_GT(seconds, 1e-7);
    EXPECT_LT(seconds, 1);
}

TEST(KernelTiming, GivesAModelForEveryScalarAndFactorization) {
    set_blas_threads(1);
    WorkerTeam one(Topology::detect(), 1), two(Topology::detect(), 2);
    expect_model<double>(Factorization::llh, two);
    expect_model<float>(Factorization::ldlt, one);
    expect_model<std::complex<float>>(Factorization::lu, one);
    expect_model<std::complex<double>>(Factorization::ldlh, two);
}

TEST(KernelTiming, CanBeCancelled) {
    set_blas_threads(1);
    WorkerTeam team(Topology::detect(), 2);
    Interrupt interrupt;
    interrupt.request();
    auto const kernels = [&] { time_kernels<double>({Factorization::llh}, team, {10, 4e6, &interrupt}); };
    EXPECT_EQ(status_of(kernels), Status::cancelled);
    EXPECT_EQ(status_of([&] { (void)time_memory(team, &interrupt); }), Status::cancelled);
}

TEST(KernelTiming, MeasuresMemory) {
    WorkerTeam team(Topology::detect(), 2);
    MemoryRates const rates = time_memory(team);
    EXPECT_GT(rates.one, 1e7);
    EXPECT_LT(rates.one, 1e13);
    EXPECT_GT(rates.all, rates.one / 2);
}

} // namespace
} // namespace espalier
