#include "policies/make_policy.hpp"

#include <fmt/format.h>

#include "policies/nas_policy.hpp"
#include "policies/places_policy.hpp"
#include "policies/static_policy.hpp"
#include "policies/tree_policy.hpp"

namespace espalier {

std::unique_ptr<Policy> make_policy(ScheduleSettings const& settings, TaskGraph const& graph,
                                    PolicyMachine const& machine, PolicyPlan const& plan) {
    switch (settings.schedule) {
    case SchedulePolicy::static_order:
        if (!plan.lists) break;
        return std::make_unique<StaticPolicy>(*plan.lists, graph.num_tasks());
    case SchedulePolicy::dynamic_tree:
        if (!plan.candidates) break;
        return std::make_unique<TreePolicy>(graph, *plan.candidates, machine, settings.strict);
    case SchedulePolicy::places:
        return std::make_unique<PlacesPolicy>(graph, machine, settings);
    case SchedulePolicy::nas:
        return std::make_unique<NasPolicy>(graph, machine, settings.strict);
    case SchedulePolicy::automatic:
        break;
    }
    throw Error(Status::internal,
                fmt::format("scheduling policy: {} needs a plan", to_string(settings.schedule)));
}

} // namespace espalier
