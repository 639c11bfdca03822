#include "mapping/machine_model.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "espalier/types.hpp"

namespace espalier {

namespace {

// The order of a square table.
int order_of(std::vector<double> const& table) {
    return static_cast<int>(std::lround(std::sqrt(static_cast<double>(table.size()))));
}

double entry(std::vector<double> const& table, int row, int column) {
    return table[row * order_of(table) + column];
}

template <class... Args>
[[noreturn]] void reject(fmt::format_string<Args const&...> what, Args const&... args) {
    throw Error(Status::usage, fmt::format("machine model: {}", fmt::format(what, args...)));
}

void require_table(std::vector<double> const& table, char const* what, double least, int nodes) {
    int const order = order_of(table);
    if (table.empty()) return;
    if (std::int64_t{order} * order != std::ssize(table) || order < nodes)
        reject("{} in a table of {} numbers for {} NUMA nodes", what, table.size(), nodes);
    for (double const value : table)
        if (!(value >= least) || !std::isfinite(value)) reject("{} of {}", what, value);
}

} // namespace

int MachineModel::num_nodes() const {
    return node_of_thread.empty() ? 1 : *std::max_element(node_of_thread.begin(), node_of_thread.end()) + 1;
}

double MachineModel::node_distance(int at, int data) const {
    return node_distances.empty() ? 10 : entry(node_distances, at, data);
}

double MachineModel::memory_factor(int at, int data) const {
    if (!memory.factors.empty()) return entry(memory.factors, at, data);
    return MemoryModel::factor_of_distance(node_distance(at, data));
}

double MachineModel::stream_factor(int at, int data) const {
    if (!memory.stream_factors.empty()) return entry(memory.stream_factors, at, data);
    return std::max(memory_factor(at, data), MemoryModel::stream_factor_of_distance(node_distance(at, data)));
}

void require_valid(MachineModel const& machine) {
    constexpr int max_workers = 1 << 20;
    std::string const size = fmt::format("{} processes of {} threads", machine.processes, machine.threads);
    if (machine.processes < 1 || machine.threads < 1) reject("no workers in {}", size);
    if (machine.processes > max_workers / machine.threads)
        reject("{} are more than {} workers", size, max_workers);
    if (machine.cores < 0) reject("{} cores for {}", machine.cores, size);
    auto const& nodes = machine.node_of_thread;
    if (!nodes.empty() && std::ssize(nodes) != machine.threads)
        reject("NUMA nodes of {} threads for {}", nodes.size(), size);
    if (std::any_of(nodes.begin(), nodes.end(), [](int n) { return n < 0; }))
        reject("a NUMA node with a negative number");
    require_table(machine.node_distances, "distances", 0, machine.num_nodes());
    require_table(machine.memory.factors, "memory factors", 1, machine.num_nodes());
    require_table(machine.memory.stream_factors, "stream factors", 1, machine.num_nodes());
    if (!(machine.memory.node_bandwidth >= 0)) reject("memory of {} bytes/s", machine.memory.node_bandwidth);
    Network const& network = machine.network;
    if (!(network.latency >= 0) || !std::isfinite(network.latency) || !(network.bandwidth > 0))
        reject("a network with a latency of {} s and {} bytes/s", network.latency, network.bandwidth);
    if (!(network.overhead >= 0) || !(network.copy_bandwidth > 0) || !(network.first_touch_bandwidth > 0))
        reject("a network with an overhead of {} s, copies of {} bytes/s and a first touch of {} bytes/s",
               network.overhead, network.copy_bandwidth, network.first_touch_bandwidth);
}

} // namespace espalier
