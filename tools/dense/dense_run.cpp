#include "tools/dense/dense_run.hpp"

#include <vector>

#include "tools/dense/tile_kernels.hpp"
#include "trace/record.hpp"

namespace espalier {

namespace {

trace::Kind kind_of(TileKernel kernel) {
    bool const factors = kernel == TileKernel::potrf || kernel == TileKernel::trsm ||
                         kernel == TileKernel::geqrt || kernel == TileKernel::tsqrt;
    return factors ? trace::Kind::factor : trace::Kind::update;
}

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

RunStats factorize_tiles(TiledMatrix const& matrix, TileTasks const& tasks, Policy& policy,
                         WorkerTeam& team) {
    trace::Recorder* const recorder = team.recorder();
    RunOptions options;
    if (recorder) options.first_number = record_dependencies(tasks.graph, *recorder);
    std::int32_t const last_step = tasks.grid.count() - 1;
    std::vector<TileExecutor> executors(team.size(), TileExecutor(matrix));
    auto const execute = [&](TaskId id, WorkerId worker) {
        TileTask const& task = tasks.tasks[id];
        trace::Scope const scope(team.track(worker), kind_of(task.kernel),
                                 {options.first_number + id, task.j, last_step - task.k});
        executors[worker].execute(task);
    };
    trace::Scope const phase(recorder ? &recorder->phases() : nullptr, trace::Kind::factorization);
    return team.run(tasks.graph, policy, execute, options);
}

} // namespace espalier
