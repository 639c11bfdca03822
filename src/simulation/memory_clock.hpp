// Task times on a machine with several NUMA nodes. In: tasks, owners of panels, the allocation of panels, the
// machine. Out: a clock for the simulation, and the share of local bytes.
//
// A task accesses two pieces of memory: the source that it reads and the target that it updates (for a factor
// task, its panel). `local` places each piece on the node of its owner, `global` on node 0, `interleave`
// equally on all nodes. Fan-in blocks are on the node of the thread that uses them. node_memory.hpp says how
// distance and contention slow the task down.
#pragma once

#include <vector>

#include "simulation/node_memory.hpp"
#include "simulation/schedule.hpp"

namespace espalier {

class MemoryClock : public TaskClock {
  public:
    /// `schedule` has tasks and owners, and must outlive this. Linear in tasks and bloks.
    MemoryClock(BlockStructure const& structure, CostModel const& model, PanelFormat const& format,
                Schedule const& schedule, Allocation allocation)
        : schedule_(schedule), format_(format), allocation_(allocation),
          memory_(schedule.machine, model.bandwidth) {
        pieces_.reserve(schedule.tasks.tasks.size());
        for (FactorTask const& task : schedule.tasks.tasks) pieces_.push_back(pieces_of(structure, task));
    }

    double begin(TaskId task, WorkerId worker, double) override {
        auto const& [source, target] = pieces_[task];
        NodeMemory::Access const accesses[] = {{source.bytes, node_of(source, worker), false},
                                               {target.bytes, node_of(target, worker), true}};
        return memory_.begin(worker, schedule_.tasks.graph.cost[task], accesses);
    }
    void end(TaskId, WorkerId worker) override { memory_.end(worker); }

    /// The bytes of all tasks that have begun, by process.
    [[nodiscard]] std::vector<TouchedBytes> const& touched() const { return memory_.touched(); }

  private:
    /// Bytes on one node, or spread over all.
    struct Piece {
        double bytes = 0;
        WorkerId owner = any_worker; ///< any_worker: it is near the thread that runs the task.
    };
    struct Pieces {
        Piece source, target;
    };

    [[nodiscard]] Pieces pieces_of(BlockStructure const& structure, FactorTask const& task) const {
        Pieces pieces;
        if (task.kind == TaskKind::message) return pieces;
        auto const owner_of = [&](CblkId k) {
            WorkerId const owner = schedule_.owner_of_cblk[k];
            return schedule_.machine.process_of(owner) == task.process ? owner : any_worker;
        };
        pieces.target.owner = owner_of(cblk_of(task, schedule_.partition));
        if (task.kind == TaskKind::fan_in) {
            pieces.source.bytes = pieces.target.bytes = task.bytes;
            return pieces;
        }
        bool const has_source = task.target != no_cblk;
        if (has_source) pieces.source.owner = owner_of(schedule_.partition.branches[task.source].root);
        for_each_access(structure, schedule_.partition, schedule_.groups, format_, task,
                        [&](CblkId k, double bytes) {
                            (has_source && k != task.target ? pieces.source : pieces.target).bytes += bytes;
                        });
        return pieces;
    }

    [[nodiscard]] int node_of(Piece const& piece, WorkerId worker) const {
        if (piece.owner == any_worker) return schedule_.machine.node_of(worker);
        if (allocation_ == Allocation::global) return 0;
        return allocation_ == Allocation::interleave ? NodeMemory::all_nodes
                                                     : schedule_.machine.node_of(piece.owner);
    }

    Schedule const& schedule_;
    PanelFormat format_;
    Allocation allocation_;
    std::vector<Pieces> pieces_; ///< By task.
    NodeMemory memory_;
};

} // namespace espalier
