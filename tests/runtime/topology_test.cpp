#include <chrono>

#include <sched.h>

#include "io/reading.hpp"
#include "runtime/exact_bytes.hpp"
#include "support.hpp"

namespace espalier {
namespace {

std::vector<int> nodes_of_cores(Topology const& machine) {
    std::vector<int> nodes;
    for (Topology::Core const& core : machine.cores()) nodes.push_back(core.node);
    return nodes;
}

TEST(Topology, SyntheticTwoNodesOfFourCores) {
    auto const machine = Topology::synthetic("numa:2 core:4 pu:1");
    ASSERT_EQ(machine.num_cores(), 8);
    ASSERT_EQ(machine.num_nodes(), 2);
    EXPECT_EQ(machine.num_packages(), 1);
    EXPECT_FALSE(machine.is_this_machine());
    EXPECT_FALSE(machine.crowded());
    EXPECT_EQ(machine.default_threads(), 8);
    EXPECT_EQ(nodes_of_cores(machine), (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
    EXPECT_EQ(machine.nodes()[0].cores, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(machine.nodes()[1].cores, (std::vector<int>{4, 5, 6, 7}));
    for (int i = 0; i < 8; ++i) EXPECT_EQ(machine.cores()[i].pu, i);
    EXPECT_EQ(machine.distance(0, 0), 10);
    EXPECT_GT(machine.distance(0, 1), 10);
    EXPECT_EQ(machine.distance(0, 1), machine.distance(1, 0));
}

TEST(Topology, SyntheticWithOneNodeOnly) {
    for (char const* text : {"core:3 pu:1", "core:3", "pu:3", "numa:1 core:3", "3"}) {
        auto const machine = Topology::synthetic(text);
        EXPECT_EQ(machine.num_cores(), 3) << text;
        EXPECT_EQ(machine.num_nodes(), 1) << text;
        EXPECT_EQ(machine.distance(0, 0), 10) << text;
    }
}

TEST(Topology, SyntheticPackagesWithNodesAndCachesInside) {
    auto const machine = Topology::synthetic("package:2 numa:2 l3:1 core:3 pu:2");
    ASSERT_EQ(machine.num_cores(), 12);
    ASSERT_EQ(machine.num_nodes(), 4);
    EXPECT_EQ(machine.num_packages(), 2);
    EXPECT_EQ(nodes_of_cores(machine), (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
    std::vector<int> packages, pus;
    for (Topology::Core const& core : machine.cores()) {
        packages.push_back(core.package);
        pus.push_back(core.pu);
        EXPECT_EQ(core.cache_group, core.node);
        EXPECT_EQ(core.hardware_threads, 2);
    }
    EXPECT_EQ(packages, (std::vector<int>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(pus,
              (std::vector<int>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22})); // the first thread of each core
    ASSERT_EQ(machine.caches().size(), 1u);
    EXPECT_EQ(machine.caches()[0].level, 3);
    EXPECT_EQ(machine.caches()[0].cores, 3);
    EXPECT_LT(machine.distance(0, 1), machine.distance(0, 2)); // same package, other package
}

TEST(Topology, SyntheticAliasesAndMemorySizes) {
    auto const machine = Topology::synthetic(" Socket:2, node:1(memory=4GB),cores:2 , threads:1 ");
    EXPECT_EQ(machine.num_cores(), 4);
    EXPECT_EQ(machine.num_packages(), 2);
    EXPECT_EQ(machine.nodes()[1].memory_bytes, 4'000'000'000u);
    auto const attached = Topology::synthetic("package:2 [numa(memory=1GB)] core:4");
    EXPECT_EQ(attached.num_nodes(), 2);
    EXPECT_EQ(attached.num_cores(), 8);
}

TEST(Topology, NormalizedDescriptionAlwaysHasHardwareThreads) {
    EXPECT_EQ(normalize_synthetic("socket:2 core:4"), "package:2 core:4 pu:1");
    EXPECT_EQ(normalize_synthetic("numa:2 core:4 pu:1"), "numa:2 core:4 pu:1");
    EXPECT_EQ(normalize_synthetic("2 4"), "2 4");
}

TEST(Topology, RejectsBadSyntheticDescriptionsByQuotingThem) {
    for (char const* text :
         {"", "  ", "numa", "numa:0 core:4", "numa:-1 core:2", "foo:3 pu:1", "numa:2 core:4x",
          "numa:999999999999999999999", "numa:2:3", "numa:2 numa:2 pu:1", "pu:2 core:2", "[numa(memory=1GB)",
          "core:2(", ":2", "core:", "numa:300 core:300"})
        EXPECT_TRUE(
            throws_error(Status::usage, '"' + std::string(text) + '"', [&] { Topology::synthetic(text); }));
}

TEST(Topology, RejectsDescriptionsInMessagesOfOneLine) {
    for (char const* text : {"numa:0\ncore:4", "numa(\n)"}) {
        std::string message;
        EXPECT_EQ(status_of([&] { Topology::synthetic(text); }, &message), Status::usage);
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
}

TEST(Topology, XmlFilesThatAreMissingOrNotATopology) {
    for (char const* path : {"/nowhere/machine.xml", "/"})
        EXPECT_TRUE(throws_error(Status::io_error, path, [&] { Topology::from_xml(path); }));
    reading::TemporaryDirectory const folder;
    for (char const* text : {"hello", "<?xml version=\"1.0\"?>\n<html></html>", "<topology", "<topology/>"}) {
        auto const path = folder.write("machine.xml", text);
        EXPECT_TRUE(throws_error(Status::bad_input, path, [&] { Topology::from_xml(path); })) << text;
    }
}

TEST(Topology, XmlFileOfTwoNodesOfUnequalSize) {
    reading::TemporaryDirectory const folder;
    auto const path = folder.write("machine.xml", R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
<object type="Machine" os_index="0" cpuset="7" complete_cpuset="7" nodeset="5" complete_nodeset="5"
  allowed_cpuset="7" allowed_nodeset="5" gp_index="1">
<info name="HostName" value="elsewhere"/>
<object type="Package" os_index="0" cpuset="3" complete_cpuset="3" nodeset="1" complete_nodeset="1" gp_index="2">
<object type="NUMANode" os_index="0" cpuset="3" complete_cpuset="3" nodeset="1" complete_nodeset="1"
  local_memory="1073741824" gp_index="3"/>
<object type="PU" os_index="0" cpuset="1" complete_cpuset="1" nodeset="1" complete_nodeset="1" gp_index="4"/>
<object type="PU" os_index="1" cpuset="2" complete_cpuset="2" nodeset="1" complete_nodeset="1" gp_index="5"/>
</object>
<object type="Package" os_index="1" cpuset="4" complete_cpuset="4" nodeset="4" complete_nodeset="4" gp_index="6">
<object type="NUMANode" os_index="2" cpuset="4" complete_cpuset="4" nodeset="4" complete_nodeset="4"
  local_memory="2147483648" gp_index="7"/>
<object type="PU" os_index="2" cpuset="4" complete_cpuset="4" nodeset="4" complete_nodeset="4" gp_index="8"/>
</object>
</object>
</topology>
)");
    auto const machine = Topology::from_xml(path);
    EXPECT_EQ(machine.machine_name(), "elsewhere");
    EXPECT_FALSE(machine.is_this_machine());
    EXPECT_EQ(machine.num_packages(), 2);
    EXPECT_EQ(nodes_of_cores(machine), (std::vector<int>{0, 0, 1}));
    EXPECT_EQ(machine.nodes()[1].os_index, 2);
    EXPECT_EQ(machine.nodes()[1].package, 1);
    EXPECT_EQ(machine.nodes()[1].memory_bytes, 2147483648u);
}

TEST(Topology, ThisMachineIsSane) {
    auto const machine = Topology::detect();
    ASSERT_GE(machine.num_cores(), 1);
    ASSERT_GE(machine.num_nodes(), 1);
    EXPECT_TRUE(machine.is_this_machine());
    EXPECT_GE(machine.default_threads(), 1);
    EXPECT_LE(machine.default_threads(), machine.num_cores());
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int cores = 0;
    for (Topology::Node const& node : machine.nodes()) {
        EXPECT_FALSE(node.cores.empty());
        for (int core : node.cores) EXPECT_EQ(core, cores++); // compact: node after node
    }
    EXPECT_EQ(cores, machine.num_cores());
    for (Topology::Core const& core : machine.cores()) EXPECT_TRUE(CPU_ISSET(core.pu, &allowed));
    for (std::string const& line : machine.describe()) EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_GE(machine.describe().size(), 5u);
}

TEST(Topology, IsReadOnceUntilTheAffinityChanges) {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int const cores = Topology::detect().num_cores();
    auto const start = std::chrono::steady_clock::now();
    for (int k = 0; k < 500; ++k) EXPECT_EQ(Topology::detect().num_cores(), cores);
    // Reading the files takes a millisecond or more.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(200));
    if (cores < 2) GTEST_SKIP() << "one core";
    int const pu = Topology::detect().cores().back().pu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(pu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    auto const restricted = Topology::detect();
    ASSERT_EQ(sched_setaffinity(0, sizeof allowed, &allowed), 0);
    ASSERT_EQ(restricted.num_cores(), 1);
    EXPECT_EQ(restricted.cores().front().pu, pu);
    EXPECT_EQ(Topology::detect().num_cores(), cores);
}

TEST(Topology, KeepsToTheAffinityOfTheProcess) {
    auto const whole = Topology::detect();
    int const last = whole.cores().back().pu;
    AffinityScope const bound(last); // as mpirun --bind-to hwthread would
    auto const machine = Topology::detect();
    ASSERT_EQ(machine.num_cores(), 1);
    EXPECT_EQ(machine.num_nodes(), 1);
    EXPECT_EQ(machine.cores()[0].pu, last);
    EXPECT_EQ(machine.default_threads(), 1);
}

TEST(Topology, SharesOfUnboundProcessesDoNotOverlap) {
    auto const machine = Topology::synthetic("package:2 numa:1 core:4 pu:1");
    auto const second = machine.share(1, 2);
    ASSERT_EQ(second.num_cores(), 4);
    ASSERT_EQ(second.num_nodes(), 1);
    EXPECT_EQ(second.nodes()[0].os_index, 1);
    EXPECT_EQ(second.nodes()[0].cores, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(second.cores()[0].pu, 4);
    EXPECT_FALSE(second.crowded());

    std::vector<int> pus;
    for (int part = 0; part < 3; ++part) {
        auto const third = machine.share(part, 3);
        for (Topology::Core const& core : third.cores()) pus.push_back(core.pu);
    }
    EXPECT_EQ(pus, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    auto const middle = machine.share(1, 3); // across the border of the nodes
    EXPECT_EQ(middle.num_nodes(), 2);
    EXPECT_EQ(middle.distance(0, 1), machine.distance(0, 1));

    for (int part = 0; part < 20; ++part) {
        auto const crowd = machine.share(part, 20);
        EXPECT_EQ(crowd.num_cores(), 1);
        EXPECT_TRUE(crowd.crowded());
    }
    for (auto const& [part, parts] : {std::pair{2, 2}, {-1, 2}, {0, 0}})
        EXPECT_EQ(status_of([&, part = part, parts = parts] { (void)machine.share(part, parts); }),
                  Status::usage);
}

TEST(Topology, DescribesItselfInLines) {
    std::string const machine = "package:2 numa:1(memory=8GiB) l3:1(size=32MiB) core:4 pu:2";
    EXPECT_EQ(
        Topology::synthetic(machine).describe(),
        (std::vector<std::string>{
            "machine     synthetic " + machine + " (not this machine: workers are not bound)",
            "packages    2", "cores       8, 2 hardware threads each", "data caches L3 32 MiB for 4 cores",
            "memory      2 NUMA nodes", "  node 0: package 0, cores 0-3 (CPUs 0,2,4,6), 8 GiB",
            "  node 1: package 1, cores 4-7 (CPUs 8,10,12,14), 8 GiB", "distances   relative, 10 is local",
            "  from node 0: 10 22", "  from node 1: 22 10"}));
}

TEST(Topology, FormatsRangesAndSizes) {
    EXPECT_EQ(format_ranges({}), "");
    EXPECT_EQ(format_ranges({3}), "3");
    EXPECT_EQ(format_ranges({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
    std::pair<std::uint64_t, char const*> const texts[] = {{0, "0 B"},
                                                           {1023, "1023 B"},
                                                           {1024, "1 KiB"},
                                                           {1536, "1.50 KiB"},
                                                           {25769803776u, "24 GiB"},
                                                           {25276502016u, "23.5 GiB"},
                                                           {1048575, "1.00 MiB"},
                                                           {~std::uint64_t{0}, "16 EiB"}};
    for (auto const& [bytes, text] : texts) EXPECT_EQ(format_bytes(bytes), text);
    EXPECT_EQ(exact_bytes(1), "1 byte");
    EXPECT_EQ(exact_bytes(1023), "1023 bytes");
    EXPECT_EQ(exact_bytes(15168), "15168 bytes (14.8 KiB)");
}

TEST(Topology, NamesChooseThisMachineAFileOrADescription) {
    EXPECT_EQ(Topology::named("").num_cores(), machine().num_cores());
    EXPECT_EQ(Topology::named("numa:2 core:3").num_cores(), 6);
    EXPECT_EQ(status_of([] { (void)Topology::named("no such file.xml"); }), Status::io_error);
}

} // namespace
} // namespace espalier
