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
// Each row and column has the number that it has in the structure, so that entries of vectors stay in place.
// Columns from other processes have numbers beyond the structure (Factor::arrived).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/scalar.hpp"
#include "kernels/view.hpp"

namespace espalier {

/// The Schur complement of the pivots in the columns left over.
template <class T> struct LeftOver {
    MatrixView<T const> square; ///< S, in the rows with the same numbers.
    MatrixView<T const> below;  ///< S, in the rows below.
    MatrixView<T const> upper;  ///< lu: the part of U for the columns below, transposed.
};

template <class T> class DelayedPanel {
  public:
    /// A panel whose columns are all left over. `memory` has space for the coefficients, which remain
    /// undefined.
    DelayedPanel(Index columns, Index rows_below, bool has_upper, T* memory)
        : columns_(columns), rows_below_(rows_below), has_upper_(has_upper), memory_(memory),
          off_diagonal_(columns, T(0)) {}

    /// The number of coefficients.
    [[nodiscard]] static Index entries(Index columns, Index rows_below, bool has_upper) {
        return columns * (columns + (has_upper ? 2 : 1) * rows_below);
    }

    [[nodiscard]] Index columns() const { return columns_; }
    [[nodiscard]] Index pivots() const { return pivots_; }
    [[nodiscard]] Index left() const { return columns_ - pivots_; }

    /// All columns, including those left over.
    [[nodiscard]] MatrixView<T> lower() const {
        Index const rows = columns_ + rows_below_;
        return {memory_, rows, columns_, rows};
    }
    [[nodiscard]] MatrixView<T> whole_upper() const {
        return {memory_ + entries(columns_, rows_below_, false), rows_below_, columns_,
                std::max<Index>(1, rows_below_)};
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
        if (has_upper_) columns.upper = whole_upper().block(0, pivots_, rows_below_, left());
        return columns;
    }

    [[nodiscard]] std::span<T> all_off_diagonal() { return off_diagonal_; }
    [[nodiscard]] std::span<T const> all_off_diagonal() const { return off_diagonal_; }
    [[nodiscard]] std::span<T const> off_diagonal() const { return std::span(off_diagonal_).first(pivots_); }

    /// The numbers of the rows and columns in the structure, first those of the pivots in their order. They
    /// are the same for ldlt and ldlh.
    [[nodiscard]] std::vector<Index> const& row_numbers() const { return row_numbers_; }
    [[nodiscard]] std::vector<Index> const& column_numbers() const {
        return has_upper_ ? column_numbers_ : row_numbers_;
    }
    /// Prepares the panel for assembly: clears the columns of the children and all numbers. The first `own`
    /// columns are not cleared, because they will be overwritten (for ldl only the lower triangle).
    void clear(Index own) {
        for (Index j = 0; j < columns_; ++j) {
            T* const column = lower().column(j);
            std::fill(column + (j < own ? own : 0), column + (j < own ? columns_ : columns_ + rows_below_),
                      T(0));
            if (has_upper_ && j >= own) std::fill_n(whole_upper().column(j), rows_below_, T(0));
        }
        clear_numbers();
    }
    /// Prepares for append().
    void clear_numbers() {
        row_numbers_.clear();
        row_numbers_.reserve(columns_);
        column_numbers_.clear();
        if (has_upper_) column_numbers_.reserve(columns_);
    }
    /// Appends a row and a column before pivots are chosen.
    void append(Index row, Index column) {
        row_numbers_.push_back(row);
        if (has_upper_) column_numbers_.push_back(column);
    }

    /// Stores the chosen pivots. The rows and columns were permuted by perm[new] = old. `column_perm` is
    /// empty if only rows were permuted.
    void set_pivots(Index pivots, std::span<std::int32_t const> row_perm,
                    std::span<std::int32_t const> column_perm) {
        pivots_ = pivots;
        permute(row_numbers_, row_perm);
        if (!column_perm.empty()) permute(column_numbers_, column_perm);
    }

    /// lu only: whether the permutations of rows and of columns together are odd.
    bool is_odd = false;

  private:
    static void permute(std::vector<Index>& numbers, std::span<std::int32_t const> perm) {
        std::vector<Index> permuted(perm.size());
        for (std::size_t i = 0; i < perm.size(); ++i) permuted[i] = numbers[perm[i]];
        numbers = std::move(permuted);
    }

    Index columns_, rows_below_;
    Index pivots_ = 0;
    bool has_upper_;
    T* memory_;
    std::vector<T> off_diagonal_;
    std::vector<Index> row_numbers_, column_numbers_;
};

} // namespace espalier
