#include "factor/kernel_timing.hpp"

#include <gtest/gtest.h>

#include "core/status_of.hpp"
#include "factor/support.hpp"

namespace espalier {
namespace {

BlockStructure lattice() {
    return testing::System<double>(testing::real("lap3d:8"), Factorization::llh, 1).structure;
}

template <class T> void expect_model(Factorization kind, WorkerTeam& team) {
    BlockStructure const structures[] = {lattice()};
    // This is far more time than the lattice takes. All of its cblks are measured on a slow machine too.
    KernelTimings const timings = time_kernels<T>(structures, {kind}, team, {1, nullptr});
    ASSERT_GT(timings.samples.panels.size(), 100U);
    ASSERT_GT(timings.samples.updates.size(), 100U);
    for (auto const& sample : timings.samples.updates) ASSERT_GT(sample.seconds, 0);
    if (team.size() == 1)
        EXPECT_EQ(timings.contention, 1);
    else
        EXPECT_GT(timings.contention, 0.2); // the machine may be busy with other work
    Calibration const found = fit_cost_model(timings.samples, scalar_of<T>, kernel_kind(kind));
    EXPECT_LT(std::abs(found.update.total_error), 0.5);
    // The time is more than very short and less than hours.
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
    BlockStructure const structures[] = {lattice()};
    auto const kernels = [&] {
        time_kernels<double>(structures, {Factorization::llh}, team, {10, &interrupt});
    };
    EXPECT_EQ(status_of(kernels), Status::cancelled);
    EXPECT_EQ(status_of([&] { (void)time_memory(team, &interrupt); }), Status::cancelled);
}

TEST(KernelTiming, MeasuresMemory) {
    WorkerTeam team(Topology::detect(), 2);
    MemoryRates const rates = time_memory(team);
    EXPECT_GT(rates.one, 1e7);
    EXPECT_LT(rates.one, 1e13);
    EXPECT_GE(rates.all, rates.one);
    EXPECT_GT(rates.read_one, 1e7);
    EXPECT_LT(rates.read_one, 1e13);
    EXPECT_GE(rates.read_all, rates.read_one);
    EXPECT_GE(rates.one, rates.all / 2);
    EXPECT_GE(rates.read_one, rates.read_all / 2);
    EXPECT_GT(rates.first_touch, 1e6);
    EXPECT_LT(rates.first_touch, 1e12);
}

} // namespace
} // namespace espalier
