// The spellings of the enumerations in espalier/types.hpp. Each list has the order of the enumerators, which
// count from 0.
#pragma once

#include <array>

#include "espalier/export.h"
#include "espalier/pivoting.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// spellings<E>[k] spells the enumerator of E with the value k. The specializations are hidden explicitly,
/// because GCC otherwise gives them the visibility of the enumeration.
template <class E> inline constexpr std::array<char const*, 0> spellings{};

#define ESPALIER_SPELLINGS(E, ...)                                                                           \
    template <> ESPALIER_HIDDEN inline constexpr auto spellings<E> =                                         \
        std::to_array<char const*>({__VA_ARGS__});
ESPALIER_SPELLINGS(Status, "ok", "internal", "usage", "bad_input", "io_error", "singular",
                   "not_positive_definite", "inaccurate", "out_of_memory", "unsupported", "cancelled")
ESPALIER_SPELLINGS(Symmetry, "general", "symmetric", "hermitian")
ESPALIER_SPELLINGS(Factorization, "auto", "llh", "llt", "ldlt", "ldlh", "lu")
ESPALIER_SPELLINGS(OrderingMethod, "scotch", "metis", "amd", "natural", "user", "rcm", "auto", "dissection")
ESPALIER_SPELLINGS(SolveMethod, "direct", "ilu", "auto")
ESPALIER_SPELLINGS(SchedulePolicy, "static", "dynamic", "places", "nas", "auto")
ESPALIER_SPELLINGS(PushInit, "cyclicnuma", "randnuma")
ESPALIER_SPELLINGS(PushStrategy, "pLoc", "pLocNum", "pNumaW", "pNumaWLoc")
ESPALIER_SPELLINGS(SelectStrategy, "sRand", "sRandNuma", "sProc", "sNuma", "sProcNuma", "sNumaProc")
ESPALIER_SPELLINGS(Allocation, "global", "local", "interleave")
ESPALIER_SPELLINGS(Splitting, "1d", "2d", "dynamic")
ESPALIER_SPELLINGS(Pivoting, "static", "delayed", "auto")
ESPALIER_SPELLINGS(RefineMethod, "auto", "none", "ir", "cg", "gmres", "bicgstab")
ESPALIER_SPELLINGS(Toggle, "auto", "on", "off")
ESPALIER_SPELLINGS(MatrixOp, "none", "transpose", "adjoint")
/// In the order s, d, c, z; the enumerators are these letters.
ESPALIER_SPELLINGS(Scalar, "s", "d", "c", "z")
#undef ESPALIER_SPELLINGS

} // namespace espalier
