#include "kernels/flush_denormals.hpp"

#include <gtest/gtest.h>

#include <limits>

using namespace espalier;

namespace {

// Computed at run time, in the current mode of the thread.
float half_of_smallest() {
    float volatile smallest = std::numeric_limits<float>::min();
    return smallest * 0.5f;
}

} // namespace

TEST(FlushDenormals, LastsAsLongAsTheObject) {
    EXPECT_GT(half_of_smallest(), 0);
    {
        FlushDenormals const outer(true);
#if defined(__x86_64__)
        EXPECT_EQ(half_of_smallest(), 0);
        float volatile denormal = std::numeric_limits<float>::denorm_min();
        EXPECT_EQ(denormal * 1e30f, 0);
        { FlushDenormals const inner(false); }
        EXPECT_EQ(half_of_smallest(), 0);
#endif
    }
    EXPECT_GT(half_of_smallest(), 0);
}

TEST(FlushDenormals, HasNoEffectIfItIsNotAskedFor) {
    FlushDenormals const mode(false);
    EXPECT_GT(half_of_smallest(), 0);
}
