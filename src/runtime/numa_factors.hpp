// NUMA factors: how much longer a kernel takes when its data lie on a more distant node, and when all cores
// work at once. In: a topology and kernels that work on blocks of memory. Out: median times of a block for
// pairs of data node and core, and of all cores under three placements of their data, as multiples of the
// fastest pair. The experiments are those of Faverge's thesis (Ordonnancement hybride statique-dynamique en
// algebre lineaire creuse pour de grands clusters de machines NUMA et multi-coeurs, Bordeaux 2009).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/topology.hpp"

namespace espalier {

/// What is timed: one call works on one block. Blocks follow each other through memory that is larger than
/// the caches, so that each comes from memory. Called from many threads at once; must not throw.
struct BlockKernel {
    std::string name;
    std::size_t block_bytes = 0;
    std::function<void(std::byte* block)> run; ///< The block holds zeros, or what earlier calls have left.
};

struct NumaFactorOptions {
    double seconds = 2; ///< About what all measurements together may take.
    std::uint64_t max_memory = std::uint64_t{8}
                               << 30; ///< Of all blocks; also a quarter of what is available.
    int max_pairs = 256;              ///< Of data node and core; see sampled_cores().
};

/// Times of one kernel. All are multiples of unit_s.
struct KernelFactors {
    std::string kernel;
    double unit_s = 0; ///< Seconds of a block for the fastest pair of data node and core.
    std::vector<double>
        alone; ///< One core at work: factors of data node d and core cores[i] at i * nodes + d.
    std::vector<double> local;    ///< All cores at work, each on its own node's memory: by cores[i].
    std::vector<double> one_node; ///< All cores on data of node 0.
    std::vector<double> worst;    ///< Each core on data of its farthest node (farthest_node()).
};

struct NumaFactors {
    std::vector<int> cores;  ///< Of the topology: those whose times are here. All take part.
    std::string which_cores; ///< "every core", or which one of how many.
    int nodes = 1;
    std::size_t region_bytes = 0; ///< Memory that each core walks through.
    std::vector<KernelFactors> kernels;
    std::vector<std::string> remarks; ///< What was not as asked: pages, binding, caches, a CPU quota.
};

/// Takes options.seconds, and the time of touching the memory. On a machine of one node all placements are
/// the same, and all cores are measured once. Error{usage} for a topology that is not this machine;
/// {out_of_memory}, {internal} when threads cannot be started.
NumaFactors measure_numa_factors(Topology const& topology, std::span<BlockKernel const> kernels,
                                 NumaFactorOptions const& options = {});

/// The cores that are measured so that cores times nodes do not exceed `max_pairs`: all of them, else the
/// first of each group that shares a last-level cache, else the first of each node. `which` says so.
std::vector<int> sampled_cores(Topology const& topology, int max_pairs, std::string& which);

/// The node that `node` has the longest way to. Of several equally far ones the first that comes halfway
/// round the circle of node numbers, so that not all meet on one. `node` itself when there is no other.
int farthest_node(Topology const& topology, int node);

} // namespace espalier
