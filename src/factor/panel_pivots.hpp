// The pivots of a panel with delayed columns (delayed_panel.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "factor/delayed_panel.hpp"
#include "factor/factor.hpp"
#include "kernels/panel.hpp"
#include "kernels/threshold.hpp"

namespace espalier {

/// The rules that decide when columns are delayed.
struct DelayRules {
    double u = 0.01;       ///< Least modulus of a pivot relative to the other entries of its column.
    double growth = 100;   ///< Pivots from the fully summed rows are kept if the entries of L are not larger.
    /// Limit for all delayed panels and columns left over of a process.
    std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();
};

/// Each function eliminates the columns of an assembled panel and stores the pivots in the panel.
template <class T> class PanelPivots {
  public:
    /// The first `rows` rows below will be eliminated, and L must be bounded there. Pivots below `threshold`
    /// are replaced if their columns are as small.
    PanelPivots(FactorForm form, DelayRules const& rules, Real<T> threshold, Index rows)
        : form_(form), rules_(rules), threshold_(threshold), rows_(rows) {}

    /// Eliminates all columns, with pivots from the fully summed rows. Used where nothing can be delayed. lu
    /// interchanges only rows.
    PivotStats eliminate_all(DelayedPanel<T>& panel) const;
    /// Examines all rows: columns without a good pivot are left over (kernels/threshold.hpp). With lu, no
    /// column is left over where nothing can be delayed.
    PivotStats from_all_rows(DelayedPanel<T>& panel) const;
    /// Does the same in less time: columns that have a pivot in the fully summed rows are eliminated first,
    /// all at once. If this does not bound L, returns false; the panel is then overwritten.
    bool from_summed_rows(DelayedPanel<T>& panel, PivotStats& stats) const;
    /// Continues from_summed_rows() of ldl after factor_ldl_leading(), whose results are `found`, `perm` and, in the panel,
    /// L, D and the rest of the fully summed rows. The rows below are as they were assembled. Changes `perm`.
    bool after_leading(DelayedPanel<T>& panel, ThresholdPivots const& found, std::span<std::int32_t> perm,
                       PivotStats& stats) const;

  private:
    [[nodiscard]] bool bounds_l(MatrixView<T const> below) const;
    void eliminate_below_ldl(DelayedPanel<T>& panel, Index pivots) const;
    PivotStats finish_ldl(DelayedPanel<T>& panel, Index first, std::span<std::int32_t> perm) const;

    FactorForm form_;
    DelayRules rules_;
    Real<T> threshold_;
    Index rows_;
};

} // namespace espalier
