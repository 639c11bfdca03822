#include "tools/dense/tile_tasks.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace espalier {

namespace {

std::vector<TileTask> cholesky_tasks(std::int32_t count) {
    using enum TileKernel;
    std::vector<TileTask> tasks;
    for (std::int32_t k = 0; k < count; ++k) {
        tasks.push_back({potrf, k, k, k});
        for (std::int32_t i = k + 1; i < count; ++i) tasks.push_back({trsm, k, i, k});
        for (std::int32_t j = k + 1; j < count; ++j) {
            tasks.push_back({syrk, k, j, j});
            for (std::int32_t i = j + 1; i < count; ++i) tasks.push_back({gemm, k, i, j});
        }
    }
    return tasks;
}

std::vector<TileTask> qr_tasks(std::int32_t count) {
    using enum TileKernel;
    std::vector<TileTask> tasks;
    for (std::int32_t k = 0; k < count; ++k) {
        tasks.push_back({geqrt, k, k, k});
        for (std::int32_t j = k + 1; j < count; ++j) tasks.push_back({unmqr, k, k, j});
        for (std::int32_t i = k + 1; i < count; ++i) {
            tasks.push_back({tsqrt, k, i, k});
            for (std::int32_t j = k + 1; j < count; ++j) tasks.push_back({tsmqr, k, i, j});
        }
    }
    return tasks;
}

// Derives dependencies from the data of tasks, in the order of their submission. A reader waits for the last
// writer. A writer waits for all readers since the last writer, or for that writer if there are none.
class DataFlow {
  public:
    explicit DataFlow(Index num_data) : data_(num_data) {}

    void submit(TileAccesses const& task) {
        TaskId const id = num_tasks_++;
        std::size_t const first = edges_.size();
        for (std::int32_t const d : task.read)
            if (d >= 0) {
                wait_for(data_[d].writer, id, first);
                data_[d].readers.push_back(id);
            }
        for (std::int32_t const d : task.written)
            if (d >= 0) {
                if (data_[d].readers.empty()) wait_for(data_[d].writer, id, first);
                for (TaskId const reader : data_[d].readers) wait_for(reader, id, first);
                data_[d] = {id, {}};
            }
    }

    void store(TaskGraph& graph) const { connect_tasks(graph, num_tasks_, edges_); }

  private:
    struct Datum {
        TaskId writer = no_task;
        std::vector<TaskId> readers; ///< Readers since the last write.
    };

    // Edges from `first` on lead to the same task. They are few, so a linear search is cheap.
    void wait_for(TaskId from, TaskId to, std::size_t first) {
        if (from == no_task) return;
        for (std::size_t e = first; e < edges_.size(); ++e)
            if (edges_[e].from == from) return;
        edges_.push_back({from, to});
    }

    std::vector<Datum> data_;
    TaskId num_tasks_ = 0;
    std::vector<TaskEdge> edges_; ///< Sorted by `to`.
};

// Error{usage} if a TaskId cannot number the tasks.
void require_countable(DenseKind kind, TileGrid const& grid) {
    constexpr Index most_tiles = 1 << 12; // more tiles in a row make more tasks than a TaskId can number
    Index const count = (grid.n - 1) / grid.tile + 1;
    if (count <= most_tiles && num_tile_tasks(kind, count) <= std::numeric_limits<TaskId>::max()) return;
    throw Error(Status::usage,
                fmt::format("a matrix of order {} in tiles of {} has more than {} tasks; use larger tiles",
                            grid.n, grid.tile, std::numeric_limits<TaskId>::max()));
}

} // namespace

char const* to_string(DenseKind kind) {
    return kind == DenseKind::cholesky ? "cholesky" : "qr";
}

char const* to_string(TileKernel kernel) {
    constexpr char const* names[] = {"potrf", "trsm", "syrk", "gemm", "geqrt", "unmqr", "tsqrt", "tsmqr"};
    return names[static_cast<int>(kernel)];
}

TileAccesses accesses(TileTask const& task, std::int32_t count) {
    auto const tile = [count](std::int32_t i, std::int32_t j) { return i * count + j; };
    auto const [kernel, k, i, j] = task;
    std::int32_t const reflections = count * count + k;
    using enum TileKernel;
    switch (kernel) {
    case potrf:
        return {{-1, -1}, {tile(k, k), -1}};
    case trsm:
        return {{tile(k, k), -1}, {tile(i, k), -1}};
    case syrk:
        return {{tile(i, k), -1}, {tile(i, i), -1}};
    case gemm:
        return {{tile(i, k), tile(j, k)}, {tile(i, j), -1}};
    case geqrt:
        return {{-1, -1}, {tile(k, k), reflections}};
    case unmqr:
        return {{reflections, -1}, {tile(k, j), -1}};
    case tsqrt:
        return {{-1, -1}, {tile(k, k), tile(i, k)}};
    case tsmqr:
        return {{tile(i, k), -1}, {tile(k, j), tile(i, j)}};
    }
    return {};
}

double flops(TileTask const& task, TileGrid const& grid) {
    // Three times the operations, relative to the product of the three sizes, which may be equal.
    constexpr std::array<double, num_tile_kernels> tripled{1, 3, 3, 6, 4, 6, 6, 12};
    auto const volume = static_cast<double>(grid.size(task.i) * grid.size(task.j) * grid.size(task.k));
    return tripled[static_cast<std::size_t>(task.kernel)] * volume / 3;
}

double flops(DenseKind kind, Index n) {
    auto const order = static_cast<double>(n);
    return (kind == DenseKind::cholesky ? 1.0 : 4.0) * order * order * order / 3;
}

std::int64_t num_tile_tasks(DenseKind kind, std::int64_t count) {
    return kind == DenseKind::cholesky ? count * (count + 1) * (count + 2) / 6
                                       : count * (count + 1) * (2 * count + 1) / 6;
}

double TileTasks::total_cost() const {
    return std::accumulate(graph.cost.begin(), graph.cost.end(), 0.0);
}

double TileTasks::critical_path() const {
    return graph.priority.empty() ? 0 : *std::max_element(graph.priority.begin(), graph.priority.end());
}

TileTasks build_tile_tasks(DenseKind kind, TileGrid const& grid, int workers, TileRates const& rates) {
    return build_tile_tasks(kind, grid, TileOwners(workers), rates);
}

TileTasks build_tile_tasks(DenseKind kind, TileGrid const& grid, TileOwners const& owners,
                           TileRates const& rates) {
    require_countable(kind, grid);
    std::int32_t const count = grid.count();
    TileTasks result{grid, kind == DenseKind::cholesky ? cholesky_tasks(count) : qr_tasks(count), {}};
    DataFlow flow(Index{count} * (count + 1));
    for (TileTask const& task : result.tasks) {
        flow.submit(accesses(task, count));
        result.graph.cost.push_back(flops(task, grid) / rates[int(task.kernel)]);
        result.graph.home.push_back(owners.of(task.i, task.j));
    }
    flow.store(result.graph);
    result.graph.priority = longest_paths(result.graph);
    return result;
}

std::vector<WorkerRange> candidate_workers(TileTasks const& tasks, PolicyMachine const& machine) {
    WorkerRange const all{0, machine.num_workers()};
    std::vector<WorkerRange> of_node; // all workers if those of a node are not consecutive
    for (int node = 0; node < machine.num_nodes(); ++node) {
        auto const workers = machine.workers_of(node);
        WorkerRange const range{workers.front(), workers.back() + 1};
        of_node.push_back(range.count() == static_cast<int>(workers.size()) ? range : all);
    }
    std::vector<WorkerRange> ranges;
    ranges.reserve(tasks.tasks.size());
    for (std::size_t t = 0; t < tasks.tasks.size(); ++t) {
        WorkerId const home = tasks.graph.home[t];
        std::int64_t const rest = tasks.grid.count() - tasks.tasks[t].k;
        std::int64_t const tiles_a_worker = rest * rest / machine.num_workers();
        ranges.push_back(tiles_a_worker >= 4   ? WorkerRange{home, home + 1}
                         : tiles_a_worker >= 1 ? of_node[machine.node_of(home)]
                                               : all);
    }
    return ranges;
}

} // namespace espalier
