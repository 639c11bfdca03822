// The part of a process of the scaled and permuted system B = P R A C (scaling/scaled_system.hpp): the scales
// of its rows and columns, and their numbers in A.
#pragma once

#include <span>
#include <vector>

#include "distributed/distributed_rows.hpp"
#include "distributed/row_workers.hpp"
#include "scaling/scaled_system.hpp"

namespace espalier {

/// All arrays are in local order. A row exchange (distributed/row_exchange.hpp) applies P: with `callers_row`
/// for b of A x = b and x of A^T x = b, and with `callers_column` for x of A x = b and b of A^T x = b.
struct LocalScaling {
    bool is_scaled = false;                      ///< Equal on all processes, including those without rows.
    std::vector<double> row_scale, column_scale; ///< Powers of two; empty: ones.
    std::vector<Index> callers_row;              ///< The row of A of each local row of B.
    std::vector<Index> callers_column;           ///< The column of A of each local column of B.

    /// Convert between op(A) x = b and op(B) y = b', in place, on the local rows of `columns` columns: b to
    /// b', y to x, and x to y.
    template <class T>
    void to_working(std::span<T> b, Index columns, MatrixOp op, RowWorkers const& workers = {}) const;
    template <class T>
    void from_working(std::span<T> y, Index columns, MatrixOp op, RowWorkers const& workers = {}) const;
    template <class T> void solution_to_working(std::span<T> x, Index columns, MatrixOp op,
                                                RowWorkers const& workers = {}) const;
};

/// Collective: distributes the parts to all processes. Process 0 passes the system, the others null.
/// Error{out_of_memory} on all processes.
template <class T> LocalScaling deal_scaling(DistributedRows const& rows, ScaledSystem<T> const* system);

} // namespace espalier
