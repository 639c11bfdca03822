// Changes the factors of B to those of B + W W^H or B - W W^H (W W^T for llt and ldlt), where W has few
// columns [Davis, Hager 2001, 2009]. Only the cblks on the paths of the elimination tree from the columns of
// W to the roots change. In each of them, the pivots and their order remain, with new values
// (kernels/low_rank.hpp).
//
// This needs the rows of each column of W to be in the structure: those below its first row must be rows of
// the panel that has this first row as a column. Steps that can fail are first run without changing the
// factors.
#pragma once

#include "core/interrupt.hpp"
#include "espalier/matrix.hpp"
#include "factor/factor.hpp"
#include "kernels/low_rank.hpp"

namespace espalier {

/// The result of update_low_rank().
enum class LowRankResult {
    changed,           ///< The factors are those of the new matrix.
    outside_structure, ///< The new matrix needs factors with more entries.
    poor_pivots,       ///< Pivots in the same order would be too small (ldlt, ldlh).
};

/// Whether update_low_rank() can change factors: those of llh, ldlt, ldlh and real llt without delayed
/// columns, all in this process.
template <class T> bool can_update_low_rank(Factor<T> const& factor);

/// Changes `factor`, for which can_update_low_rank() is true, by W (n x k, general storage, its rows in the
/// order of vectors). `sign` is 1 or -1. `largest` is the largest modulus of an entry of the new matrix. The
/// factors are unchanged unless the result is LowRankResult::changed, and also after
/// Error{not_positive_definite} for llh. After Error{cancelled} they are undefined.
template <class T> LowRankResult update_low_rank(Factor<T>& factor, CscMatrix<T> const& w, int sign,
                                                 double largest, WorkerTeam& team,
                                                 Interrupt* interrupt = nullptr);

} // namespace espalier
