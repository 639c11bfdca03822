// Task graphs on oneTBB: a task group in an arena with as many slots as threads are wanted.
#include <optional>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "runtime/counted_run.hpp"
#include "runtime/other_runtime.hpp"

namespace espalier {

namespace {

WorkerId arena_slot() {
    return oneapi::tbb::this_task_arena::current_thread_index();
}

class TbbTasks final : public OtherRuntime {
  public:
    explicit TbbTasks(int threads) : to_start_(threads), run_(threads), arena_(threads) {
        // Otherwise oneTBB has at most one thread for each core of the machine.
        if (threads > oneapi::tbb::info::default_concurrency())
            more_threads_.emplace(oneapi::tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
    }

    RunStats run(TaskGraph const& graph, TaskBody const& body, RunOptions const& options) override {
        to_start_.require();
        run_.begin(graph, body, options);
        arena_.execute([&] {
            oneapi::tbb::task_group group;
            run_.start(arena_slot(), Spawn{run_, group});
            group.wait();
        });
        return run_.finish();
    }

  private:
    struct Spawn {
        CountedRun& run;
        oneapi::tbb::task_group& group;
        void operator()(TaskId task) const {
            group.run([spawn = *this, task] { spawn.run.run_spawned(task, arena_slot(), spawn); });
        }
    };

    ThreadsToStart to_start_;
    CountedRun run_;
    std::optional<oneapi::tbb::global_control> more_threads_;
    oneapi::tbb::task_arena arena_;
};

} // namespace

std::unique_ptr<OtherRuntime> make_tbb_tasks(int threads) {
    return std::make_unique<TbbTasks>(threads);
}

} // namespace espalier
