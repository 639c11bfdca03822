#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/pivot_search.hpp"
#include "kernels/threshold.hpp"
#include "kernels/triangular.hpp"

namespace espalier {

namespace {

constexpr Index threshold_lu_columns = 32;

template <class T> void swap_columns(MatrixView<T> a, Index i, Index j) {
    if (i != j) std::swap_ranges(a.column(i), a.column(i) + a.rows, a.column(j));
}

// Groups of columns are factorized right-looking, with pivots from the columns of the group and from all
// fully summed rows. Then the other columns are updated, and those of the group without a pivot go to the
// end.
template <class T> class ThresholdLu {
  public:
    ThresholdLu(MatrixView<T> a, std::span<std::int32_t> row_perm, std::span<std::int32_t> column_perm,
                PivotRule<T> const& rule)
        : a_(a), n_(a.cols), row_perm_(row_perm), column_perm_(column_perm), rule_(rule), row_of_(n_) {
        std::iota(row_perm_.begin(), row_perm_.end(), 0);
        std::iota(column_perm_.begin(), column_perm_.end(), 0);
    }

    ThresholdPivots run() {
        Index untried = n_; // columns since the last pivot
        Index k = 0;
        while (untried > 0) {
            Index const group = std::min(untried, threshold_lu_columns);
            Index const found = factor_group(k, k + group);
            update_others(k, found, group);
            Index const failed = group - found, rest = untried - group;
            for (Index i = 0; i < std::min(failed, rest); ++i)
                interchange_columns(k + found + i, k + untried - 1 - i);
            k += found;
            untried = found > 0 ? n_ - k : rest;
        }
        return {{}, k};
    }

  private:
    void interchange_columns(Index i, Index j) {
        swap_columns(a_, i, j);
        std::swap(column_perm_[i], column_perm_[j]);
    }

    // Factorizes columns [first, last) as far as possible. Returns the number of pivots.
    Index factor_group(Index first, Index last) {
        Index k = first, candidate = first, failed = 0; // failed: candidates since the last pivot
        while (failed < last - k) {
            if (candidate < k || candidate >= last) candidate = k;
            if (try_column(k, candidate)) {
                eliminate(k++, candidate, first, last);
                failed = 0;
            } else {
                ++failed;
            }
            ++candidate;
        }
        return k - first;
    }

    // Finds the row of the pivot in column c, after k pivots.
    bool try_column(Index k, Index c) {
        T const* const column = a_.column(c);
        auto const summed = largest_entry(column + k, n_ - k);
        Real<T> const below = largest_entry(column + n_, rule_.rows).value;
        row_of_[k] = k + std::max<Index>(summed.index, 0);
        return summed.value > 0 && summed.value >= rule_.threshold && summed.value >= rule_.u * below &&
               is_finite(summed.value);
    }

    // Moves the pivot to k within columns [first, last), computes its column of L and updates the others.
    void eliminate(Index k, Index c, Index first, Index last) {
        interchange_columns(k, c);
        std::swap(row_perm_[k], row_perm_[row_of_[k]]);
        if (row_of_[k] != k)
            for (Index j = first; j < last; ++j) std::swap(a_(k, j), a_(row_of_[k], j));
        T* const l = a_.column(k);
        for (Index i = k + 1; i < a_.rows; ++i) l[i] /= l[k];
        Index const below = a_.rows - k - 1, right = last - k - 1;
        subtract_product<T>(Op::none, a_.block(k + 1, k, below, 1), a_.block(k, k + 1, 1, right),
                            a_.block(k + 1, k + 1, below, right));
    }

    // The row interchanges of `found` pivots from k on, in the columns outside of the group, and the rows of
    // U and the update to its right.
    void update_others(Index k, Index found, Index group) {
        if (found == 0) return;
        for (Index j = 0; j < n_; ++j)
            if (j < k || j >= k + group)
                for (Index i = k; i < k + found; ++i) std::swap(a_(i, j), a_(row_of_[i], j));
        Index const right = k + group, rest = n_ - right, below = a_.rows - k - found;
        auto const u = a_.block(k, right, found, rest);
        trsm<T>(Side::left, Uplo::lower, Op::none, Diag::unit, T(1), a_.block(k, k, found, found), u);
        subtract_product<T>(Op::none, a_.block(k + found, k, below, found), u,
                            a_.block(k + found, right, below, rest));
    }

    MatrixView<T> a_;
    Index n_; ///< Fully summed rows, and columns.
    std::span<std::int32_t> row_perm_, column_perm_;
    PivotRule<T> rule_;
    std::vector<Index> row_of_; ///< The row that was interchanged with row k.
};

// Entries below the threshold are negligible. If all entries of a column left over are negligible, the column
// must wait for a row with negligible entries: with another row, it would take the pivot of a column that
// needs this row. Such pairs have pivots that are replaced.
template <class T> class NegligiblePairs {
  public:
    NegligiblePairs(MatrixView<T> lower, MatrixView<T> upper, std::span<std::int32_t> row_perm,
                    std::span<std::int32_t> column_perm, PivotRule<T> const& rule)
        : lower_(lower), upper_(upper), n_(lower.cols), row_perm_(row_perm), column_perm_(column_perm),
          rule_(rule) {}

    // The first k pivots are found.
    void replace(ThresholdPivots& found) {
        Index& k = found.eliminated;
        Index const first = k;
        for (Index row = first, column = first; column < n_; ++column, ++row) {
            while (column < n_ && !is_negligible_column(column, first)) ++column;
            while (row < n_ && !is_negligible_row(row, first)) ++row;
            if (column >= n_ || row >= n_) return;
            move(row, column, k);
            clear(k++);
            ++found.stats.replaced;
        }
    }

  private:
    [[nodiscard]] bool are_negligible(T const* x, Index n) const {
        return std::all_of(x, x + n, [this](T value) { return abs1(value) < rule_.threshold; });
    }
    [[nodiscard]] bool is_negligible_column(Index j, Index first) const {
        return are_negligible(lower_.column(j) + first, n_ - first) &&
               are_negligible(lower_.column(j) + n_, rule_.rows);
    }
    [[nodiscard]] bool is_negligible_row(Index i, Index first) const {
        for (Index j = first; j < n_; ++j)
            if (!are_negligible(&lower_(i, j), 1)) return false;
        return are_negligible(upper_.column(i), std::min(rule_.rows, upper_.rows));
    }
    void move(Index row, Index column, Index k) {
        swap_columns(lower_, k, column);
        swap_columns(upper_, k, row);
        for (Index j = 0; j < n_; ++j) std::swap(lower_(k, j), lower_(row, j));
        std::swap(column_perm_[k], column_perm_[column]);
        std::swap(row_perm_[k], row_perm_[row]);
    }
    void clear(Index k) {
        T* const l = lower_.column(k);
        std::fill(l + k, l + n_ + rule_.rows, T(0));
        for (Index j = k; j < n_; ++j) lower_(k, j) = T(0);
        std::fill_n(upper_.column(k), std::min(rule_.rows, upper_.rows), T(0));
        l[k] = T(rule_.threshold);
        for (Index i = n_ + rule_.rows; i < lower_.rows; ++i) l[i] /= rule_.threshold;
    }

    MatrixView<T> lower_, upper_;
    Index n_;
    std::span<std::int32_t> row_perm_, column_perm_;
    PivotRule<T> rule_;
};

} // namespace

template <class T> ThresholdPivots factor_lu_threshold(MatrixView<T> lower, MatrixView<T> upper,
                                                       std::span<std::int32_t> row_perm,
                                                       std::span<std::int32_t> column_perm,
                                                       PivotRule<T> const& rule) {
    ThresholdPivots result = ThresholdLu<T>(lower, row_perm, column_perm, rule).run();
    Index const pivots = result.eliminated, rest = lower.cols - pivots;
    if (pivots > 0) {
        permute_columns(upper, row_perm);
        auto const u = upper.block(0, 0, upper.rows, pivots);
        solve_right<T>(Op::transpose, Diag::unit, lower.block(0, 0, pivots, pivots), u);
        subtract_product<T>(Op::transpose, u, lower.block(pivots, 0, rest, pivots),
                            upper.block(0, pivots, upper.rows, rest));
    }
    if (rest > 0) NegligiblePairs<T>(lower, upper, row_perm, column_perm, rule).replace(result);
    return result;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template ThresholdPivots factor_lu_threshold<T>(MatrixView<T>, MatrixView<T>, std::span<std::int32_t>,   \
                                                    std::span<std::int32_t>, PivotRule<T> const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
