// Operators and aggregate functions that a program defines.
#include "espalier/coarsening.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/status_of.hpp"
#include "runtime/other_runtime.hpp"

namespace espalier {
namespace {

using Task = std::int32_t;

/// A grid of n x n tasks, each of which follows its neighbors to the left and below.
struct Grid {
    explicit Grid(Task n) {
        for (Task task = 0; task < n * n; ++task) {
            if ((task + 1) % n != 0) successors.push_back(task + 1);
            if (task + n < n * n) successors.push_back(task + n);
            ptr.push_back(std::ssize(successors));
        }
    }
    [[nodiscard]] TaskDependences dependences() const { return {ptr, successors, {}}; }
    std::vector<Offset> ptr{0};
    std::vector<Task> successors;
};

/// Adds the operator P(w), which aggregates squares of w x w cells of a 12 x 12 grid.
void add_squares() {
    add_coarse_operator('P', CoarseArgument::required,
                        [](TaskDependences const& tasks, std::optional<Index> width) {
                            Task const n = 12, w = static_cast<Task>(*width), across = (n + w - 1) / w;
                            std::vector<Task> squares(tasks.successor_ptr.size() - 1);
                            for (Task task = 0; task < std::ssize(squares); ++task)
                                squares[task] = task % n / w + task / n / w * across;
                            return squares;
                        });
}

std::vector<CoarseRun> all_runs() {
    std::vector<CoarseRun> runs;
    for (int const threads : {1, 3}) {
        for (auto const schedule :
             {SchedulePolicy::dynamic_tree, SchedulePolicy::places, SchedulePolicy::nas})
            runs.push_back({.threads = threads, .schedule = schedule});
        for (auto const runtime : {TaskRuntime::tbb, TaskRuntime::openmp})
            if (has_runtime(runtime)) runs.push_back({.threads = threads, .runtime = runtime});
    }
    return runs;
}

TEST(CoarseTasks, CountThePathsOfAGridOnEveryRuntime) {
    add_squares();
    Task const n = 12;
    Grid const grid(n);
    CoarseTasks const tasks(grid.dependences(), "P(4)S");
    EXPECT_EQ(tasks.num_aggregates(), 9);
    EXPECT_EQ(tasks.successors_of(0).size(), 2u);
    EXPECT_EQ(tasks.parts_of(0).size(), 16u);
    for (auto const& how : all_runs()) {
        std::vector<std::int64_t> paths(grid.ptr.size() - 1, 0);
        tasks.run(
            [&](std::span<Task const> parts, int) {
                for (Task const task : parts)
                    paths[task] = task < n || task % n == 0 ? 1 : paths[task - 1] + paths[task - n];
            },
            how);
        EXPECT_EQ(paths.back(), 705432); // the binomial coefficient of 22 over 11
    }
}

TEST(CoarseTasks, RethrowTheErrorOfAFunction) {
    Grid const grid(6);
    CoarseTasks const tasks(grid.dependences(), "D(3)");
    auto const fails = [](std::span<Task const> parts, int) {
        if (parts.front() > 10) throw std::runtime_error("later");
    };
    for (auto const& how : all_runs()) EXPECT_THROW(tasks.run(fails, how), std::runtime_error);
}

TEST(CoarseTasks, KeepTheirThreadsAndRefuseARunDuringARun) {
    Grid const grid(2);
    CoarseTasks const tasks(grid.dependences(), "C");
    for (int turn = 0; turn < 2; ++turn)
        for (auto const& how : all_runs())
            tasks.run(
                [&](std::span<Task const>, int thread) {
                    EXPECT_LT(thread, how.threads);
                    EXPECT_EQ(status_of([&] { tasks.run({}, {.threads = 2}); }), Status::usage);
                },
                how);
}

TEST(CoarseTasks, RefuseWrongArguments) {
    Grid grid(3);
    auto const nothing = [](std::span<Task const>, int) {};
    CoarseTasks const tasks(grid.dependences(), "S");
    EXPECT_EQ(status_of([&] { tasks.run(nothing, {.schedule = SchedulePolicy::static_order}); }),
              Status::usage);
    EXPECT_EQ(status_of([&] { CoarseTasks(grid.dependences(), "Q(2)"); }), Status::usage);
    auto const alone = [](TaskDependences const&, std::optional<Index>) { return std::vector<Task>{}; };
    EXPECT_EQ(status_of([&] { add_coarse_operator('p', CoarseArgument::none, alone); }), Status::usage);
    EXPECT_EQ(status_of([&] { add_coarse_operator('Q', CoarseArgument::none, {}); }), Status::usage);
    EXPECT_EQ(status_of([&] { tasks.run(nothing, {.threads = -1}); }), Status::usage);
    EXPECT_EQ(status_of([&] { tasks.run(nothing, {.threads = -1, .runtime = TaskRuntime::tbb}); }),
              Status::usage);
    auto const status = [&](std::vector<double> const& cost) {
        return status_of([&] { CoarseTasks({grid.ptr, grid.successors, cost}, "F(2)"); });
    };
    std::vector<double> cost(9, 0.0);
    EXPECT_EQ(status(cost), Status::ok);
    for (double const wrong : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
        cost[4] = wrong;
        EXPECT_EQ(status(cost), Status::usage) << wrong;
    }
    EXPECT_EQ(status(std::vector<double>(8, 1.0)), Status::usage);
    grid.successors[0] = 0;
    EXPECT_EQ(status({}), Status::usage);
    grid.successors[0] = 1;
    EXPECT_EQ(status({}), Status::ok);
    grid.ptr.pop_back();
    EXPECT_EQ(status({}), Status::usage);
}

} // namespace
} // namespace espalier
