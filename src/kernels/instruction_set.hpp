// Which vector instructions this processor has. The small kernels of this room are compiled once for each
// of these sets and chosen when the program runs, so that one binary serves old and new processors.
#pragma once

namespace espalier {

enum class InstructionSet {
    baseline, ///< What every processor of this architecture has (SSE2 on x86-64).
    avx2,     ///< 256-bit vectors and fused multiply-add.
    avx512,   ///< 512-bit vectors (F, BW, DQ, VL, CD: what Skylake servers and Zen 4 brought).
};

/// The widest set this processor has; found once.
InstructionSet widest_instruction_set();

} // namespace espalier
