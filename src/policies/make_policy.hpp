// From settings to a policy: the one place that knows all of them.
#pragma once

#include <memory>
#include <vector>

#include "espalier/schedule_settings.hpp"
#include "policies/policy_machine.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

/// What was decided about the tasks beforehand. Each kind of policy looks at its own part; may be gone after
/// the policy is made.
struct PolicyPlan {
    std::vector<std::vector<TaskId>> const* lists = nullptr; ///< static_order: of each worker, in order.
    std::vector<WorkerRange> const* candidates = nullptr;    ///< dynamic_tree: of each task.
};

/// The policy for one run of `graph`, which must outlive it. Error{internal} when the plan lacks what the
/// kind needs, or does not fit the graph or the machine.
std::unique_ptr<Policy> make_policy(ScheduleSettings const& settings, TaskGraph const& graph,
                                    PolicyMachine const& machine, PolicyPlan const& plan = {});

} // namespace espalier
