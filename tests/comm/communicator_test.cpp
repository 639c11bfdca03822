
#include <gtest/gtest.h>

#include "comm/process_group.hpp"
#include "core/status_of.hpp"
#include "espalier/types.hpp"

namespace espalier {
namespace {

// tests/cli/processes_test.py tests several processes under a launcher.
TEST(ProcessGroup, HasOneProcessWithoutALauncher) {
    ProcessGroup const group(nullptr, nullptr);
    EXPECT_EQ(group.rank(), 0);
    EXPECT_EQ(group.size(), 1);
    EXPECT_EQ(group.world().size(), 1);
}

TEST(Communicator, IsTheCallingProcessByDefault) {
    Communicator const comm;
    EXPECT_EQ(comm.rank(), 0);
    EXPECT_EQ(comm.size(), 1);
}

TEST(Communicator, IsRefusedWhileMpiDoesNotRun) {
    int const not_looked_at = 0;
    Status const status = status_of([&] { Communicator::from_mpi(&not_looked_at); });
    EXPECT_TRUE(status == Status::usage || status == Status::unsupported);
}

} // namespace
} // namespace espalier
