#include "runtime/other_runtime.hpp"

#include <latch>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace espalier {

void ThreadsToStart::require() {
    if (caller_ == std::this_thread::get_id()) return;
    std::optional<std::system_error> refused;
    std::latch all_started(1);
    std::vector<std::thread> started;
    started.reserve(static_cast<std::size_t>(others_));
    try {
        for (int t = 0; t < others_; ++t) started.emplace_back([&] { all_started.wait(); });
    } catch (std::system_error const& error) {
        refused = error;
    } catch (std::bad_alloc const&) {
        refused.emplace(std::make_error_code(std::errc::not_enough_memory));
    }
    all_started.count_down();
    for (std::thread& thread : started) thread.join();
    if (refused)
        throw Error(Status::out_of_memory,
                    fmt::format("cannot start {} threads: {}", others_, refused->code().message()));
    caller_ = std::this_thread::get_id();
}

bool has_runtime(TaskRuntime runtime) {
    if (runtime == TaskRuntime::tbb) return make_tbb_tasks(1) != nullptr;
    if (runtime == TaskRuntime::openmp) return make_openmp_tasks(1) != nullptr;
    return true;
}

void require_runtime(TaskRuntime runtime) {
    if (has_runtime(runtime)) return;
    char const* const needed =
        runtime == TaskRuntime::tbb ? "oneTBB (Debian: libtbb-dev)" : "a compiler with OpenMP";
    throw Error(
        Status::unsupported,
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
