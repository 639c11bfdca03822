#include "factor/page_homes.hpp"

#include "factor/panel_nodes.hpp"

namespace espalier {

template <class T> std::vector<WorkerId> workers_at_pages(Factor<T> const& factor, FactorPlan const& plan,
                                                          WorkerTeam& team, Topology const& topology) {
    SchedulePolicy const policy = plan.settings.schedule;
    bool const follows = policy == SchedulePolicy::places || policy == SchedulePolicy::nas;
    if (!follows || !topology.is_this_machine() || topology.num_nodes() == 1) return {};
    PanelNodes<T> const nodes(factor, team, topology);
    std::vector<int> node_of_panel;
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) node_of_panel.push_back(nodes.main_node(k));
    auto workers = workers_at_data(plan.owner_of_cblk, node_of_panel, team.places());
    if (workers == plan.owner_of_cblk) return {};
    return workers;
}

ESPALIER_INSTANTIATE_FUNCTION(workers_at_pages)

} // namespace espalier
