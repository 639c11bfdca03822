// The machine that a schedule is made for, as far as mapping and simulation need it: processes of equal
// numbers of threads, and a network between them. The machine need not be here.
#pragma once

#include <vector>

namespace espalier {

/// Time of a message: latency + size / bandwidth, when no other is in its way.
struct Network {
    double latency = 2e-6;   ///< Seconds.
    double bandwidth = 10e9; ///< Bytes per second.
    [[nodiscard]] double seconds(double bytes) const { return latency + bytes / bandwidth; }
};

/// What memory on another NUMA node costs, and memory that many use.
struct MemoryModel {
    /// How much longer a task takes when all its data lie on node j and its worker stands on node i, a square
    /// table row by row; empty: from MachineModel::node_distances.
    std::vector<double> factors;
    /// Bytes per second that a node's memory gives to all who ask; 0: as much as its cores can ask for.
    double node_bandwidth = 0;

    /// A product of matrices feels an eighth of what a vector operation does: the order of magnitude of the
    /// dgemm and daxpy factors in Faverge's thesis (2009). 10 is the distance to one's own node.
    [[nodiscard]] static double factor_of_distance(double distance) {
        return distance > 10 ? 1 + (distance / 10 - 1) / 8 : 1;
    }
};

/// Workers are numbered process by process: worker = process * threads + thread.
struct MachineModel {
    int processes = 1;
    int threads = 1;                 ///< Of each process.
    std::vector<int> node_of_thread; ///< NUMA node of each thread of a process; empty: all on node 0.
    /// Relative cost to reach node j's memory from node i, a square table row by row, as Topology::distance;
    /// empty: all nodes are equally far.
    std::vector<double> node_distances;
    MemoryModel memory;
    Network network;

    [[nodiscard]] int num_workers() const { return processes * threads; }
    [[nodiscard]] int process_of(int worker) const { return worker / threads; }
    [[nodiscard]] int thread_of(int worker) const { return worker % threads; }
    [[nodiscard]] int node_of(int worker) const {
        return node_of_thread.empty() ? 0 : node_of_thread[thread_of(worker)];
    }
    /// NUMA nodes of a process: one more than the highest number that a thread has.
    [[nodiscard]] int num_nodes() const;
    /// How much longer a task on node `at` takes when its data lie on node `data`.
    [[nodiscard]] double memory_factor(int at, int data) const;
};

/// Error{usage} that names what is wrong: no processes or threads, more than 2^20 workers, a NUMA node given
/// for some of the threads only, tables that do not fit the nodes or have no sense, a network without a
/// speed.
void require_valid(MachineModel const& machine);

} // namespace espalier
