// Panels are restored after a failed attempt with pivots from the diagonal block.
//
// For lu, A11 is copied. Rows of A21 are copied if entries of L21 may be large, and the copy is dropped if
// they are not. Other rows are multiplied back, which is accurate because |L21| is bounded. Columns without a
// pivot in the diagonal block come last in the order q of the columns:
//
//     A21(:, q) = [L21 S21] [U11 U12]
//                           [ 0   I ]
//
// L U = A bounds L in a block of rows:
//
//     max |L(:, j)| <= g(j) max |A|,  where g(j) = (1 + sum g(k) |U(k, j)|, k < j) / |U(j, j)|.
//
// Panels of ldl are multiplied back as a whole, because the pivoting bounds L in the diagonal block. S is
// what remains of the columns without a pivot:
//
//     [A11]   [P^T  0] [L11  0] [D  0 ] [L11  0]^H
//     [A21] = [ 0   I] [L21  I] [0  S1] [L21  I]   P
//                      [L31 S3]
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "core/scalar.hpp"
#include "kernels/view.hpp"

namespace espalier {

template <class T> class LuBackup {
  public:
    /// Begins with a new panel: copies A11. `memory` has space for all entries.
    void save_diagonal(MatrixView<T const> panel, T* memory);
    /// Prepares for rows below. `diagonal` is the block after the attempt, with this number of pivots.
    void prepare_rows(MatrixView<T const> diagonal, Index pivots);
    /// Copies rows of A21, unless |L21| will be at most `growth` there, and not too large to multiply back.
    /// Returns whether it did.
    /// Several threads may call this for different rows.
    bool save_rows(MatrixView<T const> below, Index first, Index count, Real<T> growth);
    /// Drops the copy of the rows from `first` on if it is not needed, because entries of L21 are at most
    /// `largest` there. Its memory is used for the next rows, which saves time while it is in the cache.
    void drop_rows(Index first, Real<T> largest);

    /// Restores the panel after an attempt with `pivots` pivots and this order of the columns. Rows below are
    /// only restored if the attempt has changed them.
    void restore(MatrixView<T> panel, Index pivots, std::span<std::int32_t const> column_perm,
                 bool has_rows) const;

  private:
    struct Copy {
        Index at = 0, count = 0; // rows of the memory
    };
    [[nodiscard]] MatrixView<T> diagonal() const { return {memory_, width_, width_, width_}; }
    [[nodiscard]] MatrixView<T> rows(Copy const& copy) const {
        return {memory_ + (width_ + copy.at) * width_, copy.count, width_, copy.count};
    }

    T* memory_ = nullptr;
    Index width_ = 0;
    Real<T> growth_ = 0;          ///< The largest g(j). Infinite or NaN if U12 is.
    std::vector<Real<T>> bounds_; ///< g.
    std::atomic<Index> used_{0};  ///< Rows of the memory.
    std::vector<Copy> copies_;    ///< By row below: the copy from this row on.
};

/// The panel of ldl before factor_ldl_leading(), with the couplings of its pivots. The diagonal block has
/// been changed, and the rows below if `has_rows`. `memory` is working memory.
template <class T> void restore_ldl(bool conjugate, MatrixView<T> panel, std::span<std::int32_t const> perm,
                                    std::span<T const> off_diagonal, bool has_rows, std::vector<T>& memory);

} // namespace espalier
