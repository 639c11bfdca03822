// The share of a process in the scaled and permuted system B = P R A C (scaling/scaled_system.hpp): the
// scales of its rows and columns, and the caller's rows and columns behind them.
#pragma once

#include <span>
#include <vector>

#include "distributed/distributed_rows.hpp"
#include "scaling/scaled_system.hpp"

namespace espalier {

/// Everything is in local order. A row exchange (distributed/row_exchange.hpp) applies P: with `callers_row`
/// for b of A x = b and for x of A^T x = b, with `callers_column` for x of A x = b and b of A^T x = b.
struct LocalScaling {
    bool is_scaled = false; ///< Equal on all processes, including those without rows.
    std::vector<double> row_scale, column_scale; ///< Powers of two; empty: ones.
    std::vector<Index> callers_row;              ///< The caller's row of each local row of B.
    std::vector<Index> callers_column;           ///< The caller's column of each local column of B.

    /// From op(A) x = b to op(B) y = b', in place, on local rows of `columns` columns: b to b', y to x, x to
    /// y.
    template <class T> void to_working(std::span<T> b, Index columns, MatrixOp op) const;
    template <class T> void from_working(std::span<T> y, Index columns, MatrixOp op) const;
    template <class T> void solution_to_working(std::span<T> x, Index columns, MatrixOp op) const;
};

/// Collective: the shares of all processes. Process 0 has the system, the others give null.
/// Error{out_of_memory} on all.
template <class T> LocalScaling deal_scaling(DistributedRows const& rows, ScaledSystem<T> const* system);

} // namespace espalier
