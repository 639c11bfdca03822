#include "machine/machine_file.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include <fmt/format.h>

#include "machine/cost_model_store.hpp"
#include "machine/flat_json.hpp"
#include "machine/json_fields.hpp"
#include "runtime/binding.hpp"

namespace espalier {

namespace {

constexpr int most_cores = 1 << 16;
constexpr int most_nodes = 1 << 10; // tables of theirs are quadratic

// Those of a machine file, and after them what `espalier machine` tells besides and a simulation does not
// need.
constexpr std::string_view keys[] = {"name",
                                     "nodes",
                                     "topology",
                                     "numa_nodes",
                                     "cores_per_numa_node",
                                     "distances.#.#",
                                     "memory_factors.#.#",
                                     "speed",
                                     "contention",
                                     "core_bytes_per_s",
                                     "numa_node_bytes_per_s",
                                     "network.latency_s",
                                     "network.bytes_per_s",
                                     "cost_model.models.#.scalar",
                                     "cost_model.models.#.kernels",
                                     "cost_model.models.#.panel_s.*",
                                     "cost_model.models.#.update_s.*",
                                     "numa_nodes.#.*",
                                     "numa_factors.*",
                                     "cost_model.memory.one_bytes_per_s",
                                     "cost_model.memory.all_bytes_per_s",
                                     "cost_model.models.#.contention.#.threads",
                                     "cost_model.models.#.contention.#.factor",
                                     "comment",
                                     "espalier",
                                     "cpu",
                                     "cores",
                                     "packages",
                                     "caches.*",
                                     "cpu_quota",
                                     "default_threads",
                                     "available_memory_bytes",
                                     "blas.*",
                                     "dgemm.*",
                                     "cost_model.format",
                                     "cost_model.machine.*",
                                     "cost_model.network.*",
                                     "cost_model.models.#.panel_fit.*",
                                     "cost_model.models.#.update_fit.*",
                                     "cost_model.file"};
constexpr std::string_view key_help =
    "there are name, nodes, topology, numa_nodes, cores_per_numa_node, distances, memory_factors, speed, "
    "contention, core_bytes_per_s, numa_node_bytes_per_s, network, cost_model and comment";

class MachineReader : private JsonFields {
  public:
    MachineReader(FlatJson const& json, std::string const& source) : JsonFields(json, source) {}

    SimulatedMachine read() {
        refuse_unknown(keys, key_help);
        SimulatedMachine machine;
        if (has("name")) machine.name = text("name");
        if (has("nodes")) machine.count = count("nodes", 1, 1 << 20);
        read_cores(machine);
        if (has_below("distances")) machine.distances = square_table("distances", 0, 1e6);
        if (has("cost_model.memory.one_bytes_per_s"))
            machine.bandwidth = number("cost_model.memory.one_bytes_per_s", 1, 1e18);
        if (has("core_bytes_per_s")) machine.bandwidth = number("core_bytes_per_s", 1, 1e18);
        read_measured_factors(machine);
        if (has_below("memory_factors")) machine.memory.factors = square_table("memory_factors", 1, 1e3);
        if (has("speed")) machine.speed = number("speed", 1e-3, 1e3);
        if (has("contention")) machine.contention = number("contention", 1, 1e3);
        if (has("numa_node_bytes_per_s"))
            machine.memory.node_bandwidth = number("numa_node_bytes_per_s", 1, 1e18);
        if (has("cost_model.network.source") && text("cost_model.network.source") == "measured")
            read_network(machine, "cost_model.network");
        read_network(machine, "network");
        for (int m = 0; has_below(fmt::format("cost_model.models.{}", m)); ++m)
            machine.kernels.push_back(kernels(fmt::format("cost_model.models.{}", m), machine.num_cores()));
        return machine;
    }

  private:
    void read_network(SimulatedMachine& machine, std::string const& at) const {
        std::string const latency = at + ".latency_s", bandwidth = at + ".bytes_per_s";
        if (!has(latency) && !has(bandwidth)) return;
        Network network = machine.network.value_or(Network{});
        if (has(latency)) network.latency = number(latency, 0, 1e6);
        if (has(bandwidth)) network.bandwidth = number(bandwidth, 1, 1e18);
        machine.network = network;
    }
    // A description, two numbers, or the list of `espalier machine`.
    void read_cores(SimulatedMachine& machine) const {
        bool const counted = has("numa_nodes") || has("cores_per_numa_node"),
                   listed = has_below("numa_nodes");
        if (has("topology") + counted + listed != 1)
            refuse("the cores are missing, or given twice: \"topology\", or \"numa_nodes\" and "
                   "\"cores_per_numa_node\"");
        machine.node_of_core.clear();
        if (has("topology")) {
            take_topology(machine, text("topology"));
        } else if (counted) {
            int const nodes = count("numa_nodes", 1, most_nodes);
            int const cores = count("cores_per_numa_node", 1, most_cores / nodes);
            for (int core = 0; core < nodes * cores; ++core) machine.node_of_core.push_back(core / cores);
        } else {
            read_node_list(machine);
        }
    }
    void take_topology(SimulatedMachine& machine, std::string const& description) const {
        try {
            Topology const topology = Topology::synthetic(description);
            for (auto const& core : topology.cores()) machine.node_of_core.push_back(core.node);
            for (int i = 0; i < topology.num_nodes(); ++i)
                for (int j = 0; j < topology.num_nodes(); ++j)
                    machine.distances.push_back(topology.distance(i, j));
        } catch (Error const& error) {
            refuse(fmt::format("\"topology\": {}", error.what()));
        }
    }
    void read_node_list(SimulatedMachine& machine) const {
        int nodes = 0;
        while (has_below(fmt::format("numa_nodes.{}", nodes))) ++nodes;
        if (nodes > most_nodes)
            refuse(fmt::format("\"numa_nodes\" has {} entries, more than {}", nodes, most_nodes));
        for (int node = 0; node < nodes; ++node) {
            std::string const at = fmt::format("numa_nodes.{}", node);
            if (!has(at + ".cores.0")) refuse(fmt::format("\"{}.cores\" is missing", at));
            for (int c = 0; has(fmt::format("{}.cores.{}", at, c)) && c < most_cores; ++c)
                machine.node_of_core.push_back(node);
            for (int to = 0; to < nodes; ++to)
                machine.distances.push_back(number(fmt::format("{}.distances.{}", at, to), 0, 1e6));
        }
        if (machine.num_cores() > most_cores) refuse("\"numa_nodes\" has too many cores");
        nodes_ = nodes;
    }

    // The tables of `espalier machine`: dgemm tells what distance costs, daxpy what memory gives.
    void read_measured_factors(SimulatedMachine& machine) const {
        if (!has_below("numa_factors")) return;
        if (nodes_ == 0) refuse("\"numa_factors\" belong to a list of \"numa_nodes\"");
        std::vector<int> cores;
        for (int c = 0; has(fmt::format("numa_factors.cores.{}", c)); ++c)
            cores.push_back(count(fmt::format("numa_factors.cores.{}", c), 0, machine.num_cores() - 1));
        for (int k = 0; has_below(fmt::format("numa_factors.kernels.{}", k)); ++k) {
            std::string const at = fmt::format("numa_factors.kernels.{}", k);
            std::string const name = text(at + ".kernel");
            if (name == "dgemm") read_distance_factors(machine, at, cores);
            if (name == "daxpy") read_bandwidths(machine, at, cores);
        }
    }
    // Of the cores of each node the mean, and 1 for its own memory.
    void read_distance_factors(SimulatedMachine& machine, std::string const& at,
                               std::vector<int> const& cores) const {
        auto const nodes = static_cast<std::size_t>(nodes_);
        std::vector<double> sum(nodes * nodes, 0.0);
        std::vector<bool> seen(nodes, false);
        for (std::size_t i = 0; i < cores.size(); ++i) {
            auto const node = static_cast<std::size_t>(machine.node_of_core[cores[i]]);
            seen[node] = true;
            for (std::size_t data = 0; data < nodes; ++data)
                sum[node * nodes + data] += number(fmt::format("{}.alone.{}.{}", at, i, data), 0, 1e6);
        }
        if (std::find(seen.begin(), seen.end(), false) != seen.end())
            refuse(fmt::format("\"{}.alone\" has no core of one of the NUMA nodes", at));
        for (std::size_t node = 0; node < nodes; ++node)
            for (std::size_t data = 0; data < nodes; ++data) {
                double const own = sum[node * nodes + node];
                machine.memory.factors.push_back(own > 0 ? std::max(1.0, sum[node * nodes + data] / own)
                                                         : 1.0);
            }
    }
    // Of y += a x two vectors are read and one is written.
    void read_bandwidths(SimulatedMachine& machine, std::string const& at,
                         std::vector<int> const& cores) const {
        double const order = number(at + ".block_order", 1, 1e6), unit = number(at + ".unit_s", 1e-12, 1e6);
        double local = 0;
        for (std::size_t i = 0; i < cores.size(); ++i)
            local += number(fmt::format("{}.all_cores.local.{}", at, i), 1e-6, 1e6);
        if (!machine.bandwidth) machine.bandwidth = 3 * order * order * sizeof(double) / unit;
        if (cores.empty()) return;
        double const cores_of_node = static_cast<double>(machine.num_cores()) / nodes_;
        machine.memory.node_bandwidth =
            cores_of_node * *machine.bandwidth * static_cast<double>(cores.size()) / local;
    }

    [[nodiscard]] SimulatedMachine::Kernels kernels(std::string const& at, int cores) const {
        SimulatedMachine::Kernels one;
        one.scalar = choice(at + ".scalar", std::array{Scalar::s, Scalar::d, Scalar::c, Scalar::z});
        one.kind = choice(at + ".kernels", std::array{KernelKind::cholesky, KernelKind::ldl, KernelKind::lu});
        for (std::size_t t = 0; t < panel_term_names.size(); ++t)
            one.panel_seconds.value[t] = number(fmt::format("{}.panel_s.{}", at, panel_term_names[t]), 0, 1);
        for (std::size_t t = 0; t < update_term_names.size(); ++t)
            one.update_seconds.value[t] =
                number(fmt::format("{}.update_s.{}", at, update_term_names[t]), 0, 1);
        one.contention = contention(at + ".contention", cores);
        return one;
    }
    // With all cores at work, between the numbers of threads that were measured; with the most of them where
    // not all cores were.
    [[nodiscard]] double contention(std::string const& list, int cores) const {
        MeasuredModel measured;
        for (int c = 0; has_below(fmt::format("{}.{}", list, c)); ++c) {
            std::string const at = fmt::format("{}.{}", list, c);
            int const before = c == 0 ? 1 : measured.contention.back().first;
            int const threads = count(at + ".threads", before + 1, 1 << 20);
            measured.contention.emplace_back(threads, number(at + ".factor", 0.01, 1e6));
        }
        if (measured.contention.empty()) return 1;
        int const together = std::min(cores, measured.contention.back().first);
        return measured.for_threads(together, cores)->contention;
    }

    mutable int nodes_ = 0; // in a list
};

SimulatedMachine from_topology(Topology const& topology) {
    MachineModel model = machine_model(topology, 1, topology.num_cores());
    SimulatedMachine machine;
    machine.name = topology.machine_name();
    machine.is_here = topology.is_this_machine();
    machine.node_of_core = std::move(model.node_of_thread);
    machine.distances = std::move(model.node_distances);
    return machine;
}

} // namespace

SimulatedMachine parse_machine(std::string_view text, std::string const& source) {
    std::string const file = fmt::format("machine file '{}'", source);
    std::string fault;
    auto const json = parse_flat_json(text, &fault);
    if (!json) throw Error(Status::bad_input, fmt::format("{}: {}", file, fault));
    SimulatedMachine machine = MachineReader(*json, file).read();
    if (machine.name.empty()) machine.name = source;
    try {
        require_valid(machine.model(1, 0));
    } catch (Error const& error) {
        throw Error(Status::bad_input, fmt::format("{}: {}", file, error.what()));
    }
    return machine;
}

SimulatedMachine find_machine(std::string const& name) {
    if (!name.ends_with(".json")) return from_topology(Topology::named(name == "here" ? "" : name));
    std::ifstream file(name, std::ios::binary);
    std::string text(longest_flat_json + 1, '\0'); // one more, which is refused
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(file.gcount());
    if (!file.eof() && text.size() <= longest_flat_json)
        throw Error(Status::io_error, fmt::format("machine file '{}' cannot be read", name));
    return parse_machine(text, name);
}

MachineModel machine_model(Topology const& topology, int processes, int threads) {
    MachineModel machine;
    machine.processes = processes;
    machine.threads = threads > 0 ? threads : topology.default_threads();
    require_valid(machine);
    for (WorkerPlace const& place : place_workers(topology, machine.threads, false))
        machine.node_of_thread.push_back(place.node);
    machine.node_distances = topology.distances();
    return machine;
}

MachineModel SimulatedMachine::model(int processes, int threads) const {
    if (threads < 0 || threads > num_cores())
        throw Error(Status::usage,
                    fmt::format("{} thread{} for a machine of {} core{}: {}", threads,
                                threads == 1 ? "" : "s", num_cores(), num_cores() == 1 ? "" : "s", name));
    if (count > 0 && processes > count)
        throw Error(Status::usage, fmt::format("{} processes, each on a node of its own, for {} nodes: {}",
                                               processes, count, name));
    MachineModel machine;
    machine.processes = processes;
    machine.threads = threads > 0 ? threads : num_cores();
    machine.node_of_thread.assign(node_of_core.begin(), node_of_core.begin() + machine.threads);
    machine.node_distances = distances;
    machine.memory = memory;
    machine.network = network.value_or(Network{});
    return machine;
}

CostModel SimulatedMachine::costs(CostModel here, Scalar scalar) const {
    CostModel model = here;
    if (!kernels.empty()) {
        auto const mine = std::find_if(kernels.begin(), kernels.end(), [&](Kernels const& one) {
            return one.scalar == scalar && one.kind == here.kernels.kind;
        });
        if (mine == kernels.end())
            throw Error(Status::usage, fmt::format("the cost models of {} have none for scalar {}, {}", name,
                                                   to_string(scalar), to_string(here.kernels.kind)));
        model.panel_seconds = mine->panel_seconds;
        model.update_seconds = mine->update_seconds;
        model.contention = mine->contention;
    }
    for (double& seconds : model.panel_seconds.value) seconds /= speed;
    for (double& seconds : model.update_seconds.value) seconds /= speed;
    if (bandwidth) model.bandwidth = *bandwidth;
    if (!is_here) model.threads_per_core = 1;
    if (!is_here && kernels.empty()) model.contention = 1;
    if (contention) model.contention = *contention;
    return model;
}

} // namespace espalier
