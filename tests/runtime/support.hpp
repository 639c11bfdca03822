// Helpers of the tests of the runtime: small task graphs, a simple queue as a policy, a run that checks
// itself, and two assertions.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/status_of.hpp"
#include "espalier/types.hpp"
#include "policies/policy.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

inline void PrintTo(Status status, std::ostream* out) {
    *out << to_string(status);
}

/// Whether `part` is in `text`; shows both if not.
inline ::testing::AssertionResult contains(std::string const& text, std::string const& part) {
    if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << '"' << part << "\" is not in: " << text;
}

using Edge = std::pair<TaskId, TaskId>;

/// The graph of these edges, without homes; parallel edges count twice.
inline TaskGraph graph_of(TaskId tasks, std::vector<Edge> const& edges) {
    std::vector<TaskEdge> all;
    for (auto const& [from, to] : edges) all.push_back({from, to});
    TaskGraph graph;
    connect_tasks(graph, tasks, all);
    return graph;
}

/// Tasks without successors, each of which waits for one event.
inline TaskGraph awaiting(TaskId tasks) {
    auto graph = graph_of(tasks, {});
    graph.num_predecessors.assign(tasks, 1);
    return graph;
}

/// Edges from smaller to larger ids, about `degree` into each task.
inline std::vector<Edge> random_edges(TaskId tasks, int degree, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Edge> edges;
    for (TaskId to = 1; to < tasks; ++to)
        for (int i = static_cast<int>(random() % static_cast<unsigned>(2 * degree + 1)); i > 0; --i)
            edges.emplace_back(static_cast<TaskId>(random() % static_cast<unsigned>(to)), to);
    return edges;
}

/// Some of the workers, at least one.
inline WorkerRange random_range(std::mt19937& random, int workers) {
    auto const first = static_cast<WorkerId>(random() % static_cast<unsigned>(workers));
    return {first, first + 1 + static_cast<WorkerId>(random() % static_cast<unsigned>(workers - first))};
}

inline std::vector<Edge> chain_edges(TaskId tasks) {
    std::vector<Edge> edges;
    for (TaskId t = 1; t < tasks; ++t) edges.emplace_back(t - 1, t);
    return edges;
}

/// One queue with a lock for all workers. Counts a steal if a worker gets a task that another one has pushed.
class FifoPolicy : public Policy {
  public:
    explicit FifoPolicy(int workers) : steals_(static_cast<std::size_t>(workers), 0) {}
    WorkerId push(TaskId task, WorkerId by) override {
        std::lock_guard const lock(mutex_);
        queue_.emplace_back(task, by);
        return any_worker;
    }
    TaskId pop(WorkerId worker) override {
        std::lock_guard const lock(mutex_);
        if (queue_.empty()) return no_task;
        auto const [task, by] = queue_.front();
        queue_.pop_front();
        steals_[worker] += by != worker;
        return task;
    }
    [[nodiscard]] std::int64_t steals(WorkerId worker) const override { return steals_[worker]; }

  private:
    std::mutex mutex_;
    std::deque<std::pair<TaskId, WorkerId>> queue_;
    std::vector<std::int64_t> steals_; ///< Under mutex_; read between runs.
};

/// The tasks that a worker finds in a policy and runs, one after another.
inline std::vector<TaskId> drain(Policy& policy, WorkerId worker) {
    std::vector<TaskId> found;
    for (TaskId task; (task = policy.pop(worker)) != no_task; policy.on_start(worker)) found.push_back(task);
    return found;
}

inline constexpr int team_sizes[] = {1, 2, 4, 8};

inline Topology const& machine() {
    static Topology const topology = Topology::detect();
    return topology;
}

inline void nothing(TaskId, WorkerId) {}

/// A test with a team of each of these sizes.
class TeamOfEachSize : public ::testing::TestWithParam<int> {
  protected:
    int const size = GetParam();
    WorkerTeam team{machine(), size};
    FifoPolicy policy{size};
};

/// Runs a graph. Each task checks, without synchronization of its own, the values that its predecessors
/// wrote.
inline void run_checked(WorkerTeam& team, std::vector<Edge> const& edges, TaskId tasks, Policy& policy) {
    auto const graph = graph_of(tasks, edges);
    std::vector<std::vector<TaskId>> predecessors(tasks);
    for (auto const& [from, to] : edges) predecessors[to].push_back(from);
    std::vector<std::int64_t> depth(tasks, -1), expected(depth);
    std::vector<int> runs(tasks, 0);
    std::vector<int> failures(team.size(), 0);
    for (TaskId t = 0; t < tasks; ++t) {
        expected[t] = 0;
        for (TaskId p : predecessors[t]) expected[t] = std::max(expected[t], expected[p] + 1);
    }
    auto const stats = team.run(graph, policy, [&](TaskId t, WorkerId w) {
        std::int64_t here = 0;
        for (TaskId p : predecessors[t]) {
            failures[w] += depth[p] < 0;
            here = std::max(here, depth[p] + 1);
        }
        depth[t] = here;
        ++runs[t];
    });
    EXPECT_EQ(depth, expected);
    EXPECT_EQ(runs, std::vector<int>(tasks, 1));
    EXPECT_EQ(failures, std::vector<int>(team.size(), 0));
    EXPECT_EQ(stats.tasks(), tasks);
    EXPECT_EQ(stats.workers.size(), static_cast<std::size_t>(team.size()));
    for (WorkerStats const& worker : stats.workers) {
        EXPECT_GE(worker.busy_s, 0);
        EXPECT_LE(worker.busy_s, stats.seconds * 1.001);
    }
}

} // namespace espalier
