// Coarse task graphs (Taggre) for programs: small tasks are aggregated by a coarse string, such as
// "SD(300)F(32)", which may name operators of the program, and the aggregates run on threads.
//
//     espalier::add_coarse_operator('P', espalier::CoarseArgument::required, my_operator);
//     espalier::CoarseTasks tasks({successor_ptr, successors, {}}, "P(8)D(4)");
//     tasks.run([&](std::span<std::int32_t const> parts, int thread) { ... });
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/export.h"
#include "espalier/schedule_settings.hpp"
#include "espalier/task_runtime.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// Tasks 0 .. n - 1 and their dependencies. The successors of a task have higher numbers than the task.
struct TaskDependences {
    std::span<Offset const> successor_ptr; ///< n + 1 entries.
    /// Task t has entries successor_ptr[t] .. successor_ptr[t + 1] - 1.
    std::span<std::int32_t const> successors;
    std::span<double const> cost; ///< n entries, finite, at least 0; or empty: all cost the same.
};

/// Whether the letter of an operator is followed by a number in parentheses.
enum class CoarseArgument : std::uint8_t { none, optional, required };

/// An operator: returns the aggregate of each task. Aggregates are numbered from 0 without gaps, and must not
/// depend on each other in a cycle. The argument is the number in parentheses, or empty.
using UserCoarseOperator =
    std::function<std::vector<std::int32_t>(TaskDependences const& tasks, std::optional<Index> argument)>;

/// Adds an operator, which coarse strings of this process, including Options::coarsen, may name from now on.
/// It replaces an operator with the same letter. Solvers on several processes need it on each process.
/// Thread-safe. Error{usage} unless the letter is a capital letter.
ESPALIER_API void add_coarse_operator(char letter, CoarseArgument argument, UserCoarseOperator apply);

/// Computes the tasks of an aggregate. They are passed in ascending order, which is a valid order of
/// execution. `thread` is below the number of threads; no two calls have the same one at the same time.
using AggregateFunction = std::function<void(std::span<std::int32_t const> parts, int thread)>;

/// How aggregates run.
struct CoarseRun {
    int threads = 0;                             ///< 0 for the cores that the process may use.
    TaskRuntime runtime = TaskRuntime::espalier; ///< The runtime that runs the aggregates.
    /// For TaskRuntime::espalier: dynamic, places or nas.
    SchedulePolicy schedule = SchedulePolicy::dynamic_tree;
};

/// A coarse task graph. A moved-from object can only be destroyed or assigned to.
class ESPALIER_API CoarseTasks {
  public:
    /// Error{usage} if a successor does not have a higher number than its task, if a cost or the string is
    /// invalid, or if an operator returns an invalid aggregation; Error{unsupported} for 2^31 tasks or more.
    CoarseTasks(TaskDependences const& tasks, std::string_view coarse_string);
    ~CoarseTasks();
    CoarseTasks(CoarseTasks&&) noexcept;            ///< Moves.
    CoarseTasks& operator=(CoarseTasks&&) noexcept; ///< Moves.

    [[nodiscard]] std::int32_t num_aggregates() const; ///< Aggregates 0 .. num_aggregates() - 1.
    /// Its tasks, ascending.
    [[nodiscard]] std::span<std::int32_t const> parts_of(std::int32_t aggregate) const;
    /// Distinct aggregates.
    [[nodiscard]] std::span<std::int32_t const> successors_of(std::int32_t aggregate) const;

    /// Calls function(parts, thread) for each aggregate after those that it depends on, whose writes it sees.
    /// The first exception of the function ends the run and is rethrown. Error{unsupported} for a runtime
    /// that this build lacks; Error{usage} for a schedule that CoarseRun does not allow and for a negative
    /// number of threads. Runs must not overlap. The threads are kept for the next run with the same
    /// settings.
    void run(AggregateFunction const& function, CoarseRun const& how = {}) const;

  private:
    struct Graph;
    std::unique_ptr<Graph> graph_;
};

} // namespace espalier
