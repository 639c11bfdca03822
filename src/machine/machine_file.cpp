#include "machine/machine_file.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "core/counted.hpp"
#include "core/one_line.hpp"
#include "io/json.hpp"
#include "runtime/binding.hpp"

namespace espalier {

namespace {

constexpr int most_cores = 1 << 16;
constexpr int most_nodes = 1 << 10; // tables of nodes are quadratic
constexpr double highest_bandwidth = 1e18;
constexpr double own_distance = 10, most_distance = 1e6;

// The keys of a machine file, and the further keys of the file that `espalier machine` writes.
constexpr std::string_view keys[] = {"name",
                                     "nodes",
                                     "topology",
                                     "numa_nodes",
                                     "cores_per_numa_node",
                                     "distances",
                                     "memory_factors",
                                     "stream_factors",
                                     "speed",
                                     "contention",
                                     "core_bytes_per_s",
                                     "numa_node_bytes_per_s",
                                     "network",
                                     "cost_model",
                                     "comment"};
constexpr std::string_view other_keys[] = {
    "espalier", "cpu",       "cores",           "packages",
    "caches",   "cpu_quota", "default_threads", "available_memory_bytes",
    "blas",     "dgemm",     "numa_factors",    "roofline"};
constexpr std::string_view network_keys[] = {"latency_s", "bytes_per_s", "overhead_s", "copy_bytes_per_s",
                                             "first_touch_bytes_per_s"};
constexpr std::string_view cost_model_keys[] = {"models", "memory", "network"};
constexpr std::string_view other_cost_model_keys[] = {"format", "machine", "file"};
constexpr std::string_view memory_keys[] = {"one_bytes_per_s", "all_bytes_per_s", "one_read_bytes_per_s",
                                            "all_read_bytes_per_s", "first_touch_bytes_per_s"};
constexpr std::string_view model_keys[] = {"scalar", "kernels", "panel_s", "update_s", "contention"};
constexpr std::string_view other_model_keys[] = {"panel_fit", "update_fit"};

void set_cores(SimulatedMachine& machine, Topology const& topology) {
    MachineModel model = machine_model(topology, 1, topology.num_cores());
    machine.node_of_core = std::move(model.node_of_thread);
    machine.distances = std::move(model.node_distances);
}

SimulatedMachine from_topology(Topology const& topology) {
    SimulatedMachine machine;
    machine.name = topology.machine_name();
    machine.is_here = topology.is_this_machine();
    set_cores(machine, topology);
    return machine;
}

class MachineReader {
  public:
    explicit MachineReader(JsonField json) : json_(std::move(json)) {}

    SimulatedMachine read() {
        json_.allow_only(keys, other_keys);
        if (auto const name = json_["name"]) machine_.name = name.text();
        if (auto const nodes = json_["nodes"]) machine_.count = nodes.count(1, 1 << 20);
        read_cores();
        if (auto const table = json_["distances"]) read_distances(table);
        read_cost_model(json_["cost_model"]);
        if (auto const rate = json_["core_bytes_per_s"]) {
            machine_.bandwidth = rate.number(1, highest_bandwidth);
            machine_.read_bandwidth.reset(); // the rate of other memory
        }
        if (auto const factors = json_["numa_factors"]) read_measured_factors(factors);
        if (auto const table = json_["memory_factors"]) machine_.memory.factors = table.square_table(1, 1e3);
        if (auto const table = json_["stream_factors"])
            machine_.memory.stream_factors = table.square_table(1, 1e3);
        if (auto const speed = json_["speed"]) machine_.speed = speed.number(1e-3, 1e3);
        if (auto const contention = json_["contention"]) machine_.contention = contention.number(1, 1e3);
        if (auto const rate = json_["numa_node_bytes_per_s"])
            machine_.memory.node_bandwidth = rate.number(1, highest_bandwidth);
        if (auto const network = json_["network"]) {
            network.allow_only(network_keys);
            machine_.network = read_network(network, machine_.network.value_or(Network{}));
        }
        return std::move(machine_);
    }

  private:
    // A description, two numbers, or the list that `espalier machine` writes.
    void read_cores() {
        JsonField const topology = json_["topology"], nodes = json_["numa_nodes"];
        bool const listed = nodes.is_list(), counted = !listed && (nodes || json_["cores_per_numa_node"]);
        if (bool(topology) + counted + listed != 1)
            json_.refuse("has no cores, or has them twice; give either \"topology\", or \"numa_nodes\" and "
                         "\"cores_per_numa_node\"");
        machine_.node_of_core.clear();
        if (topology) {
            read_topology(topology);
        } else if (counted) {
            num_nodes_ = nodes.count(1, most_nodes);
            int const cores = json_["cores_per_numa_node"].count(1, most_cores / num_nodes_);
            for (int core = 0; core < num_nodes_ * cores; ++core)
                machine_.node_of_core.push_back(core / cores);
        } else {
            read_node_list(nodes);
        }
    }
    void read_topology(JsonField const& description) {
        try {
            Topology const topology = Topology::synthetic(description.text());
            set_cores(machine_, topology);
        } catch (Error const& error) {
            description.refuse(fmt::format("cannot be used: {}", error.what()));
        }
    }
    void read_node_list(JsonField const& list) {
        auto const nodes = list.items();
        num_nodes_ = static_cast<int>(nodes.size());
        if (num_nodes_ > most_nodes)
            list.refuse(fmt::format("has {} entries; at most {} are possible", num_nodes_, most_nodes));
        for (int node = 0; node < num_nodes_; ++node) {
            auto const cores = nodes[node]["cores"].items();
            machine_.node_of_core.insert(machine_.node_of_core.end(), cores.size(), node);
            auto const distances = items_for(nodes[node]["distances"], num_nodes_, "numbers", "nodes");
            for (int other = 0; other < num_nodes_; ++other)
                machine_.distances.push_back(read_distance(distances[other], other == node));
        }
        if (machine_.num_cores() > most_cores)
            list.refuse(
                fmt::format("has {} cores; at most {} are possible", machine_.num_cores(), most_cores));
    }

    void read_distances(JsonField const& table) {
        machine_.distances = table.square_table(0, most_distance);
        auto const rows = table.items();
        for (std::size_t node = 0; node < rows.size(); ++node) {
            auto const row = rows[node].items();
            for (std::size_t other = 0; other < row.size(); ++other) read_distance(row[other], other == node);
        }
    }
    // A node is nearest to itself.
    static double read_distance(JsonField const& json, bool to_itself) {
        double const distance = json.number(0, most_distance);
        if (to_itself && distance != own_distance)
            json.refuse(fmt::format("is {}; the distance of a node to itself is {}", distance, own_distance));
        if (distance < own_distance)
            json.refuse(fmt::format("is {}; no distance is below {}, that of a node to itself", distance,
                                    own_distance));
        return distance;
    }

    void read_cost_model(JsonField const& json) {
        if (!json) return;
        json.allow_only(cost_model_keys, other_cost_model_keys);
        machine_.network = read_measured_network(json["network"]);
        if (auto const memory = json["memory"]) {
            memory.allow_only(memory_keys);
            if (auto const rate = memory["one_bytes_per_s"])
                machine_.bandwidth = rate.number(1, highest_bandwidth);
            if (auto const rate = memory["all_read_bytes_per_s"])
                machine_.read_bandwidth = rate.number(1, highest_bandwidth);
            if (auto const rate = memory["first_touch_bytes_per_s"]) {
                if (!machine_.network) machine_.network.emplace();
                machine_.network->first_touch_bandwidth = rate.number(1, highest_bandwidth);
            }
        }
        if (!json["models"]) return;
        for (JsonField const& one : json["models"].items()) {
            one.allow_only(model_keys, other_model_keys);
            machine_.models.push_back(read_model(one));
        }
    }

    // The tables of `espalier machine`: dgemm and daxpy show the cost of distance, and daxpy the bandwidth of
    // memory.
    void read_measured_factors(JsonField const& json) {
        if (!json_["numa_nodes"].is_list()) json.refuse("needs a list of \"numa_nodes\"");
        std::vector<int> cores;
        for (JsonField const& core : json["cores"].items())
            cores.push_back(core.count(0, machine_.num_cores() - 1));
        for (JsonField const& kernel : json["kernels"].items()) {
            std::string const name = kernel["kernel"].text();
            if (name == "dgemm") machine_.memory.factors = distance_factors(kernel["alone"], cores);
            if (name == "daxpy") {
                machine_.memory.stream_factors = distance_factors(kernel["alone"], cores);
                read_bandwidths(kernel, cores);
            }
        }
    }
    // factors(i, j) = mean time of the cores of node i on data of node j over that on node i, at least 1.
    [[nodiscard]] std::vector<double> distance_factors(JsonField const& json,
                                                       std::vector<int> const& cores) const {
        std::vector<double> factors;
        auto const rows = items_for(json, std::ssize(cores), "entries", "cores");
        std::vector<std::vector<double>> sums(num_nodes_, std::vector<double>(num_nodes_));
        for (std::size_t i = 0; i < cores.size(); ++i) {
            auto const times = items_for(rows[i], num_nodes_, "numbers", "nodes");
            auto& sum = sums[machine_.node_of_core[cores[i]]];
            for (int data = 0; data < num_nodes_; ++data) sum[data] += times[data].number(0, 1e6);
        }
        for (int node = 0; node < num_nodes_; ++node) {
            double const own = sums[node][node];
            if (!(own > 0)) json.refuse(fmt::format("has no time for any core of NUMA node {}", node));
            for (double const sum : sums[node]) factors.push_back(std::max(1.0, sum / own));
        }
        return factors;
    }
    // y += a x reads two vectors and writes one.
    void read_bandwidths(JsonField const& json, std::vector<int> const& cores) {
        double const order = json["block_order"].number(1, 1e6), unit = json["unit_s"].number(1e-12, 1e6);
        double local = 0;
        for (JsonField const& time :
             items_for(json["all_cores"]["local"], std::ssize(cores), "entries", "cores"))
            local += time.number(1e-6, 1e6);
        if (!machine_.bandwidth) machine_.bandwidth = 3 * order * order * sizeof(double) / unit;
        if (cores.empty()) return;
        double const cores_of_node = static_cast<double>(machine_.num_cores()) / num_nodes_;
        machine_.memory.node_bandwidth =
            cores_of_node * *machine_.bandwidth * static_cast<double>(cores.size()) / local;
    }
    static std::vector<JsonField> items_for(JsonField const& json, std::int64_t count, char const* kind,
                                            char const* what) {
        auto items = json.items();
        if (std::ssize(items) != count)
            json.refuse(
                fmt::format("has {} {}; expected one for each of {} {}", items.size(), kind, count, what));
        return items;
    }

    JsonField json_;
    SimulatedMachine machine_;
    int num_nodes_ = 0;
};

} // namespace

SimulatedMachine parse_machine(std::string_view text, std::string const& source) {
    std::string const file = fmt::format("machine file '{}'", source);
    Json const document = Json::parse(text, file);
    SimulatedMachine machine = MachineReader(JsonField(document, file)).read();
    if (machine.name.empty()) machine.name = source;
    try {
        require_valid(machine.model(1, 0));
    } catch (Error const& error) {
        throw Error(Status::bad_input, fmt::format("{}: {}", file, error.what()));
    }
    return machine;
}

static SimulatedMachine read_machine(std::string const& name) {
    std::ifstream file(name, std::ios::binary);
    std::string text(longest_json + 1, '\0'); // one more byte than is accepted
    file.read(text.data(), std::ssize(text));
    text.resize(file.gcount());
    if (!file.eof() && text.size() <= longest_json)
        throw Error(Status::io_error, fmt::format("machine file '{}' cannot be read", name));
    return parse_machine(text, name);
}

SimulatedMachine find_machine(std::string const& name) {
    if (name.ends_with(".json")) return read_machine(name);
    try {
        return from_topology(Topology::named(name == "here" ? "" : name));
    } catch (Error const& error) {
        if (error.status() != Status::usage) throw;
        throw Error(Status::usage, in_one_line(fmt::format(
                                       "machine '{}' is neither 'here', nor a machine file (.json), nor an "
                                       "XML file of lstopo (.xml), nor a valid description: {}",
                                       name, error.what())));
    }
}

MachineModel machine_model(Topology const& topology, int processes, int threads) {
    MachineModel machine;
    machine.processes = processes;
    machine.threads = threads > 0 ? threads : topology.default_threads();
    require_valid(machine);
    for (WorkerPlace const& place : place_workers(topology, machine.threads, false))
        machine.node_of_thread.push_back(place.node);
    machine.node_distances = topology.distances();
    machine.spare_cores = std::max(0, topology.default_threads() - machine.threads);
    return machine;
}

MachineModel SimulatedMachine::model(int processes, int threads) const {
    if (threads < 0)
        throw Error(Status::usage, fmt::format("machine {}: {} threads; expected at least 0", name, threads));
    if (count > 0 && processes > count)
        throw Error(Status::usage,
                    fmt::format("machine {} has {}, fewer than {}", name, counted(count, "node"),
                                counted(processes, "process", "processes")));
    MachineModel machine;
    machine.processes = processes;
    machine.threads = threads > 0 ? threads : num_cores();
    require_valid(machine);
    machine.cores = std::min(num_cores(), machine.threads);
    for (int t = 0; t < machine.threads; ++t)
        machine.node_of_thread.push_back(node_of_core[machine.core_of(t)]);
    machine.node_distances = distances;
    machine.memory = memory;
    machine.network = network.value_or(Network{});
    machine.spare_cores = num_cores() - machine.cores;
    return machine;
}

CostModel SimulatedMachine::costs(CostModel here, Scalar scalar) const {
    CostModel model = here;
    if (!models.empty()) {
        auto const mine = std::find_if(models.begin(), models.end(), [&](MeasuredModel const& one) {
            return one.scalar == scalar && one.calibration.model.kernels.kind == here.kernels.kind;
        });
        if (mine == models.end())
            throw Error(Status::usage,
                        fmt::format("machine {} has no cost model for scalar {} and kernels {}", name,
                                    to_string(scalar), to_string(here.kernels.kind)));
        // The largest measured number of threads stands for more cores.
        int const measured = mine->contention.empty() ? 1 : mine->contention.back().first;
        CostModel const full = *mine->for_threads(std::min(num_cores(), measured), num_cores());
        model.panel_seconds = full.panel_seconds;
        model.update_seconds = full.update_seconds;
        model.contention = full.contention;
    }
    for (double& seconds : model.panel_seconds.value) seconds /= speed;
    for (double& seconds : model.update_seconds.value) seconds /= speed;
    if (bandwidth) model.bandwidth = *bandwidth;
    if (!is_here) model.threads_per_core = 1;
    if (!is_here && models.empty()) model.contention = 1;
    if (contention) model.contention = *contention;
    if (read_bandwidth)
        model.read_bandwidth = *read_bandwidth / num_cores();
    else if (bandwidth)
        model.read_bandwidth = *bandwidth / model.contention;
    return model;
}

} // namespace espalier
