// Timings of links between threads that play the role of processes.

#include "comm/network_timing.hpp"

#include "comm/thread_processes.hpp"

namespace espalier {
namespace {

TEST(NetworkTiming, MeasuresSomeLinksAndTheLast) {
    run_processes(5, [](Communicator const& comm) {
        auto const links = time_links(comm, 2);
        ASSERT_EQ(links.size(), comm.rank() == 0 ? 2u : 0u);
        if (comm.rank() > 0) return;
        EXPECT_EQ(links[0].process, 2);
        EXPECT_EQ(links[1].process, 4);
        for (LinkTiming const& link : links) {
            EXPECT_GT(link.latency, 0);
            EXPECT_LT(link.latency, 1);
            EXPECT_GT(link.bandwidth, 1e6);
        }
    });
    EXPECT_TRUE(time_links(Communicator()).empty());
}

TEST(NetworkTiming, ReturnsTheSlowestInEachRespect) {
    LinkTiming const worst = slowest({{1, 2e-6, 5e9}, {2, 1e-6, 1e9}, {3, 9e-6, 4e9}});
    EXPECT_EQ(worst.process, 2);
    EXPECT_EQ(worst.latency, 9e-6);
    EXPECT_EQ(worst.bandwidth, 1e9);
}

} // namespace
} // namespace espalier
