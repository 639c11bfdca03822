#include "factor/page_homes.hpp"

#include "factor/panel_nodes.hpp"

namespace espalier {

std::vector<WorkerId> workers_at_panels(std::vector<WorkerId> const& owner_of_cblk,
                                        std::vector<int> const& node_of_panel,
                                        std::vector<WorkerPlace> const& places) {
    std::vector<std::vector<WorkerId>> workers_on; // by node
    for (WorkerId w = 0; w < std::ssize(places); ++w) {
        if (std::ssize(workers_on) <= places[w].node) workers_on.resize(places[w].node + 1);
        workers_on[places[w].node].push_back(w);
    }
    std::vector<std::size_t> turn(workers_on.size(), 0);
    std::vector<WorkerId> result = owner_of_cblk;
    for (std::size_t k = 0; k < result.size(); ++k) {
        int const node = node_of_panel[k];
        if (result[k] == any_worker || node < 0 || node == places[result[k]].node) continue;
        if (node >= std::ssize(workers_on) || workers_on[node].empty()) continue;
        result[k] = workers_on[node][turn[node]++ % workers_on[node].size()];
    }
    return result;
}

template <class T> std::vector<WorkerId> workers_at_pages(Factor<T> const& factor, FactorPlan const& plan,
                                                          WorkerTeam& team, Topology const& topology) {
    SchedulePolicy const policy = plan.settings.schedule;
    bool const follows = policy == SchedulePolicy::places || policy == SchedulePolicy::nas;
    if (!follows || !topology.is_this_machine() || topology.num_nodes() == 1) return {};
    PanelNodes<T> const nodes(factor, team, topology);
    std::vector<int> node_of_panel;
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) node_of_panel.push_back(nodes.main_node(k));
    auto workers = workers_at_panels(plan.owner_of_cblk, node_of_panel, team.places());
    if (workers == plan.owner_of_cblk) return {};
    return workers;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template std::vector<WorkerId> workers_at_pages<T>(Factor<T> const&, FactorPlan const&, WorkerTeam&,     \
                                                       Topology const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
