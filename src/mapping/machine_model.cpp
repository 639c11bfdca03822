#include "mapping/machine_model.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "espalier/types.hpp"

namespace espalier {

namespace {

// The order of a square table.
int order_of(std::vector<double> const& table) {
    return static_cast<int>(std::lround(std::sqrt(static_cast<double>(table.size()))));
}

double entry(std::vector<double> const& table, int row, int column) {
    return table[static_cast<std::size_t>(row * order_of(table) + column)];
}

} // namespace

int MachineModel::num_nodes() const {
    return node_of_thread.empty() ? 1 : *std::max_element(node_of_thread.begin(), node_of_thread.end()) + 1;
}

double MachineModel::memory_factor(int at, int data) const {
    if (!memory.factors.empty()) return entry(memory.factors, at, data);
    return node_distances.empty() ? 1 : MemoryModel::factor_of_distance(entry(node_distances, at, data));
}

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
    if (std::any_of(machine.node_of_thread.begin(), machine.node_of_thread.end(),
                    [](int n) { return n < 0; }))
        reject("a NUMA node with a negative number");
    auto const require_table = [&](std::vector<double> const& table, char const* what, double least) {
        int const order = order_of(table);
        if (table.empty()) return;
        if (static_cast<std::size_t>(order) * static_cast<std::size_t>(order) != table.size() ||
            order < machine.num_nodes())
            reject(std::string(what) + " in a table of " + std::to_string(table.size()) + " numbers for " +
                   std::to_string(machine.num_nodes()) + " NUMA nodes");
        for (double const value : table)
            if (!(value >= least) || !std::isfinite(value))
                reject(std::string(what) + " of " + std::to_string(value));
    };
    require_table(machine.node_distances, "distances", 0);
    require_table(machine.memory.factors, "memory factors", 1);
    if (!(machine.memory.node_bandwidth >= 0))
        reject("memory of " + std::to_string(machine.memory.node_bandwidth) + " bytes/s");
    Network const& network = machine.network;
    if (!(network.latency >= 0) || !std::isfinite(network.latency) || !(network.bandwidth > 0))
        reject("a network with a latency of " + std::to_string(network.latency) + " s and " +
               std::to_string(network.bandwidth) + " bytes/s");
}

} // namespace espalier
