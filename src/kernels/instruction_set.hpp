// The vector instructions of the processor. The small kernels are compiled for each of these sets and
// selected at run time, so one binary runs on old and new processors.
#pragma once

// The bits of the widest vectors of kernels. Sanitizer builds have fewer: all share a source that takes long
// to compile.
#ifndef ESPALIER_VECTOR_BITS
#define ESPALIER_VECTOR_BITS 512
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
