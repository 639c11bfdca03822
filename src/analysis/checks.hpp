// Checks of the arguments of the steps of a solver. Each throws an Error that says what is wrong.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"
#include "espalier/options.hpp"

namespace espalier {

/// Error{usage} for numbers out of range, and for options that the method does not have.
void require_sound(Options const& options);

/// Error{bad_input} naming the sizes.
template <class T> void require_square(CscMatrix<T> const& a);

/// Error{singular} if a row or column has no stored entry (empty) or only zeros, except for the `kept`
/// unknowns of a Schur complement, which has the same row.
template <class T> void require_no_empty_row(CscMatrix<T> const& a, std::span<Index const> kept);
template <class T>
void require_no_zero_row(CscMatrix<T> const& a, std::span<Index const> kept, int threads = 1);

/// Error{out_of_memory} with both numbers if `limit` is not 0 and below `needed`. `what` needs the memory.
void require_memory(std::uint64_t needed, std::uint64_t limit, std::string_view what = "the factorization");

/// Error{usage} unless a block of `nrhs` columns of n entries has `size` entries.
void require_block(std::size_t size, Index n, Index nrhs, char const* what);

/// Identifies a pattern by its sizes, its symmetry and a hash of the index arrays, which may be invalid.
class PatternFingerprint {
  public:
    PatternFingerprint() = default;
    /// It does not depend on the number of threads that make it.
    template <class T> explicit PatternFingerprint(CscMatrix<T> const& a, int threads = 1);
    bool operator==(PatternFingerprint const&) const = default;

  private:
    Index rows_ = -1;
    Index cols_ = -1;
    std::size_t pointers_ = 0;
    std::size_t stored_ = 0;
    Symmetry symmetry_ = Symmetry::general;
    std::uint64_t hash_ = 0;
};

/// Error{bad_input} naming the entry if a value is not finite, or the diagonal of a Hermitian matrix not
/// real. The pattern is known to be valid.
template <class T> void require_valid_values(CscMatrix<T> const& a, int threads);

/// A hash of the values alone, which does not depend on the number of threads that make it.
template <class T> std::uint64_t hash_of_values(CscMatrix<T> const& a, int threads = 1);

/// Error{usage} unless `a` has the factorized pattern and the same number of values. Its arrays are then
/// valid, because those of the analyzed matrix were checked. `what` names the call.
template <class T>
void require_pattern(CscMatrix<T> const& a, PatternFingerprint const& pattern, char const* what,
                     int threads = 1);

} // namespace espalier
