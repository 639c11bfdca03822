// Machines to simulate: a JSON file, an hwloc XML file, a description such as "numa:4 core:8", or this
// machine. docs/machine-file.md describes the JSON; that which `espalier machine` writes is understood too.
// In: a name. Out: plain data, from which follow the machine model for a number of processes and threads, and
// the cost model on its cores.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/types.hpp"
#include "mapping/cost_model.hpp"
#include "mapping/machine_model.hpp"
#include "runtime/topology.hpp"

namespace espalier {

/// One of equal machines, with a network between them.
struct SimulatedMachine {
    std::string name;
    bool is_here = false;             ///< Its cores are those that cost models are measured on.
    int count = 0;                    ///< How many there are; 0: as many as one likes.
    std::vector<int> node_of_core{0}; ///< NUMA nodes from 0; cores node by node.
    std::vector<double> distances;    ///< As MachineModel::node_distances.
    MemoryModel memory;
    std::optional<Network> network;   ///< None: the default.
    double speed = 1;                 ///< Of a core, relative to the cost model.
    std::optional<double> contention; ///< While all cores compute; none: that of the kernels, or as here.
    std::optional<double> bandwidth;  ///< Bytes per second that a thread can stream; none: as here.
    struct Kernels {
        Scalar scalar = Scalar::d;
        KernelKind kind = KernelKind::cholesky;
        PerTerm<PanelTerm> panel_seconds;
        PerTerm<UpdateTerm> update_seconds;
        double contention = 1; ///< While all cores compute.
    };
    std::vector<Kernels> kernels; ///< Empty: as here.

    [[nodiscard]] int num_cores() const { return static_cast<int>(node_of_core.size()); }
    /// `threads` 0: one a core. Error{usage} for more threads than cores, or more processes than machines.
    [[nodiscard]] MachineModel model(int processes, int threads) const;
    /// What `here` becomes on its cores. Error{usage} when it has cost models, but none for these kernels.
    [[nodiscard]] CostModel costs(CostModel here, Scalar scalar) const;
};

/// By name, as Simulation::machine; "here" is this machine as well. Error{io_error} for a file that cannot be
/// read; {bad_input} that names the file and the key which is unknown, missing or has a wrong value; {usage}
/// for a description.
SimulatedMachine find_machine(std::string const& name);

/// `processes` processes, each with `threads` workers (0: topology.default_threads()) on such a machine, and
/// the default network. Error{usage} as require_valid(MachineModel).
MachineModel machine_model(Topology const& topology, int processes, int threads);

/// The JSON in `text`; errors call it `source`.
SimulatedMachine parse_machine(std::string_view text, std::string const& source);

} // namespace espalier
