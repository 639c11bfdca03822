// The order in which workers execute the rows of an incomplete factor. Rows are aggregated into chunks by a
// coarse string, a list schedule assigns chunks to workers, and workers wait for each other's chunks
// point to point. The same order serves the factorization, the forward sweep, and, from end to start, the
// backward sweep.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/interrupt.hpp"
#include "policies/spin.hpp"
#include "policies/task_graph.hpp"
#include "rows/row_pattern.hpp"
#include "trace/record.hpp"

namespace espalier {

/// A wait: a worker may not continue before the first `chunks` chunks of another worker are done, in the
/// direction of the sweep.
struct ChunkWait {
    WorkerId worker = 0;
    std::int32_t chunks = 0;
};

/// The waits before each chunk.
struct WaitLists {
    std::vector<Offset> ptr{0};
    std::vector<ChunkWait> waits;
    [[nodiscard]] std::span<ChunkWait const> before(std::int32_t chunk) const {
        return {waits.data() + ptr[chunk], waits.data() + ptr[chunk + 1]};
    }
};

/// The coarse string of an order with a single chunk of all rows.
inline constexpr char const* one_chunk = "one";

/// Row row_at[p] has position p. The positions of a chunk are consecutive, and so are the chunks of a
/// worker, in the order of a forward sweep. A backward sweep runs the chunks of each worker, and the
/// positions of each chunk, from last to first.
struct ExecutionOrder {
    int num_workers = 1;
    LargeVector<BlockRow> row_at;
    LargeVector<BlockRow> position_of;
    /// The rows of each block of rows (row_arrangement.hpp), at the same positions, but in ascending order.
    LargeVector<BlockRow> ascending;
    /// By position: 1 if the row is the first of its depth in its block of rows (row_arrangement.hpp),
    /// otherwise 0. A row with 1 and the rows with 0 that follow it do not depend on each other.
    std::vector<std::uint8_t> begins_depth;
    /// Whether most rows depend on one of the two rows before them in the pattern. In ascending order, such a
    /// row waits for the pivot of that row.
    bool follows_closely = false;
    std::vector<std::int32_t> worker_ptr; ///< Worker w has the chunks worker_ptr[w] .. worker_ptr[w + 1] - 1.
    std::vector<BlockRow> chunk_ptr;      ///< Chunk c has the positions chunk_ptr[c] .. chunk_ptr[c + 1] - 1.
    WaitLists forward, backward;
    std::string coarse_string; ///< The coarse string of the aggregation; "one" if all rows are one chunk.
    Offset coarse_edges = 0;   ///< Edges of the graph of the chunks, of which the waits are a reduction.
    std::vector<std::int32_t> node_of_chunk; ///< The NUMA nodes from distribute_over_nodes(), or empty.
    /// The chunks as tasks of a forward sweep, with costs; the home of a chunk is its worker.
    TaskGraph tasks;

    [[nodiscard]] std::int32_t num_chunks() const { return static_cast<std::int32_t>(chunk_ptr.size()) - 1; }
    [[nodiscard]] BlockRow num_rows() const { return static_cast<BlockRow>(row_at.size()); }
};

/// The tasks of a forward sweep, one for each row. Row i follows row j < i if (i, j) or (j, i) is in the
/// pattern, so the reversed graph also serves the backward sweep. The cost of a task is the number of blocks
/// in its row.
TaskGraph row_tasks(RowPattern const& pattern);

/// The string of GrowLocal for this number of workers, on groups of consecutive rows: "C(16)G(workers)" if
/// most rows depend on the row before, as in lines of a grid (C(32) for up to four workers and 2^19 rows or
/// more), and "T(k)G(workers)" otherwise, with trees of at most 1 / (128 workers) of the rows.
std::string fast_string(RowPattern const& pattern, int workers);

/// The coarse string of a pipeline for this number of workers (coarsen/pipeline.hpp).
std::string pipeline_string(int workers);
/// Whether the pattern is symmetric and regular enough for a pipeline, as that of a grid in natural order
/// whose cells have neighbors along the axes only.
bool has_pipeline(RowPattern const& pattern, int workers);

/// Makes the order for `workers` workers. `coarse_string` is that of coarsen(). With "none" each row is a
/// chunk; with "one" all rows are one chunk. An empty string stands for fast_string(), without a graph of
/// single rows, or for one chunk if there is one worker. RowArrangement orders the rows within a chunk.
/// Errors of coarsen(). Error{cancelled} soon after the interrupt asks for it.
///
/// `node_of_worker` has the NUMA node (0, 1, ... without gaps) of each worker. Chunks are then distributed
/// over the nodes (coarsen/node_distribution.hpp), and assigned to workers of their node. If it is empty,
/// nodes are ignored.
ExecutionOrder make_execution_order(RowPattern const& pattern, int workers,
                                    std::string const& coarse_string = {},
                                    std::vector<int> const& node_of_worker = {},
                                    Interrupt* interrupt = nullptr);

enum class SweepDirection : std::uint8_t { forward, backward };

/// Counts the finished chunks of a run, by worker and direction.
class ChunkProgress {
  public:
    explicit ChunkProgress(int workers);
    /// Prepares a run. Called on one thread.
    void reset();

    /// Runs the chunks of a worker in the given direction: calls body(chunk) for each when the chunks that it
    /// waits for are done. Their writes are then visible to it. body must not throw, or the other workers
    /// would wait forever. Records the waits on `track`, unless it is null.
    template <class Body> void run(ExecutionOrder const& order, SweepDirection direction, WorkerId worker,
                                   bool yields, Body const& body, trace::Track* track = nullptr) {
        bool const forward = direction == SweepDirection::forward;
        auto const& lists = forward ? order.forward : order.backward;
        std::int32_t const first = order.worker_ptr[worker], end = order.worker_ptr[worker + 1];
        auto& own = counter(direction, worker);
        for (std::int32_t k = 0; k < end - first; ++k) {
            std::int32_t const chunk = forward ? first + k : end - 1 - k;
            for (auto const& wait : lists.before(chunk))
                wait_for(counter(direction, wait.worker), wait.chunks, yields, track);
            body(chunk);
            own.store(k + 1, std::memory_order_release);
        }
    }

  private:
    struct alignas(64) Counter {
        std::atomic<std::int32_t> done{0}; ///< Written by its worker, read by those that wait for it.
    };
    std::atomic<std::int32_t>& counter(SweepDirection direction, WorkerId worker) {
        return counters_[direction == SweepDirection::forward ? worker : num_workers_ + worker].done;
    }
    static void wait_for(std::atomic<std::int32_t> const& counter, std::int32_t chunks, bool yields,
                         trace::Track* track) {
        if (counter.load(std::memory_order_acquire) >= chunks) return;
        trace::Scope const recorded(track, trace::Kind::idle);
        for (int spins = 0; counter.load(std::memory_order_acquire) < chunks; ++spins) pause(spins, yields);
    }
    static void pause(int spins, bool yields);

    int num_workers_;
    std::unique_ptr<Counter[]> counters_;
};

} // namespace espalier
