// A panel of lu is restored after a failed attempt with pivots from the diagonal block. The diagonal block
// A11 is copied. Rows of A21 are copied if entries of L21 may be large. Others are multiplied back, A21 = L21
// U11, which is accurate because |L21| is small: L U = A implies
//
//     |L(i, j)| <= (max |A(i, :)| + sum |L(i, k)| |U(k, j)|, k < j) / |U(j, j)|.
//
// Few panels need copies if the matrix needs no delayed columns. A12 is multiplied back, too: |L11| <= 1.
#pragma once

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
    /// Prepares for rows below. `diagonal` is the block after the attempt.
    void bound_rows(MatrixView<T const> diagonal);
    /// Copies rows of A21, unless |L21| will be small there, and at most `growth`. Returns whether it did.
    /// Several threads may call this for different rows.
    bool save_rows(MatrixView<T const> below, Index first, Index count, Real<T> growth);

    /// Restores the panel after the attempt whose rows were interchanged by `perm`. Rows below and `upper`
    /// are only restored if the attempt has changed them.
    void restore(MatrixView<T> panel, MatrixView<T> upper, std::span<std::int32_t const> perm,
                 bool has_rows) const;

  private:
    // Copies are close together, so that few new pages are touched.
    [[nodiscard]] MatrixView<T> diagonal() const { return {memory_, width_, width_, width_}; }
    [[nodiscard]] MatrixView<T> rows(Index first, Index count) const {
        return {memory_ + (width_ + first) * width_, count, width_, count};
    }

    T* memory_ = nullptr;
    Index width_ = 0;
    Real<T> most_of_l_ = 0;           ///< Bound of |L21| if entries of A21 are at most 1.
    std::vector<std::int32_t> saved_; ///< By row below: how many rows were copied together from this one on.
};

} // namespace espalier
