// The spellings of the enumerations in espalier/types.hpp. Each list has the order of the enumerators, which
// count from 0.
#pragma once

#include <array>

#include "espalier/export.h"
#include "espalier/types.hpp"

namespace espalier {

/// spellings<E>[k] spells the enumerator of E with the value k. The specializations are hidden explicitly,
/// because GCC otherwise gives them the visibility of the enumeration.
template <class E> inline constexpr std::array<char const*, 0> spellings{};

template <> ESPALIER_HIDDEN inline constexpr auto spellings<Status> = std::to_array<char const*>(
    {"ok", "internal", "usage", "bad_input", "io_error", "singular", "not_positive_definite", "inaccurate",
     "out_of_memory", "unsupported", "cancelled"});
template <> ESPALIER_HIDDEN inline constexpr std::array<char const*, 3> spellings<Symmetry>{
    "general", "symmetric", "hermitian"};
template <> ESPALIER_HIDDEN inline constexpr std::array<char const*, 6> spellings<Factorization>{
    "auto", "llh", "llt", "ldlt", "ldlh", "lu"};
template <> ESPALIER_HIDDEN inline constexpr std::array<char const*, 5> spellings<OrderingMethod>{
    "scotch", "metis", "amd", "natural", "user"};
template <> ESPALIER_HIDDEN inline constexpr std::array<char const*, 4> spellings<SchedulePolicy>{
    "static", "dynamic", "places", "nas"};
template <>
ESPALIER_HIDDEN inline constexpr std::array<char const*, 2> spellings<PushInit>{"cyclicnuma", "randnuma"};
template <> ESPALIER_HIDDEN inline constexpr std::array<char const*, 4> spellings<PushStrategy>{
    "pLoc", "pLocNum", "pNumaW", "pNumaWLoc"};
template <> ESPALIER_HIDDEN inline constexpr std::array<char const*, 6> spellings<SelectStrategy>{
    "sRand", "sRandNuma", "sProc", "sNuma", "sProcNuma", "sNumaProc"};
template <> ESPALIER_HIDDEN inline constexpr std::array<char const*, 3> spellings<Allocation>{
    "global", "local", "interleave"};
template <> ESPALIER_HIDDEN inline constexpr std::array<char const*, 2> spellings<Splitting>{"1d", "2d"};
template <> ESPALIER_HIDDEN inline constexpr std::array<char const*, 6> spellings<RefineMethod>{
    "auto", "none", "ir", "cg", "gmres", "bicgstab"};
template <>
ESPALIER_HIDDEN inline constexpr std::array<char const*, 3> spellings<Toggle>{"auto", "on", "off"};
template <> ESPALIER_HIDDEN inline constexpr std::array<char const*, 3> spellings<MatrixOp>{
    "none", "transpose", "adjoint"};
/// In the order s, d, c, z; the enumerators are these letters.
template <> ESPALIER_HIDDEN inline constexpr std::array<char const*, 4> spellings<Scalar>{"s", "d", "c", "z"};

} // namespace espalier
