// Machine files: the keys that are read, and the errors of wrong files.
#include "machine/machine_file.hpp"

#include "common/mutations.hpp"
#include "core/status_of.hpp"
#include "machine/cost_model_store.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace espalier {
namespace {

/// Whether the text is refused with this message, which names the file.
::testing::AssertionResult is_refused(std::string const& text, std::string const& part) {
    auto const parse = [&] { parse_machine(text, "m.json"); };
    auto const named = throws_error(Status::bad_input, "m.json", parse);
    return named ? throws_error(Status::bad_input, part, parse) : named;
}

std::string terms_json(auto const& names) {
    std::string text;
    for (std::string_view const name : names)
        text += (text.empty() ? "\"" : ", \"") + std::string(name) + "\": 1e-9";
    return "{" + text + "}";
}

TEST(MachineFile, ReadsEveryKey) {
    auto const machine =
        parse_machine(R"({"name": "big", "nodes": 4, "numa_nodes": 2, "cores_per_numa_node": 3,
        "distances": [[10, 21], [21, 10]], "memory_factors": [[1, 1.2], [1.3, 1]],
        "stream_factors": [[1, 2], [3, 1]], "speed": 2, "contention": 1.1,
        "core_bytes_per_s": 2e10, "numa_node_bytes_per_s": 5e10, "network": {"latency_s": 1e-6, "bytes_per_s": 2e10},
        "comment": "anything"})",
                      "m.json");
    EXPECT_EQ(machine.name, "big");
    EXPECT_EQ(machine.node_of_core, (std::vector<int>{0, 0, 0, 1, 1, 1}));
    MachineModel const model = machine.model(4, 0);
    EXPECT_EQ(model.num_workers(), 24);
    EXPECT_TRUE(throws_error(Status::usage, "machine big has 4 nodes, fewer than 5 processes",
                             [&] { (void)machine.model(5, 0); }));
    SimulatedMachine const one =
        parse_machine(R"({"topology": "core:2", "nodes": 1, "name": "m"})", "m.json");
    EXPECT_TRUE(throws_error(Status::usage, "machine m has 1 node, fewer than 2 processes",
                             [&] { (void)one.model(2, 0); }));
    EXPECT_EQ(model.memory_factor(1, 0), 1.3);
    EXPECT_EQ(model.stream_factor(1, 0), 3);
    EXPECT_EQ(model.node_distances[1], 21);
    EXPECT_EQ(model.network.latency, 1e-6);
    EXPECT_EQ(model.memory.node_bandwidth, 5e10);
    CostModel here;
    here.contention = 1.5;
    CostModel const costs = machine.costs(here, Scalar::d);
    EXPECT_DOUBLE_EQ(costs.panel(100, 50), here.panel(100, 50) / 2 * 1.1 / 1.5);
    EXPECT_EQ(costs.bandwidth, 2e10);
}

TEST(MachineFile, ThreadsInExcessOfTheCoresShareThem) {
    SimulatedMachine const machine = find_machine("numa:2 core:2");
    MachineModel const four = machine.model(1, 4), six = machine.model(2, 6), three = machine.model(1, 3);
    EXPECT_FALSE(four.shares_cores());
    EXPECT_TRUE(six.shares_cores());
    EXPECT_EQ(six.node_of_thread, (std::vector<int>{0, 0, 0, 1, 1, 1}));
    std::vector<int> cores;
    for (int w = 0; w < 12; ++w) cores.push_back(six.core_of(w));
    EXPECT_EQ(cores, (std::vector<int>{0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7}));
    EXPECT_EQ(three.node_of_thread, (std::vector<int>{0, 0, 1}));
    EXPECT_EQ(three.spare_cores, 1);
    EXPECT_EQ(six.spare_cores, 0);
    EXPECT_EQ(status_of([&] { (void)machine.model(1, -1); }), Status::usage);
    EXPECT_EQ(status_of([&] { (void)machine.model(2, 1 << 20); }), Status::usage);
}

TEST(MachineFile, SurvivesAnyChange) {
    std::string const files[] = {
        R"({"name": "big", "nodes": 4, "numa_nodes": 2, "cores_per_numa_node": 3,
        "distances": [[10, 21], [21, 10]], "memory_factors": [[1, 1.2], [1.3, 1]],
        "stream_factors": [[1, 2], [3, 1]], "speed": 2, "contention": 1.1, "core_bytes_per_s": 2e10,
        "numa_node_bytes_per_s": 5e10, "network": {"latency_s": 1e-6, "bytes_per_s": 2e10}, "comment": "any"})",
        R"({"topology": "package:2 numa:2 core:2", "cost_model": {"network": {"source": "default"}}})"};
    for (std::string const& text : files) {
        int const refused = test::refused_mutations(text, [](std::string const& changed) {
            SimulatedMachine const machine = parse_machine(changed, "m.json");
            MachineModel const model = machine.model(1, 0);
            EXPECT_GE(model.num_workers(), 1);
            EXPECT_TRUE(std::isfinite(machine.costs({}, Scalar::d).panel(10, 5)));
        });
        EXPECT_GT(refused, 0);
    }
}

TEST(MachineFile, ReadsADescriptionAndItsDistances) {
    auto const machine = parse_machine(R"({"topology": "package:2 numa:2 core:2"})", "m.json");
    EXPECT_EQ(machine.num_cores(), 8);
    MachineModel const model = machine.model(1, 8);
    EXPECT_EQ(model.memory_factor(0, 0), 1);
    EXPECT_GT(model.memory_factor(0, 1), 1);
    EXPECT_GT(model.memory_factor(0, 2), model.memory_factor(0, 1));
    EXPECT_EQ(model.stream_factor(0, 0), 1);
    EXPECT_EQ(model.stream_factor(0, 2), model.node_distances[2] / 10);
    EXPECT_EQ(find_machine("package:2 numa:2 core:2").model(1, 0).node_distances, model.node_distances);
}

TEST(MachineFile, ReadsTheCostModelOfAnotherMachine) {
    std::string const text =
        R"({"topology": "core:2", "cost_model": {"models": [{"scalar": "z", "kernels": "lu", "panel_s": )" +
        terms_json(panel_term_names) + R"(, "update_s": )" + terms_json(update_term_names) + "}]}}";
    auto const machine = parse_machine(text, "m.json");
    CostModel const here = default_cost_model(Scalar::z, KernelKind::lu);
    CostModel const costs = machine.costs(here, Scalar::z);
    EXPECT_EQ(costs.panel_seconds[PanelTerm::call], 1e-9);
    EXPECT_EQ(costs.update_seconds[UpdateTerm::flop], 1e-9);
    EXPECT_THROW(static_cast<void>(machine.costs(default_cost_model(Scalar::d, KernelKind::lu), Scalar::d)),
                 Error);
    std::string missing = text;
    missing.replace(missing.find("solve_flop"), 10, "solve_flip");
    EXPECT_TRUE(is_refused(missing, "cost_model.models.0.panel_s.solve_flop\" is missing"));
}

TEST(MachineFile, ReadsAMeasuredNetwork) {
    auto const latency = [](std::string const& source, std::string const& more) {
        auto const machine =
            parse_machine(R"({"topology": "core:2", "cost_model": {"network": {"source": ")" + source +
                              R"(", "latency_s": 0.5, "bytes_per_s": 7}})" + more + "}",
                          "m.json");
        return machine.model(2, 1).network.latency;
    };
    EXPECT_EQ(latency("measured", ""), 0.5);
    EXPECT_EQ(latency("default", ""), Network{}.latency);
    EXPECT_EQ(latency("measured", R"(, "network": {"latency_s": 0.25})"), 0.25);
}

TEST(MachineFile, ReadsWhatTheStoreOfCostModelsWrites) {
    MeasuredModel model;
    model.scalar = Scalar::d;
    model.calibration.model = default_cost_model(Scalar::d, KernelKind::lu);
    model.contention = {{2, 1.5}};
    MachineCosts costs;
    costs.memory = {.one = 1e10, .all = 2e10, .read_one = 3e10, .read_all = 4e10, .first_touch = 5e9};
    costs.put(model);
    CostModel const here = model.calibration.model;
    auto const with_network = [&](std::string const& more) {
        std::string const text = R"({"topology": "core:2", "cost_model": )" +
                                 to_json(costs, {"cpu", 2, "blas", "core", "0"}) + more + "}";
        auto const machine = parse_machine(text, "m.json");
        EXPECT_EQ(machine.costs(here, Scalar::d).bandwidth, 1e10);
        EXPECT_EQ(machine.costs(here, Scalar::d).contention, 1.5);
        return machine.model(2, 1).network;
    };
    EXPECT_EQ(with_network("").first_touch_bandwidth, 5e9);
    EXPECT_EQ(with_network("").latency, Network{}.latency);
    costs.network = Network{.latency = 0.5, .bandwidth = 7};
    EXPECT_EQ(with_network("").first_touch_bandwidth, 5e9);
    EXPECT_EQ(with_network("").latency, 0.5);
    EXPECT_EQ(with_network(R"(, "network": {"first_touch_bytes_per_s": 6e9})").first_touch_bandwidth, 6e9);
}

// A shortened output of `espalier machine --json` on two nodes.
constexpr char const* measured =
    R"({"espalier": "0.1.0", "name": "host", "cpu": "x", "cores": 4, "packages": 1,
    "numa_nodes": [{"os_index": 0, "package": 0, "memory_bytes": 1, "cores": [0, 1], "distances": [10, 20]},
                   {"os_index": 1, "package": 0, "memory_bytes": 1, "cores": [2, 3], "distances": [20, 10]}],
    "caches": [{"level": 3, "bytes": 1, "cores": 4}], "cpu_quota": null, "default_threads": 4,
    "available_memory_bytes": 1, "blas": {"config": "c", "core": "k"}, "dgemm": {"order": 9, "time_s": 1, "gflops": 1},
    "numa_factors": {"cores": [0, 1, 2, 3], "which_cores": "every core", "region_bytes": 1, "notes": [], "kernels": [
      {"kernel": "daxpy", "block_order": 100, "unit_s": 1e-5, "alone": [[1, 2], [1, 2], [2, 1], [2, 1]],
       "all_cores": {"local": [1.5, 1.5, 1.5, 1.5], "one_node": [4, 4, 4, 4], "worst": [4, 4, 4, 4]}},
      {"kernel": "dgemm", "block_order": 100, "unit_s": 1e-5, "alone": [[1, 1.1], [1, 1.3], [1.5, 1], [1.5, 1]],
       "all_cores": {"local": [1, 1, 1, 1], "one_node": [1, 1, 1, 1], "worst": [1, 1, 1, 1]}}]},
    "cost_model": null})";

TEST(MachineFile, ReadsTheOutputOfTheMachineCommand) {
    auto const machine = parse_machine(measured, "m.json");
    EXPECT_EQ(machine.node_of_core, (std::vector<int>{0, 0, 1, 1}));
    MachineModel const model = machine.model(1, 0);
    EXPECT_DOUBLE_EQ(model.memory_factor(0, 1), 1.2);
    EXPECT_DOUBLE_EQ(model.memory_factor(1, 0), 1.5);
    EXPECT_DOUBLE_EQ(model.stream_factor(1, 0), 2);
    EXPECT_DOUBLE_EQ(machine.costs({}, Scalar::d).bandwidth, 24e9); // 3 x 100 x 100 x 8 bytes in 10 us
    EXPECT_DOUBLE_EQ(model.memory.node_bandwidth, 2 * 24e9 / 1.5);
}

TEST(MachineFile, NamesTheFileAndTheKeyAtFault) {
    auto const expect = [](std::string const& text, std::string const& part) {
        EXPECT_TRUE(is_refused(text, part)) << text;
    };
    auto const with_cores = [](std::string const& more) { return R"({"topology": "core:2", )" + more + "}"; };
    expect("{", "line 1: this is not JSON");
    expect(with_cores("\n\"speed\": 1e999"), "line 2: this is not JSON: real number overflow near '1e999'");
    expect(with_cores(R"("network.latency_s": 1)"),
           "unknown key \"network.latency_s\"; an object within an object is written as");
    expect(with_cores(R"("speed": 1, "speed": 1)"), "duplicate object key near '\"speed\"'");
    expect(std::string(std::size_t{4} << 20, ' ') + "{}", "larger than 4 MiB");
    expect(with_cores(R"("distances": 5)"), "\"distances\" is 5, not a list");
    expect(with_cores(R"("distances": [[12]])"),
           "\"distances.0.0\" is 12; the distance of a node to itself is 10");
    expect(R"({"topology": "numa:2 core:2", "distances": [[10, 21], [0, 10]]})",
           "\"distances.1.0\" is 0; no distance is below 10, that of a node to itself");
    expect(R"({"numa_nodes": [{"cores": [0], "distances": [10, 9]}, {"cores": [1], "distances": [20, 10]}]})",
           "\"numa_nodes.0.distances.1\" is 9; no distance is below 10");
    expect(with_cores(R"("speed": true)"), "\"speed\" is true, not a number from");
    expect(R"({"numa_nodes": 1025, "cores_per_numa_node": 1})",
           "\"numa_nodes\" is 1025, not a number from 1 to 1024");
    expect(R"({"topology": "numa:1025 core:1"})", "more than 1024 NUMA nodes");
    expect("[1]", "the document is a list, not an object");
    expect("{}", "the document has no cores");
    expect(with_cores(R"("numa_nodes": 2, "cores_per_numa_node": 1)"), "has them twice");
    expect(R"({"numa_nodes": 2})", "\"cores_per_numa_node\" is missing; expected a number from 1 to 32768");
    expect(R"({"cores_per_numa_node": 2})", "\"numa_nodes\" is missing; expected a number from 1 to 1024");
    expect(R"({"numa_nodes": 1.5, "cores_per_numa_node": 1})", "\"numa_nodes\" is 1.5, not a whole number");
    expect(R"({"numa_nodes": 100000, "cores_per_numa_node": 1})",
           "\"numa_nodes\" is 100000, not a number from");
    expect(R"({"topology": "numa:x"})", "\"topology\"");
    expect(R"({"topology": 7})", "\"topology\" is 7, not a text");
    expect(with_cores(R"("sped": 1)"), "unknown key \"sped\"; the keys are name, nodes");
    expect(with_cores(R"("sp\ned": 1)"), R"(unknown key "sp\ned"; the keys are)");
    expect(with_cores(R"("speed": "fast")"), "\"speed\" is \"fast\", not a number from");
    expect(with_cores(R"("speed": 0)"), "\"speed\" is 0");
    expect(with_cores(R"("network": {"latency": 1})"),
           "unknown key \"network.latency\"; the keys are latency_s");
    expect(with_cores(R"("network": {"bytes_per_s": [1]})"),
           "\"network.bytes_per_s\" is a list, not a number from");
    expect(with_cores(R"("memory_factors": [[0.5]])"), "\"memory_factors.0.0\" is 0.5");
    expect(R"({"topology": "numa:2 core:2", "memory_factors": [[1, 2], [1]]})",
           "\"memory_factors.1\" has 1 numbers; expected 2");
    expect(R"({"topology": "numa:2 core:2", "memory_factors": [[1, 2, 3], [1, 1]]})",
           "\"memory_factors.0\" has 3 numbers; expected 2");
    expect(R"({"topology": "numa:2 core:2", "memory_factors": [[1]]})",
           "memory factors in a table of 1 numbers");
    expect(R"({"topology": "numa:2 core:2", "stream_factors": [[1]]})",
           "stream factors in a table of 1 numbers");
    expect(R"({"topology": "core:2", "numa_factors": {"cores": [0]}})", "\"numa_factors\" needs a list");
    expect(with_cores(R"("cost_model": {"models": [{"scalar": "q"}]})"), "it can be s, d, c, z");
}

// Kernels are half as fast while four threads compute.
std::string with_contention(int cores) {
    return R"({"topology": "core:)" + std::to_string(cores) +
           R"(", "cost_model": {"memory": {"one_bytes_per_s": 3e10, "all_bytes_per_s": 9e10},
               "models": [{"scalar": "d", "kernels": "cholesky", "panel_s": )" +
           terms_json(panel_term_names) + ", \"update_s\": " + terms_json(update_term_names) +
           R"(, "contention": [{"threads": 2, "factor": 1.5}, {"threads": 4, "factor": 2}]}]}})";
}

TEST(MachineFile, ReadsContentionAndMemoryOfTheCostModel) {
    CostModel here;
    here.contention = 7; // has no influence
    std::pair<int, double> const expected[] = {{1, 1}, {2, 1.5}, {3, 1.75}, {4, 2}, {8, 2}};
    for (auto const& [cores, contention] : expected) {
        auto const machine = parse_machine(with_contention(cores), "m.json");
        EXPECT_EQ(machine.costs(here, Scalar::d).contention, contention) << cores;
        EXPECT_EQ(machine.costs(here, Scalar::d).bandwidth, 3e10);
    }
    std::string own = with_contention(4);
    own.insert(1, R"("contention": 1.25, "core_bytes_per_s": 1e10, )");
    EXPECT_EQ(parse_machine(own, "m.json").costs(here, Scalar::d).contention, 1.25);
    EXPECT_EQ(parse_machine(own, "m.json").costs(here, Scalar::d).bandwidth, 1e10);
    // Sweeps read at the measured rate of all cores; without it, at that of one core, less contention.
    EXPECT_EQ(parse_machine(with_contention(4), "m.json").costs(here, Scalar::d).read_bandwidth, 3e10 / 2);
    EXPECT_EQ(parse_machine(own, "m.json").costs(here, Scalar::d).read_bandwidth, 1e10 / 1.25);
    std::string read = with_contention(4);
    read.insert(read.find("\"one_bytes_per_s\""), R"("all_read_bytes_per_s": 6e10, )");
    EXPECT_EQ(parse_machine(read, "m.json").costs(here, Scalar::d).read_bandwidth, 6e10 / 4);
    read.insert(1, R"("core_bytes_per_s": 1e10, )");
    EXPECT_EQ(parse_machine(read, "m.json").costs(here, Scalar::d).read_bandwidth, 1e10 / 2);
    std::string wrong = with_contention(4);
    wrong.replace(wrong.find("\"threads\": 4"), 12, "\"threads\": 2");
    EXPECT_TRUE(is_refused(wrong, "contention.1.threads\" is 2"));
}

TEST(MachineFile, RefusesMoreProcessesThanThereAreMachines) {
    auto const machine = parse_machine(R"({"topology": "core:4", "nodes": 2})", "m.json");
    EXPECT_EQ(machine.model(2, 5).num_workers(), 10);
    EXPECT_THROW(static_cast<void>(machine.model(3, 4)), Error);
    EXPECT_THROW(find_machine("missing.json"), Error);
    EXPECT_THROW(find_machine("core:many"), Error);
    EXPECT_TRUE(find_machine("here").is_here);
}

} // namespace
} // namespace espalier
