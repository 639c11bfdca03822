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
                Schedule const& schedule, Allocation allocation);

    double begin(TaskId task, WorkerId worker, double now) override;
    void end(TaskId task, WorkerId worker) override;

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

    [[nodiscard]] Pieces pieces_of(BlockStructure const& structure, FactorTask const& task) const;
    void add_sources(BlockStructure const& structure, FactorTask const& task, Pieces& pieces) const;
    [[nodiscard]] int node_of(Piece const& piece, WorkerId worker) const;
    [[nodiscard]] double factor(int at, int data) const;
    void change_demand(int process, Demand const& demand, double sign);
    [[nodiscard]] double contention(int process, Demand const& demand) const;

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
