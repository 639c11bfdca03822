// Whether the processor can execute the kernels that BLAS has chosen.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "kernels/blas.hpp"

namespace espalier {
namespace {

TEST(BlasCore, NeedsInstructionsOfTheProcessor) {
    using enum InstructionSet;
    EXPECT_EQ(instructions_of_blas_core("Prescott"), baseline);
    EXPECT_EQ(instructions_of_blas_core("Haswell"), avx2);
    EXPECT_EQ(instructions_of_blas_core("SkylakeX"), avx512);
    EXPECT_EQ(instructions_of_blas_core("a processor of the future"), std::nullopt);
    EXPECT_NO_THROW(require_executable_blas("Prescott", baseline));
    EXPECT_NO_THROW(require_executable_blas("SkylakeX", avx512));
    EXPECT_NO_THROW(require_executable_blas("a processor of the future", baseline));
    try {
        require_executable_blas("SkylakeX", avx2);
        FAIL() << "accepted";
    } catch (Error const& error) {
        EXPECT_EQ(error.status(), Status::unsupported);
        EXPECT_NE(std::string(error.what()).find("SkylakeX processors"), std::string::npos) << error.what();
    }
}

TEST(BlasCore, OfThisProcessIsKnownAndExecutable) {
    std::string const core = blas_info().core;
    if (core.empty()) GTEST_SKIP() << "not OpenBLAS";
    EXPECT_TRUE(instructions_of_blas_core(core)) << core;
    EXPECT_NO_THROW(require_executable_blas(core, instructions_of_processor()));
}

} // namespace
} // namespace espalier
