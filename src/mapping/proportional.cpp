#include "mapping/proportional.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace espalier {

namespace {

constexpr double least_weight = 1e-9; // relative to the mean, so that every cblk has a place on the line

std::vector<double> weights_of(std::vector<double> const& costs) {
    double total = 0;
    for (std::size_t k = 0; k < costs.size(); ++k) {
        if (!(costs[k] >= 0) || !std::isfinite(costs[k]))
            throw Error(Status::internal, fmt::format("mapping: cblk {} costs {} seconds", k, costs[k]));
        total += costs[k];
    }
    if (!std::isfinite(total)) throw Error(Status::internal, "mapping: the sum of all costs overflows");
    double const mean = total / static_cast<double>(costs.size());
    std::vector<double> weights(costs);
    for (double& weight : weights) weight = total > 0 ? weight + least_weight * mean : 1;
    return weights;
}

// Divides [0, length] among the trees, and each subtree's interval among its children.
std::vector<Interval> divide_line(std::vector<Cblk> const& cblks, std::vector<double> const& weights,
                                  double length) {
    auto const count = static_cast<CblkId>(cblks.size());
    auto parent_of = [&](CblkId k) { // roots are children of number `count`
        return cblks[k].parent == no_cblk ? count : cblks[k].parent;
    };
    std::vector<double> below(count + 1, 0.0); // weight of all children's subtrees
    std::vector<std::int32_t> children(count + 1, 0);
    for (CblkId k = 0; k < count; ++k) {
        below[parent_of(k)] += below[k] + weights[k];
        ++children[parent_of(k)];
    }
    std::vector<Interval> intervals(count + 1);
    intervals[count] = {0, length};
    std::vector<double> free_end(count + 1, length); // what lies before it awaits the children to come
    for (CblkId k = count; k-- > 0;) {
        CblkId const parent = parent_of(k);
        Interval const& whole = intervals[parent];
        double const end = free_end[parent];
        double begin = end - whole.length() * ((below[k] + weights[k]) / below[parent]);
        if (--children[parent] == 0) begin = whole.begin; // the first child takes what is left
        intervals[k] = {std::clamp(begin, whole.begin, end), end};
        free_end[parent] = intervals[k].begin;
        free_end[k] = end;
    }
    intervals.pop_back(); // the interval of the whole line
    return intervals;
}

// Moves each inner cut i to the end of a subtree that lies within grain[i] / 2 of it: of the largest such
// subtree that it cuts, to its nearer end. No cut moves by half the distance to the next one.
void spare_subtrees(std::vector<double>& cuts, std::vector<double> const& grain,
                    std::vector<Interval> const& intervals) {
    std::vector<double> const original = cuts;
    std::vector<bool> moved(cuts.size(), false);
    auto const is_near = [&](std::ptrdiff_t i, double end) {
        return i > 0 && i + 1 < std::ssize(original) && std::abs(original[i] - end) <= grain[i] / 2;
    };
    auto const move = [&](std::ptrdiff_t i, double end) {
        if (!moved[i]) cuts[i] = end;
        moved[i] = true;
    };
    auto const first = original.begin(), last = original.end();
    for (std::size_t k = intervals.size(); k-- > 0;) { // parents before children
        auto const [begin, end] = intervals[k];
        auto const i = std::upper_bound(first, last, begin) - first;
        auto const j = std::lower_bound(first, last, end) - first - 1;
        if (i > j) continue; // no cut inside
        bool const at_begin = is_near(i, begin);
        bool const at_end = is_near(j, end);
        if (at_begin && !(i == j && at_end && end - original[i] < original[i] - begin)) move(i, begin);
        if (at_end) move(j, end);
    }
}

void require_grains(MappingOptions const& options) {
    for (double const grain : {options.process_grain, options.thread_grain})
        if (!(grain >= 0 && grain < 1))
            throw Error(Status::usage, fmt::format("the grain of a mapping is {}, not in [0, 1)", grain));
}

std::vector<double> place_workers(MachineModel const& machine, MappingOptions const& options,
                                  std::vector<Interval> const& intervals) {
    int const processes = machine.processes, threads = machine.threads;
    std::vector<double> process_begin(processes + 1);
    std::iota(process_begin.begin(), process_begin.end(), 0.0);
    spare_subtrees(process_begin, std::vector<double>(processes + 1, options.process_grain), intervals);

    std::vector<double> worker_begin(processes * threads + 1), grain(worker_begin.size(), -1.0);
    for (int p = 0; p < processes; ++p) {
        double const part = (process_begin[p + 1] - process_begin[p]) / threads;
        worker_begin[p * threads] = process_begin[p]; // stays: its grain is negative
        for (int t = 1; t < threads; ++t) {
            worker_begin[p * threads + t] = process_begin[p] + part * t;
            grain[p * threads + t] = part * options.thread_grain;
        }
    }
    worker_begin.back() = process_begin.back();
    spare_subtrees(worker_begin, grain, intervals);
    return worker_begin;
}

std::vector<Candidates> find_candidates(std::vector<double> const& worker_begin,
                                        std::vector<Cblk> const& cblks,
                                        std::vector<Interval> const& intervals) {
    std::vector<Candidates> candidates(cblks.size());
    auto const begin = worker_begin.begin();
    for (std::size_t k = cblks.size(); k-- > 0;) {
        Candidates const within = cblks[k].parent == no_cblk
                                      ? Candidates{0, static_cast<int>(worker_begin.size()) - 1}
                                      : candidates[cblks[k].parent];
        auto const first = std::upper_bound(begin, worker_begin.end(), intervals[k].begin) - begin - 1;
        auto const end = std::lower_bound(begin, worker_begin.end(), intervals[k].end) - begin;
        // An interval too short for the precision of the line may stand at the end of its parent's.
        candidates[k].first = std::clamp(static_cast<int>(first), within.first, within.end - 1);
        candidates[k].end = std::clamp(static_cast<int>(end), candidates[k].first + 1, within.end);
    }
    return candidates;
}

} // namespace

Candidates Mapping::processes_of(CblkId k) const {
    Candidates const workers = candidates[k];
    return {workers.first / threads, (workers.end - 1) / threads + 1};
}

Candidates Mapping::workers_in(CblkId k, int process) const {
    Candidates const workers = candidates[k];
    Candidates const own{process * threads, (process + 1) * threads};
    Candidates const both{std::max(workers.first, own.first), std::min(workers.end, own.end)};
    return both.first < both.end ? both : own;
}

double Mapping::share(CblkId k, int worker) const {
    Candidates const workers = candidates[k];
    if (!workers.contains(worker)) return 0;
    if (workers.count() == 1) return 1;
    Interval const own = intervals[k];
    double const from = std::max(own.begin, worker_begin[worker]);
    double const to = std::min(own.end, worker_begin[worker + 1]);
    return std::max(0.0, to - from) / own.length();
}

Mapping proportional_mapping(BlockStructure const& structure, std::vector<double> const& costs,
                             MachineModel const& machine, MappingOptions const& options) {
    require_valid(machine);
    require_grains(options);
    auto const& cblks = structure.cblks;
    Mapping mapping;
    mapping.processes = machine.processes;
    mapping.threads = machine.threads;
    mapping.intervals = divide_line(cblks, weights_of(costs), machine.processes);
    mapping.worker_begin = place_workers(machine, options, mapping.intervals);
    mapping.candidates = find_candidates(mapping.worker_begin, cblks, mapping.intervals);
    return mapping;
}

} // namespace espalier
