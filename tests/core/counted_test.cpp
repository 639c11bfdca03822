#include "core/counted.hpp"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(Counted, HasTheNounInTheSingularOnlyForOne) {
    EXPECT_EQ(counted(0, "thread"), "0 threads");
    EXPECT_EQ(counted(1, "thread"), "1 thread");
    EXPECT_EQ(counted(1234, "thread"), "1234 threads");
    EXPECT_EQ(counted(1, "pivot was", "pivots were"), "1 pivot was");
    EXPECT_EQ(counted(2, "pivot was", "pivots were"), "2 pivots were");
    EXPECT_EQ(noun_for(2, "entry", "entries"), "entries");
}

} // namespace
} // namespace espalier
