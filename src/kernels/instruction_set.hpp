// The vector instructions of the processor. The small kernels are compiled for each of these sets and
// selected at run time, so one binary runs on old and new processors.
#pragma once

// Sanitizer builds set it to 0, because the compiler takes long for these kernels, which share their source with avx2.
#ifndef ESPALIER_AVX512
#define ESPALIER_AVX512 1
#endif

namespace espalier {

/// Instruction sets.
enum class InstructionSet {
    baseline, ///< Available on every processor of the architecture (SSE2 on x86-64).
    avx2,     ///< 256-bit vectors and fused multiply-add.
    avx512,   ///< 512-bit vectors (F, BW, DQ, VL, CD; since Skylake servers and Zen 4).
};

/// The widest set of this processor.
InstructionSet instructions_of_processor();

/// The widest set that this processor has and the kernels are compiled for.
InstructionSet widest_instruction_set();

} // namespace espalier
