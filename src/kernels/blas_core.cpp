// The BLAS library as a whole: its threads, its identity, and the processor kernels it runs. Everything
// here is OpenBLAS's own interface, declared weak so that another BLAS links too and is left as it is.
//
// OpenBLAS built for all processors (DYNAMIC_ARCH) chooses its kernels once, when it is loaded, by the
// processor's model number; a model younger than the release gets kernels of an older generation.
// gotoblas_dynamic_quit() and _init() make it choose again, and OPENBLAS_CORETYPE tells it what.
#include "kernels/blas.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "kernels/instruction_set.hpp"

extern "C" {
__attribute__((weak)) void openblas_set_num_threads(int);
__attribute__((weak)) int openblas_get_num_threads();
__attribute__((weak)) char* openblas_get_config();
__attribute__((weak)) char* openblas_get_corename();
__attribute__((weak)) void gotoblas_dynamic_init();
__attribute__((weak)) void gotoblas_dynamic_quit();
}

namespace espalier {

namespace {

constexpr char const* core_variable = "OPENBLAS_CORETYPE";

// OpenBLAS's names for x86 processors without AVX-512.
constexpr std::array<std::string_view, 10> narrow_cores = {
    "Haswell",    "Zen",       "Sandybridge", "Excavator", "Steamroller",
    "Piledriver", "Bulldozer", "Nehalem",     "Barcelona", "Prescott"};

std::string core_name() {
    return openblas_get_corename ? openblas_get_corename() : "";
}

// `core` as the kernels to use, or OpenBLAS's own choice when it is null.
void choose_core(char const* core) {
    if (core) setenv(core_variable, core, 1);
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
    if (core) unsetenv(core_variable);
}

// One product in small integers, which every kernel gets exactly right or visibly wrong. The sizes are odd
// so that the edges of the kernels' tiles are used too.
template <class T> bool product_is_right() {
    constexpr Index m = 83, n = 37, k = 61;
    std::vector<T> a(m * k), b(n * k), c(m * n, T(1));
    for (Index i = 0; i < m * k; ++i) a[i] = static_cast<T>(i % 7 - 3);
    for (Index i = 0; i < n * k; ++i) b[i] = static_cast<T>(i % 5 - 2);
    gemm<T>(Op::none, Op::transpose, T(-1), {a.data(), m, k, m}, {b.data(), n, k, n}, T(1),
            {c.data(), m, n, m});
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) {
            T expected = 1;
            for (Index p = 0; p < k; ++p) expected -= a[i + p * m] * b[j + p * n];
            if (c[i + j * m] != expected) return false;
        }
    return true;
}

} // namespace

int set_blas_threads(int threads) {
    int const before = openblas_get_num_threads ? openblas_get_num_threads() : 1;
    if (openblas_set_num_threads && threads != before) openblas_set_num_threads(std::max(threads, 1));
    return before;
}

BlasInfo blas_info() {
    return {openblas_get_config ? openblas_get_config() : "unknown BLAS", core_name()};
}

bool use_widest_blas_kernels() {
    if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit || !openblas_get_corename) return false;
    if (std::getenv(core_variable) || widest_instruction_set() != InstructionSet::avx512) return false;
    std::string const before = core_name();
    if (std::ranges::find(narrow_cores, before) == narrow_cores.end()) return false;

    choose_core("SKYLAKEX");
    if (core_name() == before) return false;
    if (product_is_right<double>() && product_is_right<float>()) return true;
    choose_core(nullptr);
    return false;
}

} // namespace espalier
