// The members of structures and plans, for core/pack.hpp.
#pragma once

#include "core/pack.hpp"
#include "simulation/factor_plan.hpp"

namespace espalier {

/// Describes the structure of a part, without the arrays that only whole structures have.
template <class Archive> void describe(Archive& archive, BlockStructure& s) {
    archive(s.n, s.inverse, s.unknowns, s.cblks, s.bloks, s.first_kept_cblk, s.facing_ptr, s.facing,
            s.owner_of_blok, s.number_of_cblk, s.level_of_cblk);
}
template <class Archive> void describe(Archive& archive, BranchPartition& p) {
    archive(p.branches, p.branch_of_cblk);
}
template <class Archive> void describe(Archive& archive, MachineModel& m) {
    archive(m.processes, m.threads, m.node_of_thread, m.node_distances, m.memory.factors,
            m.memory.node_bandwidth, m.network, m.spare_cores, m.cores);
}
template <class Archive> void describe(Archive& archive, TaskGraph& g) {
    archive(g.num_predecessors, g.successor_ptr, g.successors, g.cost, g.priority, g.home, g.resource,
            g.num_resources);
}
template <class Archive> void describe(Archive& archive, FactorTasks& t) {
    archive(t.tasks, t.graph, t.fan_in.blocks, t.fan_in.rows);
}
template <class Archive> void describe(Archive& archive, StaticSchedule& s) {
    archive(s.lists, s.worker_of_task, s.makespan);
}
template <class Archive> void describe(Archive& archive, SolveTasks& t) {
    archive(t.tasks, t.graph, t.forward_of_branch, t.backward_of_branch, t.contributors.ptr,
            t.contributors.processes, t.num_events);
}
template <class Archive> void describe(Archive& archive, SharedPlan& p) {
    archive(p.machine, p.settings, p.makespan, p.solve_seconds, p.branches, p.tasks, p.solve_tasks,
            p.messages, p.message_bytes, p.cuts_panels, p.memory_of_process);
}
template <class Archive> void describe(Archive& archive, LocalPlan& p) {
    archive(p.process, p.partition, p.number_of_branch, p.process_of_branch, p.cblk_cost, p.groups,
            p.owner_of_cblk, p.factor, p.number_of_task, p.outgoing, p.incoming, p.num_events,
            p.factor_schedule, p.candidates, p.solve, p.solve_candidates);
}

/// The bytes that process 0 sends to `process`.
inline std::vector<std::byte> packed_plan(ProcessPlans const& plans, int process) {
    Packer packer;
    packer(plans.shared, plans.of_process[process], plans.structures[process]);
    return packer.take();
}

} // namespace espalier
