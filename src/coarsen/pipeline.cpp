#include "coarsen/pipeline.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/error.hpp"

namespace espalier {

namespace {

/// An aggregate of at most this many tasks fits the cache of a core.
constexpr Index most_tasks = 32768;
/// The part of a run after which the last core should have started.
constexpr double latest_start = 0.05;

/// Returns the largest of the most frequent distances, or 1 if there are none.
TaskId most_frequent(std::vector<TaskId> distances) {
    std::sort(distances.begin(), distances.end());
    TaskId best = 1;
    std::ptrdiff_t count = 0;
    for (auto first = distances.begin(); first != distances.end();) {
        auto const end = std::upper_bound(first, distances.end(), *first);
        if (end - first >= count) best = *first;
        count = std::max(count, end - first);
        first = end;
    }
    return best;
}

} // namespace

Pipeline::Pipeline(TaskId num_tasks, std::span<Reach const> sample, Index cores) : num_tasks_(num_tasks) {
    if (cores < 1)
        throw Error(Status::usage, fmt::format("the number of cores is {}; expected at least 1", cores));
    std::vector<TaskId> distances;
    for (Reach const& reach : sample) distances.push_back(reach.last);
    period_ = most_frequent(std::move(distances));
    auto const regular = std::count_if(sample.begin(), sample.end(), [&](Reach const& reach) {
        return reach.last == period_ && 2 * Index(reach.before) <= period_;
    });
    is_regular_ = 2 * regular > std::ssize(sample) && period_ >= cores;
    cores_ = std::min(cores, period_);
    auto const wanted = static_cast<Index>(latest_start * num_tasks /
                                           static_cast<double>(period_ * std::max<Index>(1, cores_ - 1)));
    periods_in_band_ = std::clamp<Index>(wanted, 1, std::max<Index>(1, most_tasks * cores_ / period_));
}

std::vector<TaskId> Pipeline::bounds() const {
    std::vector<TaskId> bounds;
    for (Index period = 0; period < num_tasks_; period += period_)
        for (Index part = 0; part < cores_; ++part) {
            Index const first = period + (part * period_ + cores_ - 1) / cores_;
            if (first < num_tasks_ && (bounds.empty() || first > bounds.back()))
                bounds.push_back(static_cast<TaskId>(first));
        }
    bounds.push_back(num_tasks_);
    return bounds;
}

Aggregation Pipeline::aggregate(TaskGraph const& graph, std::span<TaskId const> first) const {
    TaskId const n = graph.num_tasks();
    std::vector<Index> keys(n); // band and part
    for (TaskId task = 0; task < n; ++task)
        keys[task] = first[task] / (period_ * periods_in_band_) * cores_ + part_of(first[task]);
    for (TaskId task = 0; task < n; ++task)
        for (TaskId const next : graph.successors_of(task))
            if (keys[next] / cores_ == keys[task] / cores_) keys[next] = std::max(keys[next], keys[task]);
    std::vector<TaskId> number(n == 0 ? 0 : *std::max_element(keys.begin(), keys.end()) + 1, 0);
    for (Index const key : keys) number[key] = 1;
    std::exclusive_scan(number.begin(), number.end(), number.begin(), TaskId(0));
    Aggregation aggregation(n);
    for (TaskId task = 0; task < n; ++task) aggregation[task] = number[keys[task]];
    return aggregation;
}

std::vector<TaskId> sampled_tasks(TaskId num_tasks) {
    constexpr TaskId wanted = 1 << 12;
    std::vector<TaskId> tasks;
    TaskId const step = std::max(1, num_tasks / wanted);
    for (Index task = 0; task < num_tasks; task += step) tasks.push_back(static_cast<TaskId>(task));
    return tasks;
}

Aggregation aggregate_pipeline(TaskGraph const& graph, Index cores) {
    std::vector<Reach> sample;
    for (TaskId const task : sampled_tasks(graph.num_tasks())) {
        Reach reach{0, 0};
        for (TaskId const next : graph.successors_of(task)) {
            TaskId const distance = next - task;
            reach = {std::max(reach.last, distance), std::max(reach.before, std::min(reach.last, distance))};
        }
        if (reach.last > 0) sample.push_back(reach);
    }
    std::vector<TaskId> tasks(graph.num_tasks());
    std::iota(tasks.begin(), tasks.end(), 0);
    return Pipeline(graph.num_tasks(), sample, cores).aggregate(graph, tasks);
}

} // namespace espalier
