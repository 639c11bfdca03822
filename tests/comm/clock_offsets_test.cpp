// Clocks with known offsets. Threads play the role of processes.
#include <cstdlib>

#include "comm/clock_offsets.hpp"
#include "trace/clock.hpp"

#include "comm/thread_processes.hpp"

namespace espalier {
namespace {

constexpr trace::Nanoseconds ahead = 5'000'000'000;

TEST(ClockOffsets, AreMeasuredWithinTheStatedError) {
    run_processes(3, [](Communicator const& comm) {
        auto const skewed = [&] { return trace::steady_now() + comm.rank() * ahead; };
        auto const offsets = measure_clock_offsets(comm, skewed, 1); // 1 is a wrong identity
        EXPECT_EQ(offsets.empty(), comm.rank() > 0);
        if (comm.rank() > 0) return;
        ASSERT_EQ(offsets.size(), 3u);
        EXPECT_EQ(offsets[0].offset, 0);
        for (int process = 1; process < 3; ++process) {
            EXPECT_LE(std::abs(offsets[process].offset - process * ahead), offsets[process].error);
            EXPECT_GT(offsets[process].error, 0);
            EXPECT_GE(offsets[process].at, process * ahead);
        }
    });
}

TEST(ClockOffsets, AreZeroForASharedClock) {
    run_processes(2, [](Communicator const& comm) {
        auto const offsets = measure_clock_offsets(comm);
        if (comm.rank() > 0) return;
        EXPECT_EQ(offsets[1].offset, 0);
        EXPECT_EQ(offsets[1].error, 0);
    });
    EXPECT_EQ(measure_clock_offsets(Communicator()).size(), 1u);
}

} // namespace
} // namespace espalier
