// Hashes that identify the pattern and the values of a matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "core/scalar.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// Identifies a pattern by its sizes, its symmetry and hashes of the index arrays, which may be invalid. Each
/// hash is that of a block of columns, so that a pass over a matrix can compare blocks before it reads them.
class PatternFingerprint {
  public:
    /// The number of columns of a block; the last one may have fewer.
    static constexpr Index block_columns = 256;

    PatternFingerprint() = default;
    /// It does not depend on the number of threads that make it. Throws std::bad_alloc.
    template <class T> explicit PatternFingerprint(CscMatrix<T> const& a, int threads = 1);
    bool operator==(PatternFingerprint const&) const = default;

    /// Whether `a` has this pattern; false if its arrays do not fit each other. Allocates nothing with one
    /// thread.
    template <class T> [[nodiscard]] bool matches(CscMatrix<T> const& a, int threads = 1) const;
    /// Whether `a` has the sizes and the symmetry of this pattern, and no other number of entries.
    template <class T> [[nodiscard]] bool has_sizes_of(CscMatrix<T> const& a) const;
    /// Whether a block of columns of `a`, which has the sizes of this valid pattern, has the same entries.
    template <class T> [[nodiscard]] bool has_block(CscMatrix<T> const& a, Index block) const;

  private:
    Index rows_ = -1;
    Index cols_ = -1;
    std::size_t stored_ = 0;
    Symmetry symmetry_ = Symmetry::general;
    std::vector<std::uint64_t> blocks_;
};

/// A hash of the values alone, which does not depend on the number of threads that make it.
template <class T> std::uint64_t hash_of_values(CscMatrix<T> const& a, int threads = 1);

} // namespace espalier
