// Creates the policy that the settings name.
#pragma once

#include <memory>
#include <vector>

#include "espalier/schedule_settings.hpp"
#include "policies/policy.hpp"
#include "policies/policy_machine.hpp"

namespace espalier {

/// The parts of a plan that policies need. Each kind of policy reads its own part and does not keep a
/// reference to it.
struct PolicyPlan {
    /// static_order: the tasks of each worker in order.
    std::vector<std::vector<TaskId>> const* lists = nullptr;
    std::vector<WorkerRange> const* candidates = nullptr; ///< dynamic_tree: by task.
};

/// The policy for one run of `graph`, which must outlive it. Error{internal} if the plan lacks the part that
/// the kind needs, or does not fit the graph or the machine.
std::unique_ptr<Policy> make_policy(ScheduleSettings const& settings, TaskGraph const& graph,
                                    PolicyMachine const& machine, PolicyPlan const& plan = {});

} // namespace espalier
