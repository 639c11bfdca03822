// The machine that a schedule is made for, as far as mapping and simulation need it: processes of equal
// numbers of threads, and a network between them. The machine need not be here.
#pragma once

#include <vector>

namespace espalier {

/// Time of a message: latency + size / bandwidth. Messages do not slow each other down.
struct Network {
    double latency = 2e-6;   ///< Seconds.
    double bandwidth = 10e9; ///< Bytes per second.
    [[nodiscard]] double seconds(double bytes) const { return latency + bytes / bandwidth; }
};

/// Workers are numbered process by process: worker = process * threads + thread.
struct MachineModel {
    int processes = 1;
    int threads = 1;                 ///< Of each process.
    std::vector<int> node_of_thread; ///< NUMA node of each thread of a process; empty: all on node 0.
    /// Relative cost to reach node j's memory from node i, a square table row by row, as Topology::distance;
    /// empty: all nodes are equally far.
    std::vector<double> node_distances;
    Network network;

    [[nodiscard]] int num_workers() const { return processes * threads; }
    [[nodiscard]] int process_of(int worker) const { return worker / threads; }
    [[nodiscard]] int thread_of(int worker) const { return worker % threads; }
    [[nodiscard]] int node_of(int worker) const {
        return node_of_thread.empty() ? 0 : node_of_thread[static_cast<std::size_t>(thread_of(worker))];
    }
};

/// Error{usage} that names what is wrong: no processes or threads, more than 2^20 workers, a NUMA node given
/// for some of the threads only, a network without a speed.
void require_valid(MachineModel const& machine);

} // namespace espalier
