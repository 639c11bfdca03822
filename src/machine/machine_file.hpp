// Machines to simulate: a JSON file, an hwloc XML file, a description such as "numa:4 core:8", or this
// machine. docs/machine-file.md describes the JSON; the file that `espalier machine` writes is accepted as
// well. The input is a name. The output is plain data, from which follow the machine model for a number of
// processes and threads, and the cost model on the machine's cores.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/types.hpp"
#include "machine/cost_model_store.hpp"
#include "mapping/cost_model.hpp"
#include "mapping/machine_model.hpp"
#include "runtime/topology.hpp"

namespace espalier {

/// A machine, of which there may be several equal ones with a network between them.
struct SimulatedMachine {
    std::string name;
    bool is_here = false;             ///< This machine, on which cost models are measured.
    int count = 0;                    ///< The number of machines; 0 is any number.
    std::vector<int> node_of_core{0}; ///< The NUMA node of each core, from 0, ascending.
    std::vector<double> distances;    ///< As MachineModel::node_distances.
    MemoryModel memory;
    std::optional<Network> network;   ///< If empty, the default network.
    double speed = 1;                 ///< The speed of a core relative to the cost model.
    std::optional<double> contention; ///< While all cores compute; if empty, that of the cost model.
    /// Bytes per second that a thread can stream; if empty, as on this machine.
    std::optional<double> bandwidth;
    /// Bytes per second that all cores together can read; if empty, each reads at its bandwidth, less
    /// contention.
    std::optional<double> read_bandwidth;
    std::vector<MeasuredModel> models; ///< Cost models of the machine; if empty, those of this machine.

    [[nodiscard]] int num_cores() const { return static_cast<int>(node_of_core.size()); }
    /// The model of `processes` with `threads` each; 0 is one thread a core. Threads in excess of the cores
    /// share them. Error{usage} for fewer than 0 threads, more
    /// processes than machines, or as require_valid(MachineModel).
    [[nodiscard]] MachineModel model(int processes, int threads) const;
    /// The cost model `here` of this machine, converted to the other machine's cores. Error{usage} if the
    /// machine has cost models, but none for this scalar and these kernels.
    [[nodiscard]] CostModel costs(CostModel here, Scalar scalar) const;
};

/// The machine of a name, as in Simulation::machine; "here" and "" are this machine. Error{io_error} for a
/// file that cannot be read; Error{bad_input} for a key that is unknown, missing or has a wrong value, which
/// names file and key; Error{usage} for a wrong description.
SimulatedMachine find_machine(std::string const& name);

/// `processes` processes, each with `threads` workers (0: topology.default_threads()) on such a machine, and
/// the default network. Error{usage} as require_valid(MachineModel).
MachineModel machine_model(Topology const& topology, int processes, int threads);

/// The JSON in `text`; errors call it `source`.
SimulatedMachine parse_machine(std::string_view text, std::string const& source);

} // namespace espalier
