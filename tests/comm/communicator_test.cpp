#include "comm/communicator.hpp"

#include <gtest/gtest.h>

namespace espalier {
namespace {

// Under a launcher the command's tests look at several processes (tests/cli/processes_test.py).
TEST(ProcessGroup, IsAloneWithoutALauncher) {
    ProcessGroup const group(nullptr, nullptr);
    EXPECT_EQ(group.rank(), 0);
    EXPECT_EQ(group.size(), 1);
}

} // namespace
} // namespace espalier
