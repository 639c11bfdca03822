// Checks of the arguments of the steps of a solver. Each throws an Error that says what is wrong.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "espalier/matrix.hpp"
#include "espalier/options.hpp"
#include "matrix/pattern_fingerprint.hpp"

namespace espalier {

/// Error{usage} for numbers out of range, and for options that the method does not have.
void require_sound(Options const& options);

/// Error{usage} if the least width of column blocks is above the largest. The message names both options,
/// after `dashes`.
void require_block_widths(ScheduleSettings const& settings, std::string_view dashes = "");

/// Error{bad_input} naming the sizes.
template <class T> void require_square(CscMatrix<T> const& a);

/// Error{singular} if a row or column has no stored entry (empty) or only zeros, except for the `kept`
/// unknowns of a Schur complement, which has the same row. For an empty one, the message has the structural
/// rank, whose computation may throw Error{cancelled}.
template <class T>
void require_no_empty_row(CscMatrix<T> const& a, std::span<Index const> kept, Interrupt* interrupt);
template <class T>
void require_no_zero_row(CscMatrix<T> const& a, std::span<Index const> kept, int threads = 1);

/// Error{out_of_memory} with both numbers if `limit` is not 0 and below `needed`. `what` needs the memory.
void require_memory(std::uint64_t needed, std::uint64_t limit, std::string_view what = "the factorization");

/// Error{usage} unless a block of `nrhs` columns of n entries has `size` entries.
void require_block(std::size_t size, Index n, Index nrhs, char const* what);

/// Error{bad_input} naming the entry if a value is not finite, or the diagonal of a Hermitian matrix not
/// real. The pattern is known to be valid.
template <class T> void require_valid_values(CscMatrix<T> const& a, int threads);

/// Throws Error{usage}: a matrix has not the analyzed pattern.
[[noreturn]] void refuse_other_pattern();

/// Error{usage} unless `a` has the factorized pattern and the same number of values. Its arrays are then
/// valid, because those of the analyzed matrix were checked. `what` names the call.
template <class T>
void require_pattern(CscMatrix<T> const& a, PatternFingerprint const& pattern, char const* what,
                     int threads = 1);

} // namespace espalier
