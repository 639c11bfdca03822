// The machine that a schedule is made for, as mapping and simulation need it: processes with equal numbers of
// threads, and a network between them. It may be another machine than this one.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace espalier {

/// The time of a message is latency + size / bandwidth, unless it waits for another message or for a thread
/// that sends or receives it. Such a thread is busy for handling_seconds(size) at each end.
struct Network {
    double latency = 2e-6;   ///< Seconds, including `overhead` at both ends.
    double bandwidth = 10e9; ///< Bytes per second.
    /// Processor time of a message at each end, in seconds, besides the copy: the o of the LogP model. About
    /// that of MPI on InfiniBand or in shared memory (0.3 to 1 us).
    double overhead = 0.5e-6;
    /// Bytes per second that one thread copies between a block and the network.
    double copy_bandwidth = 10e9;
    /// Bytes per second at which a thread first touches memory, which the system has to clear. The sender of
    /// a block does so before the first contribution, and the receiver while it copies. Infinite if it is not
    /// known.
    double first_touch_bandwidth = std::numeric_limits<double>::infinity();

    [[nodiscard]] double seconds(double bytes) const { return latency + bytes / bandwidth; }
    /// The overhead at one end. It is part of the latency, so it is at most half of it.
    [[nodiscard]] double overhead_seconds() const { return overhead < latency / 2 ? overhead : latency / 2; }
    [[nodiscard]] double wire_latency() const { return latency - 2 * overhead_seconds(); }
    [[nodiscard]] double handling_seconds(double bytes) const {
        return overhead_seconds() + bytes / copy_bandwidth;
    }
    [[nodiscard]] double first_touch_seconds(double bytes) const { return bytes / first_touch_bandwidth; }
    [[nodiscard]] double receiving_seconds(double bytes) const {
        return handling_seconds(bytes) + first_touch_seconds(bytes);
    }
};

/// The cost of memory on another NUMA node, and of memory that many threads access.
struct MemoryModel {
    /// The factor by which the time of a task on node i grows if all its data are on node j: a square table,
    /// row by row. Empty: derived from MachineModel::node_distances.
    std::vector<double> factors;
    /// The factor by which a thread on node i streams slower if all data are on node j: a square table, row
    /// by row. Empty: derived from MachineModel::node_distances, and at least that of `factors`.
    std::vector<double> stream_factors;
    /// The bandwidth of a node's memory in bytes per second; 0: the sum of what its threads can use.
    double node_bandwidth = 0;

    /// 10 is the distance of a node to itself. Distance slows a matrix product down by an eighth of the
    /// factor for a vector operation: the magnitude of the dgemm and daxpy factors in Faverge (2009).
    [[nodiscard]] static double factor_of_distance(double distance) {
        return distance > 10 ? 1 + (distance / 10 - 1) / 8 : 1;
    }
    [[nodiscard]] static double stream_factor_of_distance(double distance) {
        return distance > 10 ? distance / 10 : 1;
    }
};

/// Workers are numbered by process: worker = process * threads + thread.
struct MachineModel {
    int processes = 1;
    int threads = 1;                 ///< Threads of each process.
    std::vector<int> node_of_thread; ///< NUMA node of each thread of a process; empty: all on node 0.
    /// The relative cost of access to the memory of node j from node i, as Topology::distances: a square
    /// table, row by row. Empty: all nodes are equally far.
    std::vector<double> node_distances;
    MemoryModel memory;
    Network network;
    int spare_cores = 0; ///< Cores of each process that no worker uses.
    /// Cores of each process; 0: one for each thread. If there are fewer than threads, thread t runs on core
    /// t * cores / threads, and the threads of a core take turns.
    int cores = 0;

    [[nodiscard]] int num_workers() const { return processes * threads; }
    [[nodiscard]] int process_of(int worker) const { return worker / threads; }
    [[nodiscard]] int thread_of(int worker) const { return worker % threads; }
    [[nodiscard]] bool shares_cores() const { return cores > 0 && cores < threads; }
    /// A number of the worker's core among those of all processes.
    [[nodiscard]] int core_of(int worker) const {
        if (!shares_cores()) return worker;
        return process_of(worker) * cores +
               static_cast<int>(std::int64_t{thread_of(worker)} * cores / threads);
    }
    [[nodiscard]] int node_of(int worker) const {
        return node_of_thread.empty() ? 0 : node_of_thread[thread_of(worker)];
    }
    /// The node of each thread of a process.
    [[nodiscard]] std::vector<int> nodes_of_threads() const {
        return node_of_thread.empty() ? std::vector<int>(threads, 0) : node_of_thread;
    }
    /// NUMA nodes of a process: the largest node number of a thread plus 1.
    [[nodiscard]] int num_nodes() const;
    /// 10 is the distance of a node to itself.
    [[nodiscard]] double node_distance(int at, int data) const;
    /// The factor by which the time of a task on node `at` grows if its data are on node `data`, even if
    /// arithmetic takes most of it.
    [[nodiscard]] double memory_factor(int at, int data) const;
    /// The factor by which the time grows if the task only streams its data.
    [[nodiscard]] double stream_factor(int at, int data) const;
};

/// Error{usage} for no processes or threads, more than 2^20 workers, NUMA nodes of only some of the threads,
/// tables that do not fit the nodes or have invalid entries, and an invalid latency or bandwidth.
void require_valid(MachineModel const& machine);

} // namespace espalier
