// Columns of L after a change of the matrix by a term of low rank (Bennett 1965; Gill, Golub, Murray,
// Saunders 1974, method C1). The matrix L D L^H + W diag(alpha) W^H is factorized again, one pivot and one
// column w of W at a time:
//
//     z = w at the pivot,  D' = D + alpha z z^H,  y = alpha z^H D'^-1,  alpha' = alpha det D / det D'
//     w := w - L(:, pivot) z,  L'(:, pivot) = L(:, pivot) + w y
//
// The pivots are known, and this file does the last line, for rows below them.
#pragma once

#include <vector>

#include "core/scalar.hpp"
#include "kernels/instruction_set.hpp"
#include "kernels/view.hpp"

namespace espalier {

/// The coefficients of consecutive columns of L for `rank` columns of W.
template <class T> struct LowRankSteps {
    Index rank = 0;
    std::vector<T> z; ///< For each column of L its `rank` coefficients.
    std::vector<T> y; ///< For each column of L its `rank` coefficients.
    /// The factor that makes the diagonal of a column of L one before the change.
    std::vector<Real<T>> before;
    std::vector<Real<T>> after;    ///< The factor of the entries of a column after the change.
    std::vector<bool> starts_pair; ///< Whether a column and the next one are one pivot.

    /// Makes room for the coefficients of `columns` columns.
    void resize(Index columns) {
        z.resize(columns * rank);
        y.resize(columns * rank);
        before.assign(columns, 1);
        after.assign(columns, 1);
        starts_pair.assign(columns, false);
    }
};

/// Applies the steps of columns [first, end), which do not cut a pair, to some rows of these columns of L and
/// to the same rows of W. `l` has one column for each step in [first, end). Without `stores`, L remains as it
/// was.
template <class T> void apply_low_rank(LowRankSteps<T> const& steps, Index first, Index end, MatrixView<T> l,
                                       MatrixView<T> w, bool stores);

/// By the given instructions, which the processor must support, for tests.
template <class T> void apply_low_rank(InstructionSet instructions, LowRankSteps<T> const& steps, Index first,
                                       Index end, MatrixView<T> l, MatrixView<T> w, bool stores);

} // namespace espalier
