#include "runtime/other_runtime.hpp"

#include <fmt/format.h>

namespace espalier {

bool has_runtime(TaskRuntime runtime) {
    if (runtime == TaskRuntime::tbb) return make_tbb_tasks(1) != nullptr;
    if (runtime == TaskRuntime::openmp) return make_openmp_tasks(1) != nullptr;
    return true;
}

void require_runtime(TaskRuntime runtime) {
    if (has_runtime(runtime)) return;
    char const* const needed =
        runtime == TaskRuntime::tbb ? "oneTBB (Debian: libtbb-dev)" : "a compiler with OpenMP";
    throw Error(Status::unsupported,
                fmt::format("this build of Espalier does not have the runtime {0}; build it with {1}, or use the "
                            "runtime espalier",
                            spellings<TaskRuntime>[static_cast<std::size_t>(runtime)], needed));
}

std::unique_ptr<OtherRuntime> make_other_runtime(TaskRuntime runtime, int threads) {
    require_runtime(runtime);
    if (runtime == TaskRuntime::tbb) return make_tbb_tasks(threads);
    if (runtime == TaskRuntime::openmp) return make_openmp_tasks(threads);
    throw Error(Status::internal, "the runtime espalier is a WorkerTeam");
}

} // namespace espalier
