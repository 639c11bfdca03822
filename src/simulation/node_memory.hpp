// The memory of NUMA nodes while tasks run on a machine: how much distance and contention slow a task down.
// In: the machine, and for each task that begins the pieces of memory that it accesses. Out: the time of the
// task, and the share of local bytes.
//
// The time is the cost of the task times the larger of
//
//   distance     the sum over nodes of the share of its bytes there times the machine's memory factor,
//   streaming    the time that a thread needs to stream its traffic, divided by its cost: on each node the
//                machine's stream factor times the traffic there, divided by the bandwidth of a thread, and
//   contention   the largest demand divided by bandwidth among the nodes that it accesses. The demand on a
//                node is the sum over the tasks that run when the task begins, itself included. Tasks that
//                begin or end later do not change its time.
//
// The traffic of a task is its bytes, with written ones counted twice. Its demand is its traffic divided by
// its cost, but at most what a thread can stream. So distance slows a product of large blocks by the memory
// factor, and a task that is bound by memory, such as a sweep of a solve, by the larger stream factor.
//
// If there are more threads than cores, the time is also multiplied, and the demand divided, by the number of
// tasks that run on the core when the task begins, itself included.
//
// The model assumes that a task streams its data once, overlapped with arithmetic, from memories that serve
// all requests equally. It has no caches shared between tasks and no links between nodes.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "mapping/machine_model.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

/// Bytes of coefficients that tasks accessed.
struct TouchedBytes {
    double all = 0;
    double local = 0; ///< On the node of the worker.
    [[nodiscard]] double share() const { return all > 0 ? local / all : 1; }
};

class NodeMemory {
  public:
    static constexpr int all_nodes = -1; ///< In place of a node: spread equally over all.
    static constexpr std::size_t most_accesses = 4;
    struct Access {
        double bytes = 0;
        int node = all_nodes;
        bool is_written = false; ///< It is read, too.
    };

    /// `machine` must outlive this. If it does not state the bandwidth of its memory, each node has
    /// `thread_bandwidth`, in bytes per second, for each of its threads.
    NodeMemory(MachineModel const& machine, double thread_bandwidth)
        : machine_(machine), nodes_(machine.num_nodes()), thread_bandwidth_(thread_bandwidth),
          bandwidth_(nodes_, 0.0), demand_(nodes_ * machine.processes, 0.0),
          of_worker_(machine.num_workers()), touched_(machine.processes) {
        if (machine.shares_cores()) running_.resize(machine.processes * machine.cores, 0);
        for (int t = 0; t < machine.threads; ++t)
            if (t == 0 || machine.core_of(t) != machine.core_of(t - 1))
                bandwidth_[machine.node_of(t)] += thread_bandwidth_;
        // The memory of a node without threads is as fast as the others.
        double const most = *std::max_element(bandwidth_.begin(), bandwidth_.end());
        for (double& bandwidth : bandwidth_) {
            if (bandwidth == 0) bandwidth = most;
            if (machine.memory.node_bandwidth > 0) bandwidth = machine.memory.node_bandwidth;
        }
        for (int at = 0; at < nodes_; ++at) {
            add_row(factors_, [&](int data) { return machine.memory_factor(at, data); });
            add_row(stream_factors_, [&](int data) { return machine.stream_factor(at, data); });
        }
    }

    /// A task that costs `seconds` begins on `worker`. Returns how long it takes with these accesses, of
    /// which there are at most most_accesses.
    double begin(WorkerId worker, double seconds, std::span<Access const> accesses) {
        double bytes = 0, traffic = 0;
        for (Access const& access : accesses) {
            bytes += access.bytes;
            traffic += traffic_of(access);
        }
        if (bytes <= 0 || seconds <= 0) return seconds;
        int const process = machine_.process_of(worker);
        int const here = machine_.node_of(worker);
        TouchedBytes& touched = touched_[process];
        touched.all += bytes;
        double const rate = std::min(traffic / seconds, thread_bandwidth_);
        int const sharing = share_core(worker);
        double weighted = 0, streamed = 0;
        for (std::size_t a = 0; a < accesses.size(); ++a) {
            auto const [size, node, is_written] = accesses[a];
            if (node == here) touched.local += size;
            if (node == all_nodes) touched.local += size / nodes_;
            std::size_t const at = table_index(here, node);
            weighted += size * factors_[at];
            double const part = rate * traffic_of(accesses[a]) / traffic;
            streamed += part * stream_factors_[at];
            of_worker_[worker].demands[a] = {node, part / sharing};
            change_demand(process, of_worker_[worker].demands[a], 1);
        }
        double slowdown = std::max(weighted / bytes, streamed / thread_bandwidth_);
        for (std::size_t a = 0; a < accesses.size(); ++a)
            slowdown = std::max(slowdown, contention(process, of_worker_[worker].demands[a]));
        return seconds * slowdown * sharing;
    }

    /// The task that runs on `worker` ends.
    void end(WorkerId worker) {
        for (Demand& demand : of_worker_[worker].demands) {
            change_demand(machine_.process_of(worker), demand, -1);
            demand.rate = 0;
        }
        if (!running_.empty() && of_worker_[worker].is_counted) {
            --running_[machine_.core_of(worker)];
            of_worker_[worker].is_counted = false;
        }
    }

    /// The bytes of all tasks that have begun, by process.
    [[nodiscard]] std::vector<TouchedBytes> const& touched() const { return touched_; }

  private:
    struct Demand { // on the memory of a piece, bytes per second
        int node = all_nodes;
        double rate = 0;
    };
    struct Running { // the task of a worker
        std::array<Demand, most_accesses> demands;
        bool is_counted = false; ///< In running_.
    };

    /// A task begins on the core of the worker. Returns the number of tasks that run there now.
    int share_core(WorkerId worker) {
        if (running_.empty()) return 1;
        of_worker_[worker].is_counted = true;
        return ++running_[machine_.core_of(worker)];
    }

    static double traffic_of(Access const& access) {
        return access.is_written ? 2 * access.bytes : access.bytes;
    }

    // The last entry of a row is the mean, for data on all nodes.
    template <class Factor> void add_row(std::vector<double>& table, Factor const& factor_of) {
        double sum = 0;
        for (int data = 0; data < nodes_; ++data) sum += table.emplace_back(factor_of(data));
        table.push_back(sum / nodes_);
    }
    [[nodiscard]] std::size_t table_index(int at, int data) const {
        return std::size_t(at) * (nodes_ + 1) + (data == all_nodes ? nodes_ : data);
    }

    void change_demand(int process, Demand const& demand, double sign) {
        if (demand.rate == 0) return;
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
        constexpr double rounding = 1e-9; // tasks are added to the sums and subtracted again
        return worst > 1 + rounding ? worst : 1;
    }

    MachineModel const& machine_;
    int nodes_;                                    ///< The number of nodes of a process.
    double thread_bandwidth_;                      ///< Bytes per second.
    std::vector<double> bandwidth_;                ///< By node of a process.
    std::vector<double> factors_, stream_factors_; ///< nodes_ + 1 for each node (add_row).
    std::vector<double> demand_;                   ///< By process and node, at the moment.
    std::vector<Running> of_worker_;
    std::vector<int> running_; ///< Tasks that run on each core; empty if each thread has a core.
    std::vector<TouchedBytes> touched_;
};

} // namespace espalier
