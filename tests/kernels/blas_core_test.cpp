// The BLAS library as a whole: what it says of itself, and the switch to its AVX-512 kernels. The switch is
// for the whole process, so it is tried in a process of its own, and the other tests of this program run
// with the kernels that a caller of the library would get.
#include <cstdlib>
#include <optional>
#include <string>

#include "kernels/dense.hpp"
#include "kernels/instruction_set.hpp"

extern "C" {
__attribute__((weak)) void gotoblas_dynamic_init();
__attribute__((weak)) void gotoblas_dynamic_quit();
}

namespace espalier {
namespace {

using namespace testing;

constexpr char const* core_variable = "OPENBLAS_CORETYPE";

TEST(BlasCore, SaysWhatItIs) {
    EXPECT_FALSE(blas_info().config.empty());
}

TEST(BlasCore, LeavesTheUsersChoiceOfKernelsAlone) {
    char const* const value = std::getenv(core_variable);
    auto const saved = value ? std::optional<std::string>(value) : std::nullopt;
    std::string const before = blas_info().core;
    setenv(core_variable, "Haswell", 1);
    EXPECT_FALSE(use_widest_blas_kernels());
    EXPECT_EQ(blas_info().core, before);
    if (saved)
        setenv(core_variable, saved->c_str(), 1);
    else
        unsetenv(core_variable);
}

// In the child process: make OpenBLAS choose its AVX2 kernels as an old release would, and switch.
int switch_from_narrow_kernels() {
    setenv(core_variable, "Haswell", 1);
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
    unsetenv(core_variable);
    std::string const before = blas_info().core;
    bool const switched = use_widest_blas_kernels();
    if (switched != (before == "Haswell" && widest_instruction_set() == InstructionSet::avx512)) return 1;
    if (switched != (blas_info().core != before)) return 2;
    if (std::getenv(core_variable)) return 3;
    if (switched && use_widest_blas_kernels()) return 4; // nothing left to do
    auto const a = random_dense<double>(70, 45, 1);
    auto const b = random_dense<double>(33, 45, 2);
    Dense<double> c(70, 33);
    gemm<double>(Op::none, Op::transpose, 1, a.view(), b.view(), 0, c.view());
    return largest_difference(c, product(a, b, Op::transpose)) <= 100 * epsilon<double> ? 0 : 5;
}

TEST(BlasCoreDeathTest, SwitchesToTheKernelsTheProcessorCanRun) {
    if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit) {
        EXPECT_FALSE(use_widest_blas_kernels());
        GTEST_SKIP() << "this BLAS cannot choose its kernels again";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(std::exit(switch_from_narrow_kernels()), ::testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace espalier
