// Uses the cpuid helper of the compiler, which also checks that the operating system saves the registers.
#include "kernels/instruction_set.hpp"

#include <algorithm>

namespace espalier {

namespace {

InstructionSet detect() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        return InstructionSet::avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return InstructionSet::avx2;
#endif
    return InstructionSet::baseline;
}

} // namespace

InstructionSet instructions_of_processor() {
    static InstructionSet const widest = detect();
    return widest;
}

InstructionSet widest_instruction_set() {
    constexpr auto compiled = ESPALIER_VECTOR_BITS >= 512   ? InstructionSet::avx512
                              : ESPALIER_VECTOR_BITS >= 256 ? InstructionSet::avx2
                                                            : InstructionSet::baseline;
    return std::min(instructions_of_processor(), compiled);
}

} // namespace espalier
