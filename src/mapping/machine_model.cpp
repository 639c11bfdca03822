#include "mapping/machine_model.hpp"

#include <cmath>
#include <string>

#include "espalier/types.hpp"

namespace espalier {

void require_valid(MachineModel const& machine) {
    constexpr int most_workers = 1 << 20;
    auto const reject = [](std::string const& what) { throw Error(Status::usage, "machine model: " + what); };
    std::string const size =
        std::to_string(machine.processes) + " processes of " + std::to_string(machine.threads) + " threads";
    if (machine.processes < 1 || machine.threads < 1) reject("no workers in " + size);
    if (machine.processes > most_workers / machine.threads)
        reject(size + " are more than " + std::to_string(most_workers) + " workers");
    if (!machine.node_of_thread.empty() &&
        machine.node_of_thread.size() != static_cast<std::size_t>(machine.threads))
        reject("NUMA nodes of " + std::to_string(machine.node_of_thread.size()) + " threads for " + size);
    Network const& network = machine.network;
    if (!(network.latency >= 0) || !std::isfinite(network.latency) || !(network.bandwidth > 0))
        reject("a network with a latency of " + std::to_string(network.latency) + " s and " +
               std::to_string(network.bandwidth) + " bytes/s");
}

} // namespace espalier
