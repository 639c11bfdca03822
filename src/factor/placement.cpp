#include "factor/placement.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "factor/panel_nodes.hpp"

namespace espalier {

namespace {

// The bytes that one or more tasks touch.
struct Touched {
    double all = 0;
    double local = 0;
    void add(double bytes, double share) {
        all += bytes;
        local += bytes * share;
    }
    Touched& operator+=(Touched const& other) {
        all += other.all;
        local += other.local;
        return *this;
    }
    [[nodiscard]] double share() const { return all > 0 ? std::min(1.0, local / all) : -1; }
};

template <class T> Touched touched_by(FactorTask const& task, FactorPlan const& plan, Factor<T> const& factor,
                                      PanelNodes<T> const& nodes, int node) {
    Touched touched;
    PanelFormat const format{sizeof(T), factor.form().has_upper()};
    for_each_access(factor.structure(), plan.partition, plan.groups, format, task,
                    [&](CblkId k, double bytes) {
                        if (nodes.known(k)) touched.add(bytes, nodes.share(k, node));
                    });
    return touched;
}

} // namespace

template <class T> Placement measure_placement(Factor<T> const& factor, FactorPlan const& plan,
                                               std::vector<WorkerId> const& worker_of_task, WorkerTeam& team,
                                               Topology const& topology) {
    Placement placement;
    PanelNodes<T> const nodes(factor, team, topology);
    placement.node_bytes = nodes.node_bytes();
    if (placement.node_bytes.back() == 0) placement.node_bytes.pop_back();
    if (std::accumulate(placement.node_bytes.begin(), placement.node_bytes.end(), 0.0) == 0) {
        placement.node_bytes.clear();
        return placement;
    }

    // Each worker examines a part of the tasks, including tasks that other workers ran.
    std::int64_t const tasks = std::ssize(plan.factor.tasks), workers = team.size();
    std::vector<double> share_of_task(tasks, -1);
    std::vector<std::vector<Touched>> counted(workers);
    constexpr std::int64_t few_tasks = 200; // examined in less time than waking a thread takes
    team.for_each_worker(tasks > few_tasks, [&](WorkerId counter) {
        std::vector<Touched> of_worker(workers);
        for (auto t = counter * tasks / workers; t < (counter + 1) * tasks / workers; ++t) {
            WorkerId const worker = worker_of_task[t];
            Touched const touched =
                touched_by(plan.factor.tasks[t], plan, factor, nodes, team.places()[worker].node);
            of_worker[worker] += touched;
            share_of_task[t] = touched.share();
        }
        counted[counter] = std::move(of_worker);
    });

    Touched all;
    for (WorkerId w = 0; w < workers; ++w) {
        Touched of_worker;
        for (auto const& part : counted) of_worker += part[w];
        all += of_worker;
        placement.local_share_of_worker.push_back(of_worker.share());
    }
    placement.touched_bytes = all.all;
    placement.local_share = all.share();
    std::erase(share_of_task, -1.0); // removes tasks without bytes
    if (share_of_task.empty()) return placement;
    auto const middle = share_of_task.begin() + std::ssize(share_of_task) / 2;
    std::nth_element(share_of_task.begin(), middle, share_of_task.end());
    placement.median_share = *middle;
    placement.smallest_share = *std::min_element(share_of_task.begin(), middle + 1);
    return placement;
}

ESPALIER_INSTANTIATE_FUNCTION(measure_placement)

} // namespace espalier
