// Measures NUMA factors: how much longer a kernel takes if its data are on a more distant node, and if all
// cores work at once. Input: a topology and kernels that work on blocks of memory. Output: median times of a
// block for pairs of data node and core, and of all cores for three placements of their data, as multiples of
// the fastest pair. The experiments follow the thesis of Faverge (Ordonnancement hybride statique-dynamique
// en algebre lineaire creuse pour de grands clusters de machines NUMA et multi-coeurs, Bordeaux 2009).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/topology.hpp"

namespace espalier {

/// The kernel: one call works on one block. Consecutive blocks are in a region that is larger than the
/// caches, so that each is read from memory. Called from many threads at once; must not throw.
struct BlockKernel {
    std::string name;
    std::size_t block_bytes = 0;
    std::function<void(std::byte* block)> run; ///< The block contains zeros or the results of earlier calls.
};

struct NumaFactorOptions {
    double seconds = 2; ///< Approximate time of all measurements together.
    std::uint64_t max_memory =
        std::uint64_t{8}
        << 30;           ///< Maximum memory of all blocks; at most a quarter of the available memory is used.
    int max_pairs = 256; ///< Maximum number of pairs of data node and core; see sampled_cores().
};

/// The times of one kernel, in multiples of unit_s.
struct KernelFactors {
    std::string kernel;
    double unit_s = 0; ///< Seconds of a block for the fastest pair of data node and core.
    /// One core works: the factor of data node d and core cores[i] is at i * nodes + d.
    std::vector<double> alone;
    std::vector<double> local;    ///< All cores work, each on memory of its own node; by cores[i].
    std::vector<double> one_node; ///< All cores work on data of node 0.
    std::vector<double> worst;    ///< Each core works on data of its farthest node (farthest_node()).
};

struct NumaFactors {
    std::vector<int> cores;  ///< The cores of the topology whose times are reported. All cores take part.
    std::string which_cores; ///< "every core", or the selection.
    int nodes = 1;
    std::size_t region_bytes = 0; ///< Memory that each core reads cyclically.
    std::vector<KernelFactors> kernels;
    std::vector<std::string> remarks; ///< Deviations from the request: pages, binding, caches, a CPU quota.
};

/// Takes options.seconds and the time to touch the memory. On a machine with one node all placements are the
/// same, and all cores are measured once. Error{usage} for a topology that is not this machine;
/// {out_of_memory}; {internal} if threads cannot be started.
NumaFactors measure_numa_factors(Topology const& topology, std::span<BlockKernel const> kernels,
                                 NumaFactorOptions const& options = {});

/// Selects the cores to measure, so that cores times nodes do not exceed `max_pairs`: all of them, or the
/// first of each group that shares a last-level cache, or the first of each node. `which` receives a
/// description.
std::vector<int> sampled_cores(Topology const& topology, int max_pairs, std::string& which);

/// The node that is farthest from `node`. Among equally far nodes, the first one from half the number of
/// nodes onwards, cyclically, so that not all nodes have the same one. `node` itself if there is no other.
int farthest_node(Topology const& topology, int node);
/// Likewise among `nodes` nodes, with distance_to(other) from `node`.
int farthest_node(int nodes, int node, std::function<double(int other)> const& distance_to);

} // namespace espalier
