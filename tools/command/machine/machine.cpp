// `espalier machine`: the topology of this machine, the speed of its BLAS, and its NUMA factors.
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/blas.hpp"
#include "machine/machine_file.hpp"
#include "parts.hpp"
#include "runtime/process_limits.hpp"
#include "runtime/topology.hpp"
#include "tools/command/common/help.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/common/subcommand.hpp"
#include "tools/command/solve/options.hpp"

namespace espalier::command {

namespace {

struct MachineOptions {
    Options library;        ///< Only the topology is used.
    std::string simulate;   ///< A machine as in Simulation::machine; empty: this one is measured.
    bool calibrate = false; ///< Measure the cost model thoroughly and keep it.
    bool roofline = false;  ///< Measure the kernels by the width of panels.
    Index dgemm_order = 1000;
    std::string picture; ///< File for the NUMA factors: .svg or .png; empty: none.
    std::string json;    ///< Empty: none; "-": standard output.
    bool quiet = false;
};

using Json = nlohmann::ordered_json;

Json machine_json(Topology const& topology, BlasInfo const& blas, DgemmRate const& dgemm,
                  std::optional<NumaFactors> const& factors, std::optional<Roofline> const& roofline,
                  std::optional<CalibrationResult> const& calibration) {
    Json nodes = Json::array();
    for (int node = 0; node < topology.num_nodes(); ++node) {
        auto const& facts = topology.nodes()[node];
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
    return {{"espalier", ESPALIER_VERSION},
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
            {"dgemm", {{"order", dgemm.order}, {"time_s", dgemm.best_s}, {"gflops", dgemm.gflops()}}},
            {"numa_factors", factors ? numa_factors_json(*factors) : Json(nullptr)},
            {"roofline", roofline ? roofline_json(*roofline) : Json(nullptr)},
            {"cost_model", calibration ? calibration_json(*calibration) : Json(nullptr)}};
}

[[noreturn]] void refuse_picture() {
    throw Error(Status::usage,
                "--picture draws the NUMA factors, which can be measured only on this machine");
}

// Only the factors of the model are known of such a machine.
void show_predicted(MachineOptions const& options) {
    OutputFile const json(options.json);
    SimulatedMachine const machine = find_machine(options.simulate);
    NumaFactors const factors = predicted_numa_factors(machine);
    if (!options.quiet && options.json != "-")
        print(fmt::format("machine     {}: {}\n", machine.name, counted(machine.num_cores(), "core")) +
              numa_factors_text(factors));
    if (json)
        json.write_text(Json{{"espalier", ESPALIER_VERSION},
                             {"name", machine.name},
                             {"numa_factors", numa_factors_json(factors)}}
                            .dump(2, ' ', false, Json::error_handler_t::replace) +
                        "\n");
}

void check_machine(MachineOptions const& options) {
    if (!options.simulate.empty() && (options.calibrate || options.roofline ||
                                      !options.library.topology.empty() || !options.picture.empty()))
        throw Error(Status::usage,
                    "--simulate shows the model of a machine that is not measured; it cannot be "
                    "combined with --topology, --calibrate, --roofline or --picture");
    if ((options.calibrate || options.roofline) && !options.library.topology.empty())
        throw Error(Status::usage,
                    fmt::format("--{} measures this machine; it cannot be combined with --topology",
                                options.calibrate ? "calibrate" : "roofline"));
    std::vector<NamedPath> const inputs{{"--topology", machine_file(options.library.topology)},
                                        {"--simulate", machine_file(options.simulate)}};
    refuse_same_files({{"--json", options.json}, {"--picture", options.picture}}, inputs);
    require_readable(inputs);
    if (options.picture.empty()) return;
    if (!options.library.topology.empty()) refuse_picture();
    check_picture(options.picture);
}

void show_machine(MachineOptions const& options) {
    if (!options.simulate.empty()) return show_predicted(options);
    bool const elsewhere = !options.library.topology.empty();
    OutputFile const json(options.json), picture(options.picture);
    Topology const topology = Topology::named(options.library.topology);
    if (picture && !topology.is_this_machine()) refuse_picture();
    BlasInfo const blas = blas_info();
    DgemmRate const dgemm = measure_dgemm(options.dgemm_order);
    std::optional<NumaFactors> factors;
    bool const wanted = !options.quiet || json || picture;
    if (wanted && topology.is_this_machine()) factors = blas_numa_factors(topology);
    bool const prints = !options.quiet && options.json != "-";
    std::optional<Roofline> roofline;
    if (options.roofline) roofline = measure_roofline();
    std::optional<CalibrationResult> calibration;
    if (options.calibrate) calibration = calibrate(prints);
    if (prints) {
        for (std::string const& line : topology.describe()) print(line + "\n");
        char const* const where = elsewhere ? " here" : "";
        print(fmt::format("BLAS        {} ({} kernels){}\n", blas.config, blas.core, where));
        if (std::string const advice = blas_advice(); !advice.empty())
            print(fmt::format("  note      {}\n", advice));
        print(fmt::format("dgemm       {:.1f} GF/s on one core{}, order {}\n", dgemm.gflops(), where,
                          dgemm.order));
        print(factors ? numa_factors_text(*factors)
                      : "NUMA factors not measured: the machine is not this one\n");
        if (roofline) print(roofline_text(*roofline));
        if (calibration) print(calibration_text(*calibration));
    }
    if (json)
        json.write_text(machine_json(topology, blas, dgemm, factors, roofline, calibration)
                            .dump(2, ' ', false, Json::error_handler_t::replace) +
                        "\n");
    if (picture)
        picture.write_text(numa_factors_picture(*factors, topology, options.picture.ends_with(".svg")));
}

void declare_machine(OptionSet& set, MachineOptions& options) {
    OptionRow topology = option_row("topology");
    topology.help = "machine to show: an XML file of lstopo, or a description such as 'numa:2 core:8'";
    set.library(options.library, topology);
    set.text(
        {"--simulate", "MACHINE",
         "show the NUMA factors that simulations on this machine assume; spelled as for 'espalier simulate "
         "--machine'"},
        options.simulate);
    set.group("Measurements");
    set.flag(
        {"--calibrate", "", "measure the cost model of this machine thoroughly, and keep it for later runs"},
        options.calibrate);
    set.flag({"--roofline", "",
              "measure the kernels of a factorization by the width of panels, and compare them with the "
              "limits of a core"},
             options.roofline);
    set.count({"--dgemm-order", "N", "order of the matrices that are multiplied [1000]"}, options.dgemm_order,
              1, 20000);
    add_picture(set, options.picture, "the NUMA factors");
    add_json(set, options.json);
    add_quiet(set, options.quiet);
}

std::string machine_help() {
    return R"(Examples:
  espalier machine
  espalier machine --picture factors.png --json machine.json
  espalier machine --roofline
  espalier machine --topology 'package:2 numa:4 core:8'
  espalier machine --simulate cluster.json

NUMA factors: the time for a block whose data lie on another node, or while all cores work, relative
to the fastest core alone.

)" + exit_codes();
}

} // namespace

Subcommand machine_command() {
    Subcommand command = make_subcommand<MachineOptions>(
        "machine", "show cores, memory and BLAS of this machine, and their speed", machine_help,
        declare_machine, check_machine, show_machine);
    command.takes_file = false;
    return command;
}

} // namespace espalier::command
