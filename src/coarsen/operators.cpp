#include "coarsen/operators.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/error.hpp"

namespace espalier {

namespace {

void require_positive(Index value, char const* what) {
    if (value < 1) throw Error(Status::usage, fmt::format("{} is {}; expected at least 1", what, value));
}

constexpr TaskId most_singles = 8; ///< Tasks outside of trees in an aggregate of T(k).

/// Builds the aggregates of D(M).
class DescendantSearch {
  public:
    explicit DescendantSearch(TaskGraph const& graph)
        : graph_(graph), aggregate_of_(graph.num_tasks(), no_task), waiting_(count_task_predecessors(graph)),
          inside_(graph.num_tasks()) {}

    Aggregation run(Index descendants, Interrupt* interrupt) {
        for (TaskId task = 0; task < graph_.num_tasks(); ++task)
            if (aggregate_of_[task] == no_task) {
                if (aggregate_ % masters_at_once == 0) check(interrupt);
                grow(task, descendants);
                ++aggregate_;
            }
        return std::move(aggregate_of_);
    }

  private:
    static constexpr TaskId masters_at_once = 64; ///< Between two checks of the interrupt.

    /// The number of predecessors of a task in the aggregate that was counted last.
    struct Inside {
        TaskId aggregate = no_task;
        std::int32_t count = 0;
    };

    void grow(TaskId master, Index room) {
        level_.assign(1, master);
        add_level();
        while (room > 0 && !next_.empty()) {
            std::sort(next_.begin(), next_.end(), [&](TaskId a, TaskId b) {
                return inside_[a].count != inside_[b].count ? inside_[a].count > inside_[b].count : a < b;
            });
            if (std::ssize(next_) > room) next_.resize(room);
            room -= std::ssize(next_);
            level_.swap(next_);
            add_level();
        }
    }

    /// Adds the tasks of level_. A task whose last predecessor is added becomes a candidate for the next
    /// level, so it is a candidate only once: if it is left out, it becomes a master.
    void add_level() {
        next_.clear();
        for (TaskId const task : level_) aggregate_of_[task] = aggregate_;
        for (TaskId const task : level_)
            for (TaskId const next : graph_.successors_of(task)) {
                Inside& inside = inside_[next];
                if (inside.aggregate != aggregate_) inside = {aggregate_, 0};
                ++inside.count;
                if (--waiting_[next] == 0) next_.push_back(next);
            }
    }

    TaskGraph const& graph_;
    Aggregation aggregate_of_;
    std::vector<std::int32_t> waiting_; ///< Predecessors that are in no aggregate yet.
    std::vector<Inside> inside_;
    std::vector<TaskId> level_, next_;
    TaskId aggregate_ = 0;
};

} // namespace

Aggregation aggregate_chains(TaskGraph const& graph) {
    auto const predecessors = count_task_predecessors(graph);
    Aggregation aggregation(graph.num_tasks(), no_task);
    TaskId aggregates = 0;
    for (TaskId task = 0; task < graph.num_tasks(); ++task) {
        if (aggregation[task] == no_task) aggregation[task] = aggregates++;
        auto const next = graph.successors_of(task);
        if (next.size() == 1 && predecessors[next[0]] == 1) aggregation[next[0]] = aggregation[task];
    }
    return aggregation;
}

Aggregation aggregate_fronts(TaskGraph const& graph, Index parts) {
    require_positive(parts, "the number of aggregates in each depth");
    auto const depths = depth_order(graph);
    Aggregation aggregation(graph.num_tasks());
    TaskId aggregates = 0;
    for (TaskId d = 0; d < depths.num_depths(); ++d) {
        std::span<TaskId const> const front{depths.order.data() + depths.depth_ptr[d],
                                            depths.order.data() + depths.depth_ptr[d + 1]};
        double total = 0;
        for (TaskId const task : front) total += cost_of(graph, task);
        double const share = total / static_cast<double>(parts);
        double before = 0; // cost of the tasks of this depth so far
        Index filled = 0;  // the aggregate of this depth that is being filled
        for (std::size_t k = 0; k < front.size(); ++k) {
            double const cost = cost_of(graph, front[k]);
            // If all costs are zero, tasks are distributed by number.
            Index const part = share > 0 ? static_cast<Index>((before + cost / 2) / share)
                                         : static_cast<Index>(k) * parts / std::ssize(front);
            if (k > 0 && std::min(part, parts - 1) > filled) ++aggregates;
            filled = std::min(part, parts - 1);
            aggregation[front[k]] = aggregates;
            before += cost;
        }
        ++aggregates;
    }
    return aggregation;
}

Aggregation aggregate_descendants(TaskGraph const& graph, Index descendants, Interrupt* interrupt) {
    require_positive(descendants, "the number of descendants of a master");
    return DescendantSearch(graph).run(descendants, interrupt);
}

Aggregation aggregate_continuations(TaskGraph const& graph, Index length) {
    require_positive(length, "the length of a continuation");
    Aggregation aggregation(graph.num_tasks());
    TaskId aggregates = 0;
    Index run = 0;
    for (TaskId task = 0; task < graph.num_tasks(); ++task) {
        aggregation[task] = aggregates;
        ++run;
        auto const next = graph.successors_of(task);
        bool const continues = std::find(next.begin(), next.end(), task + 1) != next.end();
        if (!continues || run == length) {
            ++aggregates;
            run = 0;
        }
    }
    return aggregation;
}

Aggregation aggregate_blocks(TaskGraph const& graph, Index length) {
    require_positive(length, "the length of a block");
    Aggregation aggregation(graph.num_tasks());
    for (TaskId task = 0; task < graph.num_tasks(); ++task)
        aggregation[task] = static_cast<TaskId>(task / length);
    return aggregation;
}

std::vector<TaskId> first_of_trees(std::span<TaskId const> lowest, Index largest) {
    require_positive(largest, "the largest number of tasks in a tree");
    std::vector<TaskId> first;  // of all aggregates so far
    std::size_t num_closed = 0; // the first aggregates, which later tasks do not join
    TaskId end_of_closed = 0;
    for (TaskId task = 0; task < std::ssize(lowest); ++task) {
        if (lowest[task] == task) {
            first.push_back(task);
            continue;
        }
        std::size_t joined = first.size();
        while (joined > num_closed && (joined == first.size() || first[joined] > lowest[task])) --joined;
        bool const is_tree =
            lowest[task] >= end_of_closed && joined < first.size() && task - first[joined] < largest;
        if (is_tree) {
            first.resize(joined + 1);
        } else {
            first.push_back(task);
            num_closed = first.size();
            end_of_closed = task + 1;
        }
    }
    // Runs of single tasks.
    auto const size_of = [&](std::size_t k) {
        return (k + 1 < first.size() ? first[k + 1] : static_cast<TaskId>(lowest.size())) - first[k];
    };
    std::size_t kept = 0;
    TaskId singles = 0; // in the last aggregate that was kept
    for (std::size_t k = 0; k < first.size(); ++k) {
        bool const is_single = size_of(k) == 1;
        bool const joins = is_single && singles > 0 && singles < most_singles;
        singles = !is_single ? 0 : joins ? singles + 1 : 1;
        if (!joins) first[kept++] = first[k];
    }
    first.resize(kept);
    return first;
}

Aggregation aggregate_trees(TaskGraph const& graph, Index largest) {
    TaskId const n = graph.num_tasks();
    std::vector<TaskId> lowest(n);
    std::iota(lowest.begin(), lowest.end(), 0);
    for (TaskId task = n; task-- > 0;)
        for (TaskId const next : graph.successors_of(task)) lowest[next] = task;
    auto const first = first_of_trees(lowest, largest);
    Aggregation aggregation(n);
    TaskId aggregate = -1;
    for (TaskId task = 0; task < n; ++task) {
        bool const begins = aggregate + 1 < std::ssize(first) && first[aggregate + 1] == task;
        aggregation[task] = begins ? ++aggregate : aggregate;
    }
    return aggregation;
}

} // namespace espalier
