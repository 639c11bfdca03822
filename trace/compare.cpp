#include <algorithm>
#include <cmath>
#include <map>

#include "trace/statistics.hpp"
#include "trace/tasks.hpp"

namespace espalier::trace {
namespace {

// The tasks of both traces, by number.
struct Pair {
    TaskTime predicted, measured;
};

std::vector<Pair> match(std::vector<TaskTime> const& predicted, std::vector<TaskTime> const& measured) {
    std::vector<Pair> pairs;
    for (std::size_t p = 0, m = 0; p < predicted.size() && m < measured.size();) {
        if (predicted[p].task < measured[m].task)
            ++p;
        else if (measured[m].task < predicted[p].task)
            ++m;
        else
            pairs.push_back({predicted[p++], measured[m++]});
    }
    return pairs;
}

template <class Tasks, class TimeOf> Nanoseconds makespan(Tasks const& tasks, TimeOf const& time_of) {
    if (tasks.empty()) return 0;
    Nanoseconds first = time_of(tasks.front()).start, last = time_of(tasks.front()).end;
    for (auto const& task : tasks) {
        first = std::min(first, time_of(task).start);
        last = std::max(last, time_of(task).end);
    }
    return last - first;
}

// `ratios` and `errors` of the tasks of one kind, as the measurement names it.
struct Samples {
    std::vector<double> ratios;
    double errors = 0;
    std::int64_t measurable = 0;
};

void finish(KindComparison& kind, Samples& samples) {
    if (samples.measurable > 0) kind.mean_relative_error = samples.errors / double(samples.measurable);
    if (samples.ratios.empty()) return;
    auto const middle = samples.ratios.begin() + std::ssize(samples.ratios) / 2;
    std::nth_element(samples.ratios.begin(), middle, samples.ratios.end());
    kind.median_ratio = *middle;
    if (samples.ratios.size() % 2 == 0)
        kind.median_ratio = (*middle + *std::max_element(samples.ratios.begin(), middle)) / 2;
}

} // namespace

Comparison compare(Trace const& predicted, Trace const& measured) {
    Comparison result;
    std::map<std::string, std::size_t> by_name;
    auto const kind_named = [&](std::string const& name) -> KindComparison& {
        auto const [at, fresh] = by_name.try_emplace(name, result.kinds.size());
        if (fresh) result.kinds.emplace_back().name = name;
        return result.kinds[at->second];
    };
    auto const add_totals = [&](Trace const& trace, KindTimes KindComparison::*side) {
        auto const kinds = statistics(trace, whole(trace)).kinds;
        for (std::size_t k = 0; k < kinds.size(); ++k)
            if (trace.kinds()[k].category == Category::work && kinds[k].count > 0)
                kind_named(trace.kinds()[k].name).*side = kinds[k];
    };
    add_totals(predicted, &KindComparison::predicted);
    add_totals(measured, &KindComparison::measured);

    auto const predicted_tasks = task_times(predicted), measured_tasks = task_times(measured);
    auto const pairs = match(predicted_tasks, measured_tasks);
    std::vector<Samples> samples;
    for (auto const& [p, m] : pairs) {
        std::string const& name = measured.kinds()[static_cast<std::size_t>(m.kind)].name;
        KindComparison& kind = kind_named(name);
        samples.resize(result.kinds.size());
        Samples& sample = samples[by_name[name]];
        ++kind.matched;
        kind.matched_predicted += p.duration;
        kind.matched_measured += m.duration;
        if (p.duration > 0) sample.ratios.push_back(double(m.duration) / double(p.duration));
        if (m.duration == 0) continue;
        sample.errors += std::abs(double(p.duration - m.duration)) / double(m.duration);
        ++sample.measurable;
    }
    for (std::size_t k = 0; k < samples.size(); ++k) finish(result.kinds[k], samples[k]);

    auto const itself = [](TaskTime const& task) { return task; };
    result.predicted_makespan = pairs.empty()
                                    ? makespan(predicted_tasks, itself)
                                    : makespan(pairs, [](Pair const& pair) { return pair.predicted; });
    result.measured_makespan = pairs.empty()
                                   ? makespan(measured_tasks, itself)
                                   : makespan(pairs, [](Pair const& pair) { return pair.measured; });
    return result;
}

} // namespace espalier::trace
