#include "tools/dense/tile_kernels.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/timer.hpp"
#include "kernels/blas.hpp"
#include "kernels/panel.hpp"
#include "kernels/product.hpp"
#include "kernels/tile_qr.hpp"
#include "kernels/triangular.hpp"
#include "tools/dense/tile_trace.hpp"
#include "trace/record.hpp"

namespace espalier {

namespace {

// Records the dependencies, and returns the number of task 0 in the trace.
std::int64_t record_dependencies(TaskGraph const& graph, trace::Recorder& recorder) {
    std::int64_t const first = recorder.reserve_tasks(graph.num_tasks());
    std::vector<trace::Dependency> edges;
    edges.reserve(graph.successors.size());
    for (TaskId t = 0; t < graph.num_tasks(); ++t)
        for (TaskId const next : graph.successors_of(t)) edges.push_back({first + t, first + next});
    recorder.add_dependencies(edges);
    return first;
}

} // namespace

TileExecutor::TileExecutor(TiledMatrix const& matrix)
    : matrix_(&matrix), workspace_(tile_qr_workspace(TiledMatrix::inner_block, matrix.grid().tile)) {}

void TileExecutor::factor_diagonal(std::int32_t k) {
    Index const failed = factor_cholesky(true, matrix_->tile(k, k));
    if (failed >= 0)
        throw Error(Status::not_positive_definite,
                    fmt::format("the pivot of column {} is not positive", matrix_->grid().first(k) + failed));
}

void TileExecutor::execute(TileTask const& task) {
    TiledMatrix const& m = *matrix_;
    auto const [kernel, k, i, j] = task;
    switch (kernel) {
    case TileKernel::potrf:
        return factor_diagonal(k);
    case TileKernel::trsm:
        return solve_right<double>(Op::transpose, Diag::non_unit, m.tile(k, k), m.tile(i, k));
    case TileKernel::syrk:
        return rank_k_update<double>(true, -1.0, m.tile(i, k), 1.0, m.tile(i, i));
    case TileKernel::gemm:
        return subtract_product<double>(Op::transpose, m.tile(i, k), m.tile(j, k), m.tile(i, j));
    case TileKernel::geqrt:
        return geqrt(m.tile(k, k), m.triangles(k, k), workspace_);
    case TileKernel::unmqr:
        return unmqr(Op::transpose, m.tile(k, k), m.triangles(k, k), m.tile(k, j), workspace_);
    case TileKernel::tsqrt:
        return tsqrt(m.tile(k, k), m.tile(i, k), m.triangles(i, k), workspace_);
    case TileKernel::tsmqr:
        return tsmqr(Op::transpose, m.tile(i, k), m.triangles(i, k), m.tile(k, j), m.tile(i, j), workspace_);
    }
}

TileRun factorize_tiles(TiledMatrix const& matrix, TileTasks const& tasks, Policy& policy, WorkerTeam& team) {
    trace::Recorder* const recorder = team.recorder();
    RunOptions options;
    if (recorder) options.first_number = record_dependencies(tasks.graph, *recorder);
    std::vector<TileExecutor> executors(team.size(), TileExecutor(matrix));
    std::vector<WorkerId> worker_of_task(tasks.tasks.size());
    auto const execute = [&](TaskId id, WorkerId worker) {
        TileTask const& task = tasks.tasks[id];
        worker_of_task[id] = worker;
        trace::Scope const scope(team.track(worker), trace_kind(task.kernel),
                                 {options.first_number + id, task.j, trace_level(task, tasks.grid)});
        executors[worker].execute(task);
    };
    trace::Scope const phase(recorder ? &recorder->phases() : nullptr, trace::Kind::factorization);
    RunStats stats = team.run(tasks.graph, policy, execute, options);
    return {std::move(stats), std::move(worker_of_task)};
}

TileRates measure_rates(DenseKind kind, Index tile) {
    SingleThreadedBlas const single;
    constexpr Index large_enough = 256; // rates hardly change for larger tiles
    constexpr std::int32_t tiles = 3;   // the smallest number with every kernel
    TileGrid const grid{tiles * std::min(tile, large_enough), std::min(tile, large_enough)};
    TileRates rates;
    rates.fill(1);
    auto const tasks = build_tile_tasks(kind, grid, 1, rates).tasks;
    TiledMatrix matrix(kind, grid, 1, Allocation::local);
    TileExecutor executor(matrix);
    Timer const whole;
    for (int pass = 0; pass < 3 || (pass < 50 && whole.seconds() < 0.02); ++pass) {
        matrix.fill_owned(0);
        for (TileTask const& task : tasks) {
            Timer const timer;
            executor.execute(task);
            double& rate = rates[int(task.kernel)];
            rate = std::max(rate, flops(task, grid) / std::max(timer.seconds(), 1e-8));
        }
    }
    return rates;
}

} // namespace espalier
