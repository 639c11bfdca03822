// How long tasks take on a machine whose memory is not equally near everywhere. In: tasks, who owns which
// panel, how panels are allocated, the machine. Out: a clock for the simulation, and the share of local
// bytes.
//
// A task works on two pieces of memory: what it reads of its source, and what it writes in its target (of a
// factor task the panel itself). Each lies on the node of its owner, on node 0, or on all nodes alike:
// `local`, `global`, `interleave`. Fan-in blocks lie with the thread that uses them. The time is the cost of
// the task times the larger of
//
//   distance     the sum over nodes of the share of its bytes there times the machine's memory factor, and
//   contention   of the nodes it uses the most crowded one's demand over its bandwidth. The demand of a task
//                is its traffic, where what is written counts twice, over its cost, but at most what a thread
//                can stream; that of a node the sum over the tasks that run as the task begins, itself
//                included. What begins or ends later does not change a task's time any more.
//
// This is the model of a task that streams its data once, overlapped with arithmetic, from memories that all
// requests share alike. Caches shared between tasks, and links between nodes, are not in it.
#pragma once

#include <vector>

#include "simulation/schedule.hpp"

namespace espalier {

/// Bytes of the panels that tasks worked on.
struct TouchedBytes {
    double all = 0;
    double local = 0; ///< On the node of the worker.
    [[nodiscard]] double share() const { return all > 0 ? local / all : 1; }
};

class MemoryClock : public TaskClock {
  public:
    /// `schedule` has tasks and owners, and must outlive this. Linear in tasks and bloks. Where the machine
    /// says nothing of its memory's bandwidth, each node has model.bandwidth for each of its threads.
    MemoryClock(BlockStructure const& structure, CostModel const& model, PanelFormat const& format,
                Schedule const& schedule, Allocation allocation);

    double begin(TaskId task, WorkerId worker) override;
    void end(TaskId task, WorkerId worker) override;

    /// Of the tasks that have begun, by process.
    [[nodiscard]] std::vector<TouchedBytes> const& touched() const { return touched_; }

  private:
    /// Bytes on one node, or spread over all.
    struct Piece {
        double bytes = 0;
        WorkerId owner = any_worker; ///< any_worker: the thread that runs the task.
    };
    struct Pieces {
        Piece source, target;
    };
    static constexpr int all_nodes = -1;
    struct Demand { // of a piece, bytes per second
        int node = all_nodes;
        double rate = 0;
    };

    [[nodiscard]] Pieces pieces_of(BlockStructure const& structure, FactorTask const& task) const;
    void add_sources(BlockStructure const& structure, FactorTask const& task, Pieces& pieces) const;
    [[nodiscard]] int node_of(Piece const& piece, WorkerId worker) const;
    [[nodiscard]] double factor(int at, int data) const;
    void change_demand(int process, Demand const& demand, double sign);
    [[nodiscard]] double crowding(int process, Demand const& demand) const;

    Schedule const& schedule_;
    PanelFormat format_;
    Allocation allocation_;
    int nodes_;                     ///< Of a process.
    double thread_bandwidth_;       ///< Bytes per second.
    std::vector<double> bandwidth_; ///< Of each node of a process.
    std::vector<double> factors_;   ///< nodes_ + 1 for each node: the last one for data on all nodes.
    std::vector<Pieces> pieces_;    ///< Of each task.
    std::vector<double> demand_;    ///< Of each node of each process, now.
    std::vector<Demand> of_worker_; ///< Two for each worker: of the task that it runs.
    std::vector<TouchedBytes> touched_;
};

} // namespace espalier
