// Predicts the times of the factorization and of the sweeps of an incomplete factor by a simulation of its
// execution order: each worker runs its chunks in order and waits for those of other workers. Such
// predictions choose the coarse string.
#pragma once

#include <cstddef>

#include "incomplete/execution_order.hpp"

namespace espalier {

/// Seconds of the parts of a row task. Sweeps are bound by memory, factorizations by the updates.
struct RowCosts {
    double byte = 1.0 / 12e9; ///< A byte of the factor or of a vector that a sweep reads or writes.
    double row = 1.5e-9;      ///< A row of a sweep.
    double gather = 4e-9;     ///< An entry of A that is put into its row, in a factorization.
    double flop = 2.5e-10;    ///< A multiplication and an addition in real numbers, of dense blocks ...
    double update = 1.6e-9;   ///< ... and the search for the place of an updated block.
    double factor_row = 2e-8; ///< A row of a factorization.
    /// Time from the end of an awaited chunk to the start of the chunk that waits.
    double wait = 1.5e-7;
    double chunk = 1.5e-8; ///< Start of a chunk.
    double check = 5e-8;   ///< A check of the progress of another worker, before a chunk that waits.

    /// These costs for chunks that run as tasks of a graph, with the overhead of queues, a runtime, and
    /// counts of predecessors.
    [[nodiscard]] RowCosts with_tasks() const;
};

/// Predicted times in seconds on the workers of an execution order.
struct SweepPrediction {
    double factor_s = 0; ///< The numeric factorization.
    double solve_s = 0;  ///< A forward and a backward sweep with one right-hand side.
    double work_s = 0;   ///< All row tasks of the two sweeps together, without the cost of chunks and waits.
};

/// Simulates the runs of an order for this pattern of dense blocks, whose scalars have `scalar_bytes` bytes.
/// Costs of large chunks are those of a sample of their rows. Linear in the waits and in the blocks of the
/// sample.
SweepPrediction predict_sweeps(RowPattern const& pattern, ExecutionOrder const& order, int block_size,
                               std::size_t scalar_bytes, RowCosts const& costs = {});

/// The execution order with the fastest predicted sweeps. A pipeline, if there is one, is taken at once if it
/// keeps the workers busy for `good_pipeline` of the time. Otherwise fast_string() is tried. If the best
/// order so far keeps the workers busy for less than `good_efficiency` of the time, G(workers), CD(4),
/// D(400), F(32) and one chunk are tried as well. One worker always runs all rows as one chunk.
/// `node_of_worker` and the interrupt as in make_execution_order().
inline constexpr double good_efficiency = 0.8, good_pipeline = 0.9;
ExecutionOrder choose_execution_order(RowPattern const& pattern, int workers, int block_size,
                                      std::size_t scalar_bytes, RowCosts const& costs = {},
                                      std::vector<int> const& node_of_worker = {},
                                      Interrupt* interrupt = nullptr);

} // namespace espalier
