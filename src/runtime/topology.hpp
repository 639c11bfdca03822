// The machine as workers see it: cores, each through one hardware thread, grouped by NUMA node. Input: this
// machine (as hwloc reports it, without the cores that affinity, cgroups or mpirun exclude), a synthetic
// description, or an hwloc XML file. Output: plain data, so that policies and the simulator behave alike on a
// machine that is not available.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

class Topology {
  public:
    /// A core. Cores are numbered from 0, node by node: those of one NUMA node are consecutive.
    struct Core {
        int pu = 0;               ///< OS index of the hardware thread a worker on this core is bound to.
        int node = 0;             ///< Index into nodes().
        int package = 0;          ///< Socket, numbered from 0.
        int cache_group = 0;      ///< Cores with the same number share their last-level cache.
        int hardware_threads = 1; ///< Hardware threads of the core that the process may use.
    };

    /// A NUMA node that has at least one core. Numbered from 0 without gaps; the system's number is os_index.
    struct Node {
        int os_index = 0;
        int package = 0;
        std::uint64_t memory_bytes = 0; ///< Installed; 0 when unknown.
        std::vector<int> cores;         ///< Increasing core numbers.
    };

    /// A data or unified cache on the way from core 0 to memory.
    struct Cache {
        int level = 0;
        std::uint64_t bytes = 0;
        int cores = 1; ///< Cores that share it.
    };

    /// The cores this process may use: the affinity of the calling thread (as set by mpirun, taskset or
    /// numactl) and the cgroup's cpuset. The variables HWLOC_XMLFILE and HWLOC_SYNTHETIC replace the machine,
    /// as in every program that uses hwloc. The machine is read once, and again if the affinity or a variable
    /// has changed; the CPU quota of the cgroup is that of the last reading. Thread-safe. Error{internal}
    /// when the machine cannot be read.
    static Topology detect();

    /// A synthetic machine in the notation of hwloc: "package:2 numa:2 l3:1 core:4 pu:2". Items may be
    /// separated by blanks or commas; socket, node and thread are accepted for package, numa and pu, and a
    /// missing pu level means one per core. Error{usage} quotes a description that is invalid, or that has
    /// more than 16384 hardware threads, 1024 NUMA nodes, or 2048 objects of a kind beside each other.
    static Topology synthetic(std::string const& description);

    /// A machine saved by `lstopo machine.xml`. Error{io_error} when the file cannot be read, {bad_input}
    /// when it is not an hwloc topology.
    static Topology from_xml(std::string const& path);

    /// The machine that an option names: this machine if the name is empty, the machine in a file if the name
    /// ends in .xml, otherwise the machine of a synthetic description. Errors as above.
    static Topology named(std::string const& name);

    /// The `part`-th of `parts` equal ranges of cores, for processes that share a host and were not bound by
    /// their launcher. If there are more parts than cores, cores are shared and crowded() is true.
    /// Error{usage} unless 0 <= part < parts.
    [[nodiscard]] Topology share(int part, int parts) const;

    [[nodiscard]] std::vector<Core> const& cores() const { return cores_; }
    [[nodiscard]] std::vector<Node> const& nodes() const { return nodes_; }
    [[nodiscard]] std::vector<Cache> const& caches() const { return caches_; } ///< By level; may be empty.
    [[nodiscard]] int num_cores() const { return static_cast<int>(cores_.size()); }
    [[nodiscard]] int num_nodes() const { return static_cast<int>(nodes_.size()); }
    [[nodiscard]] int num_packages() const { return num_packages_; }
    /// The node with this number of the system; num_nodes() if none has it.
    [[nodiscard]] int node_of_os_index(int os_index) const;

    /// Relative cost of an access from a core of node `from` to the memory of node `to`; 10 is local. Taken
    /// from the firmware's table if there is one, otherwise 16 within a package and 22 across packages.
    [[nodiscard]] double distance(int from, int to) const { return distances_[from * num_nodes() + to]; }
    /// All distances as a table, row by row.
    [[nodiscard]] std::vector<double> const& distances() const { return distances_; }

    /// Number of cores of the whole machine, including those that this process may not use.
    [[nodiscard]] int machine_cores() const { return machine_cores_; }
    /// The default number of worker threads: one for each core, or fewer under a cgroup CPU quota.
    [[nodiscard]] int default_threads() const { return default_threads_; }

    /// The name of the host, the name in the XML file (or of the file), or "synthetic" and the description.
    [[nodiscard]] std::string const& machine_name() const { return machine_name_; }
    /// The model of the processor; may be empty.
    [[nodiscard]] std::string const& cpu_model() const { return cpu_model_; }
    /// Whether this is the current machine. Otherwise cores are virtual, and workers are not bound.
    [[nodiscard]] bool is_this_machine() const { return is_this_machine_; }
    /// Whether other processes of this run use the same cores. Workers are then not bound, and hardly spin.
    [[nodiscard]] bool crowded() const { return crowded_; }

    /// The lines that `espalier machine` prints, without newlines.
    [[nodiscard]] std::vector<std::string> describe() const;

  private:
    friend class TopologyReader;
    static Topology read_this_machine();

    std::vector<Core> cores_;
    std::vector<Node> nodes_;
    std::vector<Cache> caches_;
    std::vector<double> distances_; ///< num_nodes() rows of num_nodes() entries.
    int num_packages_ = 1;
    int machine_cores_ = 0;
    int default_threads_ = 1;
    std::string machine_name_;
    std::string cpu_model_;
    bool is_this_machine_ = false;
    bool crowded_ = false;
};

/// Converts a description, such as "2 4 1", to the notation of hwloc. Error{usage} as in Topology::synthetic.
std::string normalize_synthetic(std::string_view description);

/// 0,1,2,5 as "0-2,5". The numbers must increase.
std::string format_ranges(std::vector<int> const& numbers);

/// 25769803776 as "24 GiB"; three significant digits at most.
std::string format_bytes(std::uint64_t bytes);

} // namespace espalier
