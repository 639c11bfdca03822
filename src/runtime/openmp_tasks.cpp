// Task graphs on the tasks of OpenMP. Only this source is compiled with OpenMP.
#include <omp.h>

#include "runtime/counted_run.hpp"
#include "runtime/other_runtime.hpp"

namespace espalier {

namespace {

class OpenMpTasks final : public OtherRuntime {
  public:
    explicit OpenMpTasks(int threads) : to_start_(threads), run_(threads), threads_(threads) {}

    // The barrier at the end of the parallel region waits for all tasks.
    RunStats run(TaskGraph const& graph, TaskBody const& body, RunOptions const& options) override {
        to_start_.require();
        run_.begin(graph, body, options);
#pragma omp parallel num_threads(threads_)
        {
#pragma omp master
            run_.start(omp_get_thread_num(), Spawn{&run_});
        }
        return run_.finish();
    }

  private:
    struct Spawn {
        CountedRun* run;
        void operator()(TaskId task) const {
            CountedRun* const counted = run;
#pragma omp task firstprivate(counted, task)
            counted->run_spawned(task, omp_get_thread_num(), Spawn{counted});
        }
    };

    ThreadsToStart to_start_;
    CountedRun run_;
    int threads_;
};

} // namespace

std::unique_ptr<OtherRuntime> make_openmp_tasks(int threads) {
    return std::make_unique<OpenMpTasks>(threads);
}

} // namespace espalier
