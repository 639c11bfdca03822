// Uses the cpuid helper of the compiler, which also checks that the operating system saves the registers.
#include "kernels/instruction_set.hpp"

namespace espalier {

namespace {

InstructionSet detect() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (ESPALIER_AVX512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        return InstructionSet::avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return InstructionSet::avx2;
#endif
    return InstructionSet::baseline;
}

} // namespace

InstructionSet widest_instruction_set() {
    static InstructionSet const widest = detect();
    return widest;
}

} // namespace espalier
