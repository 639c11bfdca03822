// Cancellation of a factorization under way, and what can be done with the objects afterwards.
#include <gtest/gtest.h>

#include <thread>

#include "core/timer.hpp"
#include "support.hpp"

namespace espalier {
namespace {

using namespace testing;
using namespace std::chrono_literals;

// The wide cblks of real use.
System<double> wide_system(char const* spec, int workers) {
    return {real(spec), Factorization::ldlt, workers, {}, SymbolicOptions()};
}

template <class T> void expect_equal(Factor<T> const& a, Factor<T> const& b) {
    for (CblkId k = 0; k < a.structure().num_cblks(); ++k)
        for (Index j = 0; j < a.cblk(k).width(); ++j)
            ASSERT_TRUE(std::equal(a.lower(k).column(j) + j, a.lower(k).column(j) + a.cblk(k).stride,
                                   b.lower(k).column(j) + j))
                << "cblk " << k;
}

template <class T> Status status_of_factorize(System<T>& system, Interrupt& interrupt) {
    FactorizeOptions options;
    options.interrupt = &interrupt;
    try {
        system.factorize(options);
    } catch (Error const& error) {
        return error.status();
    }
    return Status::ok;
}

TEST(Interrupt, EndsAFactorizationSoonAndLeavesItsObjectsUsable) {
    for (int const workers : {1, 3}) {
        auto system = wide_system("lap3d:38", workers);
        Timer timer;
        Factor<double> reference(system.structure);
        reference.allocate({system.kind}, system.plan.owner_of_cblk, Allocation::local, system.team);
        factorize(system.matrix, system.assembly, system.plan, reference, system.team, {});
        double const whole = timer.seconds();

        int questions = 0;
        Interrupt asked([&] { return ++questions == 2; });
        timer.restart();
        EXPECT_EQ(status_of_factorize(system, asked), Status::cancelled);
        EXPECT_LT(timer.seconds(), 0.5 * whole + 0.05);
        EXPECT_EQ(questions, 2);

        Interrupt told;
        std::atomic<double> told_at{0};
        timer.restart();
        std::thread other([&] {
            std::this_thread::sleep_for(20ms);
            told_at = timer.seconds();
            told.request();
        });
        EXPECT_EQ(status_of_factorize(system, told), Status::cancelled);
        double const latency = timer.seconds() - told_at;
        other.join();
        EXPECT_LT(latency, 0.5 * whole + 0.05);

        Interrupt silent([] { return false; });
        EXPECT_EQ(status_of_factorize(system, silent), Status::ok);
        expect_equal(system.factor, reference);
    }
}

TEST(Interrupt, BeforeTheStartIsHeededByEveryStep) {
    Interrupt interrupt;
    interrupt.request();
    System<double> system(real("lap2d:8"), Factorization::lu, 2);
    EXPECT_EQ(status_of_factorize(system, interrupt), Status::cancelled);
    EXPECT_THROW(AssemblyMap(system.matrix, system.structure, &interrupt), Error);
    EXPECT_THROW(system.factor.clear_owned(0, &interrupt), Error);
    SymbolicOptions symbolic;
    symbolic.interrupt = &interrupt;
    EXPECT_THROW(System<double>(system.matrix, Factorization::lu, 2, {}, symbolic), Error);
    Interrupt silent;
    EXPECT_EQ(status_of_factorize(system, silent), Status::ok);
}

TEST(Interrupt, WhatTheQuestionThrowsComesOut) {
    auto system = wide_system("lap3d:20", 2);
    Interrupt interrupt([]() -> bool { throw std::domain_error("asked too much"); });
    FactorizeOptions options;
    options.interrupt = &interrupt;
    EXPECT_THROW(system.factorize(options), std::domain_error);
    EXPECT_EQ(system.factorize().pivots_replaced, 0);
}

} // namespace
} // namespace espalier
