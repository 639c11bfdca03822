// Threads and identity of the BLAS library. The functions belong to OpenBLAS and are declared weak, so
// another BLAS can be linked; its number of threads is not changed.
#include "kernels/blas.hpp"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

extern "C" {
__attribute__((weak)) void openblas_set_num_threads(int);
__attribute__((weak)) int openblas_get_num_threads();
__attribute__((weak)) char* openblas_get_config();
__attribute__((weak)) char* openblas_get_corename();
}

namespace espalier {

namespace {

// The number of threads of BLAS is global.
std::mutex blas_mutex;
int blas_users = 0;
int blas_threads_before = 1;

std::string_view core_name() {
    return openblas_get_corename ? openblas_get_corename() : "";
}

} // namespace

int set_blas_threads(int threads) {
    int const before = openblas_get_num_threads ? openblas_get_num_threads() : 1;
    if (openblas_set_num_threads && threads != before) openblas_set_num_threads(std::max(threads, 1));
    return before;
}

BlasInfo blas_info() {
    return {openblas_get_config ? openblas_get_config() : "unknown BLAS", std::string(core_name())};
}

std::optional<InstructionSet> instructions_of_blas_core(std::string_view core) {
    constexpr std::string_view avx512[] = {"SkylakeX", "Cooperlake", "Sapphirerapids"};
    constexpr std::string_view avx2[] = {"Haswell", "Zen", "Excavator"};
    constexpr std::string_view narrow[] = {"Prescott",    "Core2",     "Penryn",     "Dunnington",
                                           "Nehalem",     "Athlon",    "Opteron",    "Barcelona",
                                           "Bobcat",      "Atom",      "Nano",       "Opteron_SSE3",
                                           "Sandybridge", "Bulldozer", "Piledriver", "Steamroller"};
    auto const is_in = [&](auto const& names) { return std::ranges::find(names, core) != std::end(names); };
    if (is_in(avx512)) return InstructionSet::avx512;
    if (is_in(avx2)) return InstructionSet::avx2;
    if (is_in(narrow)) return InstructionSet::baseline;
    return std::nullopt;
}

void require_executable_blas(std::string_view core, InstructionSet processor) {
    if (instructions_of_blas_core(core).value_or(InstructionSet::baseline) <= processor) return;
    throw Error(
        Status::unsupported,
        fmt::format("OpenBLAS uses kernels for {} processors, which need instructions that this processor "
                    "does not have; unset the environment variable OPENBLAS_CORETYPE",
                    core));
}

bool blas_is_narrow() {
    static bool const narrow = widest_instruction_set() > InstructionSet::baseline &&
                               instructions_of_blas_core(core_name()) == InstructionSet::baseline;
    return narrow;
}

std::string blas_advice() {
    if (!blas_is_narrow()) return {};
    bool const has_avx512 = instructions_of_processor() == InstructionSet::avx512;
    return fmt::format(
        "OpenBLAS uses slow kernels for {} processors. Factorizations and solves use Espalier's own; "
        "for entries of the inverse, null spaces and GMRES, OPENBLAS_CORETYPE={} in the environment "
        "selects faster ones.",
        core_name(), has_avx512 ? "SkylakeX" : "Haswell");
}

SingleThreadedBlas::SingleThreadedBlas() {
    require_executable_blas(core_name(),
                            instructions_of_processor()); // allocates nothing on a usual computer
    std::lock_guard const lock(blas_mutex);
    if (blas_users++ == 0) blas_threads_before = set_blas_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
    std::lock_guard const lock(blas_mutex);
    if (--blas_users == 0) set_blas_threads(blas_threads_before);
}

} // namespace espalier
