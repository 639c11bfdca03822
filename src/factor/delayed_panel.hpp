// The panel of a cblk with delayed columns. Its fully summed columns are those of the cblk and those that its
// children have left over. `pivots` of them are eliminated, and the others are left over for the parent. The
// rows below are those of the cblk.
//
//       pivots  left
//     +-------+------+
//     | L D   | (U)  |  pivots
//     +-------+------+                       lu has U likewise, its rows transposed:
//     | L     |  S   |  left    S: what remains of the columns left over
//     +-------+------+                       rows below x (pivots, left)
//     | L     |  S   |  rows below
//     +-------+------+
//
// The parts of lu may lie apart, so that U may stay where the cblk has it.
//
// Each row and column has the number that it has in the structure, so that entries of vectors stay in place.
// Columns from other processes have numbers beyond the structure (Factor::arrived).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "kernels/view.hpp"
#include "runtime/delayed_memory.hpp"

namespace espalier {

/// The Schur complement of the pivots in the columns left over.
template <class T> struct LeftOver {
    MatrixView<T const> square; ///< S, in the rows with the same numbers.
    MatrixView<T const> below;  ///< S, in the rows below.
    MatrixView<T const> upper;  ///< lu: the part of U for the columns below, transposed.
};

template <class T> class DelayedPanel {
  public:
    /// A panel whose columns are all left over. `lower` and, for lu, `upper` have space for the coefficients,
    /// which remain undefined; `upper` is null otherwise. Other data are in `memory`, too.
    DelayedPanel(Index columns, Index rows_below, T* lower, T* upper, DelayedMemory& memory)
        : columns_(columns), rows_below_(rows_below), lower_(lower), upper_(upper),
          off_diagonal_(memory.describe<T>(upper ? 0 : columns)),
          numbers_(memory.describe<Index>((upper ? 2 : 1) * columns)) {
        std::ranges::fill(off_diagonal_, T(0));
    }

    [[nodiscard]] Index columns() const { return columns_; }
    [[nodiscard]] Index pivots() const { return pivots_; }
    [[nodiscard]] Index rows_below() const { return rows_below_; }
    [[nodiscard]] Index left() const { return columns_ - pivots_; }

    /// All columns, including those left over.
    [[nodiscard]] MatrixView<T> lower() const {
        Index const rows = columns_ + rows_below_;
        return {lower_, rows, columns_, rows};
    }
    [[nodiscard]] MatrixView<T> whole_upper() const {
        return {upper_, rows_below_, columns_, std::max<Index>(1, rows_below_)};
    }
    /// The columns of the pivots.
    [[nodiscard]] MatrixView<T> diagonal() const { return lower().block(0, 0, pivots_, pivots_); }
    [[nodiscard]] MatrixView<T> below() const { return lower().block(columns_, 0, rows_below_, pivots_); }
    [[nodiscard]] MatrixView<T> upper() const { return whole_upper().block(0, 0, rows_below_, pivots_); }
    /// L in the rows left over, and U in the columns left over.
    [[nodiscard]] MatrixView<T> lower_left_over() const { return lower().block(pivots_, 0, left(), pivots_); }
    [[nodiscard]] MatrixView<T> upper_left_over() const { return lower().block(0, pivots_, pivots_, left()); }

    [[nodiscard]] LeftOver<T> left_over() const {
        LeftOver<T> columns{lower().block(pivots_, pivots_, left(), left()),
                            lower().block(columns_, pivots_, rows_below_, left()),
                            {}};
        if (upper_) columns.upper = whole_upper().block(0, pivots_, rows_below_, left());
        return columns;
    }

    [[nodiscard]] std::span<T> all_off_diagonal() { return off_diagonal_; }
    [[nodiscard]] std::span<T const> all_off_diagonal() const { return off_diagonal_; }
    [[nodiscard]] std::span<T const> off_diagonal() const {
        return all_off_diagonal().first(upper_ ? 0 : pivots_);
    }

    /// The numbers of the rows and columns in the structure, first those of the pivots in their order. They
    /// are the same for ldlt and ldlh.
    [[nodiscard]] std::span<Index const> row_numbers() const { return numbers_.first(columns_); }
    [[nodiscard]] std::span<Index const> column_numbers() const { return numbers_.last(columns_); }
    /// Prepares the panel for assembly: clears the columns of the children in `lower` and all numbers. The
    /// first `own` columns are not cleared, because they will be overwritten (for ldl only the lower
    /// triangle).
    void clear(Index own) {
        for (Index j = 0; j < columns_; ++j) {
            T* const column = lower().column(j);
            std::fill(column + (j < own ? own : 0), column + (j < own ? columns_ : columns_ + rows_below_),
                      T(0));
        }
        num_numbers_ = 0;
    }
    /// Appends a row and a column before pivots are chosen.
    void append(Index row, Index column) {
        numbers_[std::ssize(numbers_) - columns_ + num_numbers_] = column;
        numbers_[num_numbers_++] = row;
    }

    /// Stores the chosen pivots. The rows and columns were permuted by perm[new] = old, which become
    /// identities. `column_perm` is empty if only rows were permuted.
    void set_pivots(Index pivots, std::span<std::int32_t> row_perm, std::span<std::int32_t> column_perm) {
        pivots_ = pivots;
        is_odd_ = permute(numbers_.first(columns_), row_perm);
        if (!column_perm.empty()) is_odd_ ^= permute(numbers_.last(columns_), column_perm);
    }

    /// lu only: whether the permutations of rows and of columns together are odd.
    [[nodiscard]] bool is_odd() const { return is_odd_; }

  private:
    // Cycle by cycle. Returns whether the permutation is odd: a cycle of even length is.
    static bool permute(std::span<Index> numbers, std::span<std::int32_t> perm) {
        bool odd = false;
        for (std::int32_t start = 0; start < std::ssize(perm); ++start) {
            if (perm[start] == start) continue;
            Index const first = numbers[start];
            std::int32_t i = start;
            for (std::int32_t next; (next = std::exchange(perm[i], i)) != start; i = next, odd = !odd)
                numbers[i] = numbers[next];
            numbers[i] = first;
        }
        return odd;
    }

    Index columns_, rows_below_;
    Index pivots_ = 0, num_numbers_ = 0;
    bool is_odd_ = false;
    T *lower_, *upper_;
    std::span<T> off_diagonal_; ///< Empty for lu.
    std::span<Index> numbers_;  ///< Numbers of the rows, then, for lu, those of the columns.
};

} // namespace espalier
