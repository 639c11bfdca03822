// How ldlt, ldlh and lu choose pivots.
#pragma once

namespace espalier {

/// What happens to a column that finds no good pivot in its column block (ldlt, ldlh, lu).
enum class Pivoting {
    /// It is eliminated nevertheless, and a pivot below Options::pivot_threshold is replaced (Li, Demmel
    /// 2003). Refinement corrects the solution.
    static_pivots,
    /// It is delayed: an ancestor in the tree, which has more rows to choose from, eliminates it (Duff, Reid
    /// 1983). Pivots are replaced only if the matrix is singular to working precision.
    delayed,
    /// Like `delayed`, but a column block accepts its pivots as long as none is replaced and the entries of L
    /// are below 10 / u; this bound is at most the larger of 1 / u and the fourth root of 1 / epsilon. See
    /// Options::pivot_tolerance.
    automatic,
};

/// The largest Options::pivot_tolerance.
inline constexpr double most_pivot_tolerance = 0.5;

} // namespace espalier
