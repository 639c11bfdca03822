// `espalier machine`: what the solver sees of this machine, and how fast its BLAS multiplies.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "core/timer.hpp"
#include "kernels/blas.hpp"
#include "output_file.hpp"
#include "runtime/process_limits.hpp"
#include "runtime/topology.hpp"
#include "version.hpp"

namespace espalier::command {

namespace {

using Json = nlohmann::ordered_json;

struct DgemmRate {
    Index order = 0;
    double best_s = std::numeric_limits<double>::infinity();
    [[nodiscard]] double gflops() const {
        auto const n = static_cast<double>(order);
        return 2 * n * n * n / best_s / 1e9;
    }
};

// C = A B on one core: the best of several products, for half a second or three products.
DgemmRate measure_dgemm(Index order) {
    auto const entries = static_cast<std::size_t>(order) * static_cast<std::size_t>(order);
    std::vector<double> const a(entries, 0.5);
    std::vector<double> const b(entries, 0.25);
    std::vector<double> c(entries);
    set_blas_threads(1);
    DgemmRate rate{order};
    Timer whole;
    for (int run = 0; run < 4 || whole.seconds() < 0.5; ++run) {
        Timer timer;
        gemm<double>(Op::none, Op::none, 1.0, {a.data(), order, order, order},
                     {b.data(), order, order, order}, 0.0, {c.data(), order, order, order});
        if (run > 0) rate.best_s = std::min(rate.best_s, timer.seconds()); // the first warms up
    }
    return rate;
}

Json machine_json(Topology const& topology, BlasInfo const& blas, DgemmRate const& dgemm) {
    Json nodes = Json::array();
    for (int node = 0; node < topology.num_nodes(); ++node) {
        auto const& facts = topology.nodes()[static_cast<std::size_t>(node)];
        Json distances = Json::array();
        for (int to = 0; to < topology.num_nodes(); ++to) distances.push_back(topology.distance(node, to));
        nodes.push_back({{"os_index", facts.os_index},
                         {"package", facts.package},
                         {"memory_bytes", facts.memory_bytes},
                         {"cores", facts.cores},
                         {"distances", distances}});
    }
    Json caches = Json::array();
    for (auto const& cache : topology.caches())
        caches.push_back({{"level", cache.level}, {"bytes", cache.bytes}, {"cores", cache.cores}});
    return {{"espalier", version},
            {"name", topology.machine_name()},
            {"cpu", topology.cpu_model()},
            {"cores", topology.num_cores()},
            {"packages", topology.num_packages()},
            {"numa_nodes", nodes},
            {"caches", caches},
            {"cpu_quota", cpu_quota()}, // null without a quota: infinity is not a JSON number
            {"default_threads", topology.default_threads()},
            {"available_memory_bytes", available_memory_bytes()},
            {"blas", {{"config", blas.config}, {"core", blas.core}}},
            {"dgemm", {{"order", dgemm.order}, {"time_s", dgemm.best_s}, {"gflops", dgemm.gflops()}}}};
}

} // namespace

void machine(MachineOptions const& options) {
    auto const json = options.json.empty() ? std::nullopt : std::optional<OutputFile>(options.json);
    Topology const topology = Topology::detect();
    BlasInfo const blas = blas_info();
    DgemmRate const dgemm = measure_dgemm(options.dgemm_order);
    if (!options.quiet && options.json != "-") {
        for (std::string const& line : topology.describe()) fmt::print("{}\n", line);
        fmt::print("BLAS        {} ({} kernels)\n", blas.config, blas.core);
        fmt::print("dgemm       {:.1f} GF/s on one core, order {}\n", dgemm.gflops(), dgemm.order);
    }
    if (json)
        json->write_text(
            machine_json(topology, blas, dgemm).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

} // namespace espalier::command
