// HDagg: trees of the transitively reduced graph, then steps of consecutive depths.
#include <algorithm>
#include <queue>

#include <fmt/format.h>

#include "coarsen/super_steps.hpp"

namespace espalier {

namespace {

/// A step is balanced if its largest share is at most this many times the mean.
constexpr double tolerated_imbalance = 1.1;

/// For each task its only successor in the reduced graph, or no_task if it has none or several. An edge
/// (u, w) is left out if there are edges (u, v) and (v, w).
std::vector<TaskId> only_successors(TaskGraph const& graph) {
    std::vector<TaskId> only(graph.num_tasks(), no_task), implied_from(graph.num_tasks(), no_task);
    for (TaskId task = 0; task < graph.num_tasks(); ++task) {
        auto const successors = graph.successors_of(task);
        for (TaskId const middle : successors)
            for (TaskId const end : graph.successors_of(middle)) implied_from[end] = task;
        TaskId found = no_task;
        for (TaskId const next : successors) {
            if (implied_from[next] == task || next == found) continue;
            if (found != no_task) {
                found = no_task;
                break;
            }
            found = next;
        }
        only[task] = found;
    }
    return only;
}

/// Each task joins the tree of its only successor while the tree costs at most `limit`.
Aggregation aggregate_trees(TaskGraph const& graph, double limit) {
    auto const only = only_successors(graph);
    std::vector<TaskId> root(graph.num_tasks());
    std::vector<double> cost(graph.num_tasks(), 0.0);
    TaskId trees = 0;
    for (TaskId task = graph.num_tasks(); task-- > 0;) {
        TaskId const next = only[task];
        double const own = cost_of(graph, task);
        bool const joins = next != no_task && cost[root[next]] + own <= limit;
        root[task] = joins ? root[next] : task;
        cost[root[task]] += own;
        if (!joins) ++trees;
    }
    // Roots ascend along every edge between trees, so numbers by root are topological.
    Aggregation aggregation(graph.num_tasks());
    TaskId number = trees;
    for (TaskId task = graph.num_tasks(); task-- > 0;)
        aggregation[task] = root[task] == task ? --number : aggregation[root[task]];
    return aggregation;
}

/// The connected components of the step that grows. The last joins can be undone.
class Components {
  public:
    explicit Components(TaskId tasks) : parent_(tasks, no_task), cost_(tasks, 0.0), size_(tasks, 1) {}

    void begin_step() {
        joins_.clear();
        total_ = largest_ = 0;
    }
    [[nodiscard]] TaskId find(TaskId task) const {
        while (parent_[task] != no_task) task = parent_[task];
        return task;
    }
    void add(TaskId task, double cost) {
        parent_[task] = no_task;
        cost_[task] = cost;
        size_[task] = 1;
        total_ += cost;
        largest_ = std::max(largest_, cost);
    }
    /// The smaller tree gets the root of the larger one, so that find() takes logarithmic time without
    /// compressing paths, which could not be undone.
    void join(TaskId a, TaskId b) {
        a = find(a);
        b = find(b);
        if (a == b) return;
        if (size_[a] < size_[b]) std::swap(a, b);
        parent_[b] = a;
        size_[a] += size_[b];
        cost_[a] += cost_[b];
        largest_ = std::max(largest_, cost_[a]);
        joins_.push_back(b);
    }

    struct Mark {
        std::size_t joins;
        double total, largest;
    };
    [[nodiscard]] Mark mark() const { return {joins_.size(), total_, largest_}; }
    void undo_to(Mark const& mark) {
        for (; joins_.size() > mark.joins; joins_.pop_back()) {
            TaskId const child = joins_.back();
            size_[parent_[child]] -= size_[child];
            cost_[parent_[child]] -= cost_[child];
            parent_[child] = no_task;
        }
        total_ = mark.total;
        largest_ = mark.largest;
    }

    [[nodiscard]] bool is_root(TaskId task) const { return parent_[task] == no_task; }
    [[nodiscard]] double cost(TaskId root) const { return cost_[root]; }
    [[nodiscard]] double largest() const { return largest_; }
    [[nodiscard]] double total() const { return total_; }

  private:
    std::vector<TaskId> parent_;
    std::vector<double> cost_; ///< By root.
    std::vector<TaskId> size_; ///< The number of tasks, by root.
    std::vector<TaskId> joins_;
    double largest_ = 0, total_ = 0;
};

/// Grows steps over the depths of a graph and packs their components onto cores.
class StepPacking {
  public:
    StepPacking(TaskGraph const& graph, Index cores)
        : graph_(graph), depths_(depth_order(graph)), components_(graph.num_tasks()),
          predecessors_(reversed_tasks(graph)), step_of_(graph.num_tasks(), no_task), load_(cores),
          aggregation_(graph.num_tasks()) {}

    Aggregation run(Interrupt* interrupt) {
        for (TaskId first = 0; first < depths_.num_depths(); ++step_) first = make_step(first, interrupt);
        return std::move(aggregation_);
    }

  private:
    [[nodiscard]] std::span<TaskId const> tasks_of(TaskId first, TaskId end) const {
        return {depths_.order.data() + depths_.depth_ptr[first],
                depths_.order.data() + depths_.depth_ptr[end]};
    }

    /// Makes a step of the depths from `first` on and returns the first depth after it. The first depth that
    /// would unbalance the step begins the next one.
    TaskId make_step(TaskId first, Interrupt* interrupt) {
        components_.begin_step();
        add_depth(first);
        TaskId end = first + 1;
        for (; end < depths_.num_depths(); ++end) {
            check(interrupt);
            auto const mark = components_.mark();
            add_depth(end);
            if (is_balanced(first, end + 1)) continue;
            components_.undo_to(mark);
            break;
        }
        number_aggregates(first, end);
        return end;
    }

    void add_depth(TaskId depth) {
        for (TaskId const task : tasks_of(depth, depth + 1)) {
            step_of_[task] = step_;
            components_.add(task, cost_of(graph_, task));
        }
        for (TaskId const task : tasks_of(depth, depth + 1))
            for (TaskId const before : predecessors_.successors_of(task))
                if (step_of_[before] == step_) components_.join(task, before);
    }

    /// Packing bounds the largest share by the mean plus the largest component. Only between the two clear
    /// cases the components are packed.
    bool is_balanced(TaskId first, TaskId end) {
        double const mean = components_.total() / static_cast<double>(std::ssize(load_));
        if (components_.largest() > tolerated_imbalance * mean) return false;
        if (components_.largest() <= (tolerated_imbalance - 1) * mean) return true;
        pack(first, end);
        return *std::max_element(load_.begin(), load_.end()) <= tolerated_imbalance * mean;
    }

    /// Longest processing time first: sets core_of_root_ and load_.
    void pack(TaskId first, TaskId end) {
        roots_.clear();
        for (TaskId const task : tasks_of(first, end))
            if (components_.is_root(task)) roots_.push_back(task);
        std::stable_sort(roots_.begin(), roots_.end(),
                         [&](TaskId a, TaskId b) { return components_.cost(a) > components_.cost(b); });
        std::fill(load_.begin(), load_.end(), 0.0);
        using Core = std::pair<double, Index>;
        std::priority_queue<Core, std::vector<Core>, std::greater<>> cores;
        for (Index core = 0; core < std::ssize(load_); ++core) cores.emplace(0.0, core);
        core_of_root_.resize(graph_.num_tasks());
        for (TaskId const root : roots_) {
            auto const core = cores.top().second;
            cores.pop();
            core_of_root_[root] = core;
            load_[core] += components_.cost(root);
            cores.emplace(load_[core], core);
        }
    }

    void number_aggregates(TaskId first, TaskId end) {
        pack(first, end);
        std::vector<TaskId> number(load_.size(), no_task);
        for (TaskId const task : tasks_of(first, end)) {
            TaskId& aggregate = number[core_of_root_[components_.find(task)]];
            if (aggregate == no_task) aggregate = aggregates_++;
            aggregation_[task] = aggregate;
        }
    }

    TaskGraph const& graph_;
    DepthOrder depths_;
    Components components_;
    TaskGraph predecessors_; ///< The edges backwards.
    std::vector<TaskId> step_of_;
    std::vector<double> load_; ///< The cost on each core in the last packing.
    std::vector<Index> core_of_root_;
    std::vector<TaskId> roots_;
    Aggregation aggregation_;
    TaskId step_ = 0, aggregates_ = 0;
};

} // namespace

Aggregation aggregate_hdagg(TaskGraph const& graph, Index cores, Interrupt* interrupt) {
    if (cores < 1) throw Error(Status::usage, fmt::format("HDagg: {} cores; expected at least 1", cores));
    cores = std::min<Index>(cores, std::max(1, graph.num_tasks()));
    double total = 0;
    for (TaskId task = 0; task < graph.num_tasks(); ++task) total += cost_of(graph, task);
    // A tree of at most a tenth of a core's share of the work does not unbalance a step of all the work.
    double const limit = (tolerated_imbalance - 1) * total / static_cast<double>(cores);
    auto const trees = quotient_graph(graph, aggregate_trees(graph, limit), "trees of HDagg");
    check(interrupt);
    auto const steps = StepPacking(trees.graph, cores).run(interrupt);
    Aggregation aggregation(graph.num_tasks());
    for (TaskId task = 0; task < graph.num_tasks(); ++task)
        aggregation[task] = steps[trees.aggregate_of[task]];
    return aggregation;
}

} // namespace espalier
