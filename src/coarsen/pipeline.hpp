// The classical pipeline for grids in natural order as an operator: each core has a part of the lines of
// every plane, and follows the core before it at a short distance.
#pragma once

#include <span>
#include <vector>

#include "coarsen/aggregation.hpp"

namespace espalier {

/// The distances from a task to its last successor and to the one before, which is 0 if there is none.
struct Reach {
    TaskId last, before;
};

/// Divides tasks 0 .. num_tasks - 1 into bands of consecutive numbers, and each band into one part for each
/// core. A band consists of some periods, as a grid consists of planes. A part has the same share of each
/// period of its band.
class Pipeline {
  public:
    /// `sample` are the reaches of some tasks with successors. The period is their most frequent distance
    /// `last`. Bands are so short that the last core starts at most a twentieth of the run after the first
    /// one, but at least one period long. Error{usage} if cores < 1.
    Pipeline(TaskId num_tasks, std::span<Reach const> sample, Index cores);

    /// Whether most tasks of the sample reach the next period once and stay near otherwise, and there is a
    /// part for each core. A core then seldom needs a task of the core behind it.
    [[nodiscard]] bool is_regular() const { return is_regular_; }
    /// The part of a task in its period, in 0 .. cores - 1.
    [[nodiscard]] std::int32_t part_of(TaskId task) const {
        return static_cast<std::int32_t>(task % period_ * cores_ / period_);
    }
    /// The first task of each part of each period, in ascending order, and then num_tasks.
    [[nodiscard]] std::vector<TaskId> bounds() const;
    /// Aggregates the tasks of a graph, each of which stands for the tasks from first[t] on, by bands and
    /// parts of the first ones. A task with a predecessor in a later part of its band is in that part
    /// instead, so that aggregates never depend on each other in a cycle. Linear.
    [[nodiscard]] Aggregation aggregate(TaskGraph const& graph, std::span<TaskId const> first) const;

  private:
    TaskId num_tasks_;
    Index cores_, period_, periods_in_band_;
    bool is_regular_ = false;
};

/// Tasks at equal distances in 0 .. num_tasks - 1: all of them if there are few, otherwise some thousands.
[[nodiscard]] std::vector<TaskId> sampled_tasks(TaskId num_tasks);

/// W(cores): the parts of a Pipeline; at most `cores` aggregates in each band. Error{usage} if cores < 1.
/// Linear.
[[nodiscard]] Aggregation aggregate_pipeline(TaskGraph const& graph, Index cores);

} // namespace espalier
