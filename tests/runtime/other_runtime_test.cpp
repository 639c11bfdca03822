// Task graphs on oneTBB and OpenMP. A build without one of them skips its tests.
#include "runtime/other_runtime.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "support.hpp"

namespace espalier {
namespace {

using namespace std::chrono_literals;

struct RuntimeCase {
    TaskRuntime runtime;
    int threads;
};

void PrintTo(RuntimeCase const& made, std::ostream* out) {
    *out << spellings<TaskRuntime>[static_cast<std::size_t>(made.runtime)] << " " << made.threads;
}

class OtherRuntimeOf : public ::testing::TestWithParam<RuntimeCase> {
  protected:
    void SetUp() override {
        if (!has_runtime(GetParam().runtime)) GTEST_SKIP() << "not in this build";
        threads = make_other_runtime(GetParam().runtime, GetParam().threads);
    }
    std::unique_ptr<OtherRuntime> threads;
    int const size = GetParam().threads;
};
INSTANTIATE_TEST_SUITE_P(Cases, OtherRuntimeOf,
                         ::testing::Values(RuntimeCase{TaskRuntime::tbb, 1}, RuntimeCase{TaskRuntime::tbb, 2},
                                           RuntimeCase{TaskRuntime::tbb, 4},
                                           RuntimeCase{TaskRuntime::openmp, 1},
                                           RuntimeCase{TaskRuntime::openmp, 2},
                                           RuntimeCase{TaskRuntime::openmp, 4}));

TEST_P(OtherRuntimeOf, RunsEachTaskOnceAfterItsPredecessors) {
    for (unsigned const seed : {1u, 2u, 3u}) {
        TaskId const tasks = 3000;
        auto const edges = random_edges(tasks, 2, seed);
        std::vector<std::vector<TaskId>> before(tasks);
        for (auto const& [from, to] : edges) before[to].push_back(from);
        auto const graph = graph_of(tasks, edges);
        // Written without synchronization: the graph orders the accesses.
        std::vector<int> runs(tasks, 0), early(tasks, 0);
        std::vector<std::atomic<bool>> busy(size);
        std::atomic<int> shared_numbers{0};
        auto const stats = threads->run(graph, [&](TaskId task, WorkerId worker) {
            if (worker < 0 || worker >= size || busy[worker].exchange(true)) ++shared_numbers;
            for (TaskId const p : before[task]) early[task] += runs[p] != 1;
            ++runs[task];
            busy[worker] = false;
        });
        EXPECT_EQ(runs, std::vector<int>(tasks, 1));
        EXPECT_EQ(early, std::vector<int>(tasks, 0));
        EXPECT_EQ(shared_numbers, 0);
        EXPECT_EQ(stats.tasks(), tasks);
        EXPECT_EQ(std::ssize(stats.workers), size);
    }
    EXPECT_EQ(threads->run(graph_of(0, {}), nothing).tasks(), 0);
}

TEST_P(OtherRuntimeOf, UsesAsManyThreadsAsRequested) {
    std::atomic<int> inside{0};
    auto const meet = [&](TaskId, WorkerId) {
        ++inside;
        auto const give_up = std::chrono::steady_clock::now() + 20s;
        while (inside < size && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
    };
    threads->run(graph_of(size, {}), meet);
    EXPECT_EQ(inside, size);
}

// A task that creates many others at each of many levels would exhaust the stack if they ran inside of each
// other.
TEST_P(OtherRuntimeOf, RunsDeepAndWideGraphs) {
    TaskId const levels = 20000, width = 10;
    std::vector<Edge> edges;
    for (TaskId level = 1; level < levels; ++level)
        for (TaskId k = 0; k < width; ++k) edges.emplace_back((level - 1) * width, level * width + k);
    std::atomic<TaskId> ended{0};
    threads->run(graph_of(levels * width, edges), [&](TaskId, WorkerId) { ++ended; });
    EXPECT_EQ(ended, levels * width);
    ended = 0;
    threads->run(graph_of(100000, {}), [&](TaskId, WorkerId) { ++ended; });
    EXPECT_EQ(ended, 100000);
}

TEST_P(OtherRuntimeOf, StopsRethrowsTheFirstExceptionAndCanBeUsedAgain) {
    auto const graph = graph_of(2000, random_edges(2000, 1, 5));
    for (TaskId const fails : {0, 7, 900}) {
        std::atomic<int> started{0};
        auto const body = [&](TaskId task, WorkerId) {
            ++started;
            if (task == fails) throw std::runtime_error("task " + std::to_string(fails));
            std::this_thread::sleep_for(20us);
        };
        try {
            threads->run(graph, body);
            FAIL() << "the exception was lost";
        } catch (std::runtime_error const& e) {
            EXPECT_EQ(e.what(), "task " + std::to_string(fails));
        }
        EXPECT_LT(started, 2000);
        EXPECT_EQ(threads->run(graph, nothing).tasks(), 2000);
    }
}

TEST_P(OtherRuntimeOf, CanBeCancelledByARequestAndByTheCallback) {
    auto const graph = graph_of(100000, chain_edges(100000));
    Interrupt requested;
    std::atomic<int> started{0};
    RunOptions options;
    options.interrupt = &requested;
    auto const requests_the_stop = [&](TaskId task, WorkerId) {
        ++started;
        if (task == 100) requested.request();
    };
    EXPECT_EQ(status_of([&] { threads->run(graph, requests_the_stop, options); }), Status::cancelled);
    EXPECT_EQ(started, 101);

    std::thread::id const caller = std::this_thread::get_id();
    bool elsewhere = false;
    Interrupt asking([&] {
        elsewhere |= std::this_thread::get_id() != caller;
        return true;
    });
    options.interrupt = &asking;
    EXPECT_EQ(status_of([&] { threads->run(graph, nothing, options); }), Status::cancelled);
    EXPECT_FALSE(elsewhere);
    EXPECT_EQ(threads->run(graph, nothing).tasks(), 100000);
}

TEST_P(OtherRuntimeOf, ReportsACycle) {
    auto const graph = graph_of(3, {{0, 1}, {1, 2}, {2, 1}});
    std::string message;
    EXPECT_EQ(status_of([&] { threads->run(graph, nothing); }, &message), Status::internal);
    EXPECT_TRUE(contains(message, "2 of 3 tasks wait"));
}

TEST(OtherRuntime, IsRefusedClearlyIfTheBuildLacksIt) {
    for (auto const runtime : {TaskRuntime::espalier, TaskRuntime::tbb, TaskRuntime::openmp}) {
        std::string message;
        Status const status = status_of([&] { require_runtime(runtime); }, &message);
        EXPECT_EQ(status, has_runtime(runtime) ? Status::ok : Status::unsupported);
        if (status == Status::ok) continue;
        EXPECT_TRUE(contains(message, spellings<TaskRuntime>[static_cast<std::size_t>(runtime)]));
    }
    EXPECT_TRUE(has_runtime(TaskRuntime::espalier));
}

} // namespace
} // namespace espalier
