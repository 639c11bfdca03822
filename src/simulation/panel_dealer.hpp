// The owners of panels under schedules that are made while they run. In: the candidates of one branch after
// the other. Out: the thread of the process that owns its panels.
//
// Candidates take turns. With SchedulePolicy::places and several NUMA nodes, branches are first distributed
// to the nodes, in turn or at random (PushInit; Virouleau, Broquedis, Gautier, Rastello 2016), whether or not
// the node has candidates. On the node its candidates take turns, or if there are none, its threads.
#pragma once

#include <cstdint>
#include <vector>

#include "core/mix_bits.hpp"
#include "espalier/schedule_settings.hpp"
#include "mapping/machine_model.hpp"
#include "policies/policy_machine.hpp"

namespace espalier {

class PanelDealer {
  public:
    PanelDealer(ScheduleSettings const& settings, MachineModel const& machine)
        : nodes_(machine.nodes_of_threads()), turns_(machine.processes),
          deals_(settings.schedule == SchedulePolicy::places && nodes_.num_nodes() > 1),
          is_random_(settings.push_init == PushInit::randnuma), seed_(hash_bits(settings.seed)) {
        for (Turns& turns : turns_) turns.on_node.assign(nodes_.num_nodes(), 0);
    }

    /// The thread that owns the next branch of the process; `candidates` are threads of it.
    WorkerId next(std::int32_t process, WorkerRange candidates) {
        Turns& turns = turns_[process];
        if (!deals_) {
            int const turn = candidates.count() > 1 ? static_cast<int>(turns.all++ % candidates.count()) : 0;
            return candidates.first + turn;
        }
        std::uint64_t const number = turns.all++;
        std::uint64_t const drawn =
            is_random_ ? hash_bits(seed_ ^ hash_bits(number * turns_.size() + process)) : number;
        auto const node = static_cast<int>(drawn % static_cast<std::uint64_t>(nodes_.num_nodes()));
        std::vector<WorkerId> able;
        for (WorkerId const thread : nodes_.workers_of(node))
            if (candidates.contains(thread)) able.push_back(thread);
        if (able.empty()) able.assign(nodes_.workers_of(node).begin(), nodes_.workers_of(node).end());
        return able[turns.on_node[node]++ % able.size()];
    }

  private:
    struct Turns {
        std::uint64_t all = 0;
        std::vector<std::uint64_t> on_node;
    };

    PolicyMachine nodes_;
    std::vector<Turns> turns_; ///< By process.
    bool deals_;
    bool is_random_;
    std::uint64_t seed_;
};

} // namespace espalier
