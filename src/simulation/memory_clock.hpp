// Task times on a machine with several NUMA nodes. In: tasks, owners of panels, the allocation of panels, the
// machine. Out: a clock for the simulation, and the share of local bytes.
//
// A task accesses two pieces of memory: the source that it reads and the target that it updates (for a factor
// task, its panel). `local` places each piece on the node of its owner, `global` on node 0, `interleave`
// equally on all nodes. Fan-in blocks are on the node of the thread that uses them. The time is the cost of
// the task times the larger of
//
//   distance     the sum over nodes of the share of its bytes there times the machine's memory factor, and
//   contention   the largest demand divided by bandwidth among the nodes that it accesses. The demand of a
//   task is its
//                traffic, with written bytes counted twice, divided by its cost, but at most what a thread
//                can stream. The demand on a node is the sum over the tasks that run when the task begins,
//                itself included. Tasks that begin or end later do not change its time.
//
// The model assumes that a task streams its data once, overlapped with arithmetic, from memories that serve
// all requests equally. It has no caches shared between tasks and no links between nodes.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "simulation/schedule.hpp"

namespace espalier {

/// Bytes of panels that tasks accessed.
struct TouchedBytes {
    double all = 0;
    double local = 0; ///< On the node of the worker.
    [[nodiscard]] double share() const { return all > 0 ? local / all : 1; }
};

class MemoryClock : public TaskClock {
  public:
    /// `schedule` has tasks and owners, and must outlive this. Linear in tasks and bloks. If the machine does
    /// not state the bandwidth of its memory, each node has model.bandwidth for each of its threads.
    MemoryClock(BlockStructure const& structure, CostModel const& model, PanelFormat const& format,
                Schedule const& schedule, Allocation allocation)
        : schedule_(schedule), format_(format), allocation_(allocation), nodes_(schedule.machine.num_nodes()),
          thread_bandwidth_(model.bandwidth), bandwidth_(nodes_, 0.0),
          demand_(nodes_ * schedule.machine.processes, 0.0), of_worker_(schedule.machine.num_workers()),
          touched_(schedule.machine.processes) {
        MachineModel const& machine = schedule.machine;
        for (int t = 0; t < machine.threads; ++t) bandwidth_[machine.node_of(t)] += thread_bandwidth_;
        // The memory of a node without threads is as fast as the others.
        double const most = *std::max_element(bandwidth_.begin(), bandwidth_.end());
        for (double& bandwidth : bandwidth_) {
            if (bandwidth == 0) bandwidth = most;
            if (machine.memory.node_bandwidth > 0) bandwidth = machine.memory.node_bandwidth;
        }
        for (int at = 0; at < nodes_; ++at) {
            double sum = 0;
            for (int data = 0; data < nodes_; ++data) {
                factors_.push_back(machine.memory_factor(at, data));
                sum += factors_.back();
            }
            factors_.push_back(sum / nodes_);
        }
        pieces_.reserve(schedule.tasks.tasks.size());
        for (FactorTask const& task : schedule.tasks.tasks) pieces_.push_back(pieces_of(structure, task));
    }

    double begin(TaskId task, WorkerId worker, double) override {
        Pieces const& pieces = pieces_[task];
        double const seconds = schedule_.tasks.graph.cost[task];
        double const bytes = pieces.source.bytes + pieces.target.bytes;
        if (bytes <= 0 || seconds <= 0) return seconds;
        int const process = schedule_.machine.process_of(worker);
        int const here = schedule_.machine.node_of(worker);
        int const from = node_of(pieces.source, worker), to = node_of(pieces.target, worker);

        TouchedBytes& touched = touched_[process];
        auto const local = [&](int node) {
            return node == all_nodes ? 1.0 / nodes_ : node == here ? 1.0 : 0.0;
        };
        touched.all += bytes;
        touched.local += pieces.source.bytes * local(from) + pieces.target.bytes * local(to);

        double const traffic = pieces.source.bytes + 2 * pieces.target.bytes;
        double const rate = std::min(traffic / seconds, thread_bandwidth_);
        auto& [read, written] = of_worker_[worker];
        read = {from, rate * pieces.source.bytes / traffic};
        written = {to, rate * 2 * pieces.target.bytes / traffic};
        change_demand(process, read, 1);
        change_demand(process, written, 1);
        double const distance =
            (pieces.source.bytes * factor(here, from) + pieces.target.bytes * factor(here, to)) / bytes;
        return seconds * std::max({distance, contention(process, read), contention(process, written)});
    }

    void end(TaskId, WorkerId worker) override {
        int const process = schedule_.machine.process_of(worker);
        for (Demand& demand : of_worker_[worker]) {
            change_demand(process, demand, -1);
            demand.rate = 0;
        }
    }

    /// The bytes of all tasks that have begun, by process.
    [[nodiscard]] std::vector<TouchedBytes> const& touched() const { return touched_; }

  private:
    /// Bytes on one node, or spread over all.
    struct Piece {
        double bytes = 0;
        WorkerId owner = any_worker; ///< any_worker: it is near the thread that runs the task.
    };
    struct Pieces {
        Piece source, target;
    };
    static constexpr int all_nodes = -1;
    struct Demand { // on the memory of a piece, bytes per second
        int node = all_nodes;
        double rate = 0;
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
        return allocation_ == Allocation::interleave ? all_nodes : schedule_.machine.node_of(piece.owner);
    }

    [[nodiscard]] double factor(int at, int data) const {
        return factors_[at * (nodes_ + 1) + (data == all_nodes ? nodes_ : data)];
    }

    void change_demand(int process, Demand const& demand, double sign) {
        double* const nodes = demand_.data() + process * nodes_;
        if (demand.node != all_nodes)
            nodes[demand.node] += sign * demand.rate;
        else
            for (int node = 0; node < nodes_; ++node) nodes[node] += sign * demand.rate / nodes_;
    }

    [[nodiscard]] double contention(int process, Demand const& demand) const {
        if (demand.rate <= 0) return 1;
        double const* const nodes = demand_.data() + process * nodes_;
        double worst = 0;
        for (int node = 0; node < nodes_; ++node)
            if (demand.node == node || demand.node == all_nodes)
                worst = std::max(worst, nodes[node] / bandwidth_[node]);
        constexpr double rounding = 1e-9; // of the sums, which tasks are added to and subtracted from
        return worst > 1 + rounding ? worst : 1;
    }

    Schedule const& schedule_;
    PanelFormat format_;
    Allocation allocation_;
    int nodes_;                     ///< Of a process.
    double thread_bandwidth_;       ///< Bytes per second.
    std::vector<double> bandwidth_; ///< By node of a process.
    std::vector<double> factors_;   ///< nodes_ + 1 for each node: the last one for data on all nodes.
    std::vector<Pieces> pieces_;    ///< By task.
    std::vector<double> demand_;    ///< By process and node, at the moment.
    std::vector<std::array<Demand, 2>> of_worker_; ///< The task it runs: on its source and on its target.
    std::vector<TouchedBytes> touched_;
};

} // namespace espalier
