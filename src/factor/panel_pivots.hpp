// The pivots of a panel with delayed columns (delayed_panel.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "factor/delayed_panel.hpp"
#include "factor/factor.hpp"
#include "kernels/panel.hpp"
#include "kernels/threshold.hpp"

namespace espalier {

/// The rules that decide when columns are delayed.
struct DelayRules {
    double u = 0.01;     ///< Least modulus of a pivot relative to the other entries of its column.
    double growth = 100; ///< Pivots from the fully summed rows are kept if the entries of L are not larger.
    /// Limit for all delayed panels and columns left over of a process.
    std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();
};

/// Pivots from the fully summed rows of a panel, before it is known whether they bound L in the rows below.
/// The vectors may be used again for other panels.
template <class T> struct SummedPivots {
    PivotStats stats;
    Index eliminated = 0;              ///< The number of pivots.
    std::vector<std::int32_t> rows;    ///< rows[new] = old; for ldl also the columns.
    std::vector<std::int32_t> columns; ///< columns[new] = old, for lu; empty for ldl.
    std::vector<T> scaled;             ///< ldl: D L^H (or L^T) in the columns that remain, transposed.
    std::vector<std::int32_t> order;   ///< Working memory.
    [[nodiscard]] std::vector<std::int32_t> const& column_order() const {
        return columns.empty() ? rows : columns;
    }
    /// No pivots in a panel of n columns.
    void restart(Index n, FactorForm form) {
        stats = {};
        eliminated = 0;
        rows.resize(n);
        std::iota(rows.begin(), rows.end(), 0);
        columns.clear();
        if (form.has_upper()) columns = rows;
    }
    [[nodiscard]] std::span<std::int32_t> order_of(Index n) {
        order.resize(std::max<std::size_t>(order.size(), n));
        return std::span(order).first(n);
    }
};

/// Chooses the pivots of an assembled panel and stores them in it.
template <class T> class PanelPivots {
  public:
    /// The first `rows` rows below will be eliminated, and L must be bounded there. Pivots below `threshold`
    /// are replaced if their columns are as small.
    PanelPivots(FactorForm form, DelayRules const& rules, Real<T> threshold, Index rows)
        : form_(form), rules_(rules), threshold_(threshold), rows_(rows) {}

    /// Eliminates all columns of ldl, with pivots from the fully summed rows. Used where nothing can be
    /// delayed.
    PivotStats eliminate_all(DelayedPanel<T>& panel, BlockDivision const* division) const;
    /// Saves time if all rows below are bounded, in four steps: columns that have a pivot in the fully summed
    /// rows are eliminated there, then in the rows below, L before U, which may be divided, and then the
    /// others are tried. Between the first two steps, the caller permutes the columns of L and U in the rows
    /// below. Returns false if entries are not finite.
    [[nodiscard]] bool from_summed_rows(DelayedPanel<T>& panel, BlockDivision const* division,
                                        SummedPivots<T>& pivots) const;
    /// The first of these steps without a panel: eliminates in `square`, and sets `eliminated` and `columns`.
    [[nodiscard]] PivotStats factor_leading(MatrixView<T> square, std::span<std::int32_t> rows,
                                            std::span<T> off_diagonal, BlockDivision const* division,
                                            SummedPivots<T>& pivots) const;
    /// Completes its result for the panel of the square, except for `rows`.
    void after_leading(DelayedPanel<T> const& panel, SummedPivots<T>& pivots) const;
    /// Returns the largest entry of L in the first `counted` of these rows.
    Real<T> eliminate_rows_of_l(DelayedPanel<T>& panel, SummedPivots<T> const& pivots, Index first,
                                Index count, Index counted) const;
    void eliminate_rows_of_u(DelayedPanel<T>& panel, SummedPivots<T> const& pivots, Index first,
                             Index count) const;
    /// Tries the columns that are not eliminated with all rows: those without a good pivot are left over
    /// (kernels/threshold.hpp). With lu, no column is left over where nothing can be delayed. Changes the
    /// order of the rows and columns.
    PivotStats finish(DelayedPanel<T>& panel, SummedPivots<T>& pivots) const;

  private:
    [[nodiscard]] Op op() const { return form_.conjugate() ? Op::adjoint : Op::transpose; }
    ThresholdPivots finish_ldl(DelayedPanel<T>& panel, SummedPivots<T>& pivots) const;
    ThresholdPivots finish_lu(DelayedPanel<T>& panel, SummedPivots<T>& pivots) const;

    FactorForm form_;
    DelayRules rules_;
    Real<T> threshold_;
    Index rows_;
};

} // namespace espalier
