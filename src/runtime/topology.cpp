// Reads a machine through hwloc into plain data. hwloc's objects do not outlive a call.
#include "runtime/topology.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hwloc.h>

#include "core/one_line.hpp"
#include "runtime/binding.hpp"
#include "runtime/process_limits.hpp"

namespace espalier {

namespace {

struct HwlocDeleter {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
    void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, HwlocDeleter>;
using HwlocBitmap = std::unique_ptr<hwloc_bitmap_s, HwlocDeleter>;

HwlocTopology new_topology() {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) throw Error(Status::internal, "hwloc cannot be initialized");
    return HwlocTopology(topology);
}

/// Whether Linux describes its processors in files, which some containers hide.
bool has_files_of_processors() {
    return std::filesystem::exists("/sys/devices/system/cpu/cpu0/topology") ||
           std::filesystem::exists("/sys/bus/cpu/devices/cpu0/topology");
}

/// Keep the hardware threads that the calling thread may run on. hwloc has already dropped those that the
/// cgroup forbids, but not those outside the affinity mask.
void restrict_to_affinity(hwloc_topology* topology) {
    HwlocBitmap const allowed(hwloc_bitmap_alloc());
    if (!allowed) throw Error(Status::out_of_memory, "out of memory while reading the machine's topology");
    if (hwloc_get_cpubind(topology, allowed.get(), HWLOC_CPUBIND_THREAD) != 0)
        return; // the system cannot say
    if (!hwloc_bitmap_intersects(allowed.get(), hwloc_topology_get_topology_cpuset(topology))) return;
    if (hwloc_topology_restrict(topology, allowed.get(), 0) != 0)
        throw Error(Status::internal, "hwloc cannot restrict the topology to this process's cores");
}

bool is_data_cache(hwloc_obj_t object) {
    return hwloc_obj_type_is_dcache(object->type) != 0;
}

/// The core of a hardware thread, or the thread itself if the machine does not report cores.
hwloc_obj_t core_of(hwloc_topology* topology, hwloc_obj_t pu) {
    hwloc_obj_t const core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    return core ? core : pu;
}

std::string info(hwloc_obj_t object, char const* name) {
    char const* const value = object ? hwloc_obj_get_info_by_name(object, name) : nullptr;
    return value ? value : "";
}

int count_cores(hwloc_topology* topology) {
    int const cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    return cores > 0 ? cores : hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
}

// Everything that may change between two calls of Topology::detect(). A cgroup that takes cores away also
// changes the affinity.
struct MachineView {
    std::vector<unsigned long> affinity;
    std::vector<std::string> variables; // environment variables of hwloc

    static MachineView current() {
        MachineView view{current_affinity(), {}};
        for (char const* const name : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_CPUID_PATH",
                                       "HWLOC_COMPONENTS", "HWLOC_THISSYSTEM"})
            if (char const* const value = std::getenv(name))
                view.variables.push_back(std::string(name) + '=' + value);
        return view;
    }
    bool operator==(MachineView const&) const = default;
};

} // namespace

/// Turns a loaded hwloc topology into a Topology.
class TopologyReader {
  public:
    static Topology read(hwloc_topology* topology, int machine_cores) {
        TopologyReader reader(topology);
        reader.read_cores();
        reader.number_nodes();
        reader.read_caches();
        reader.read_distances();
        reader.read_names();
        Topology& result = reader.result_;
        result.machine_cores_ = machine_cores;
        result.is_this_machine_ = hwloc_topology_is_thissystem(topology) != 0;
        result.default_threads_ = result.num_cores();
        return std::move(result);
    }

    static void set_name(Topology& topology, std::string name) { topology.machine_name_ = std::move(name); }

    static void respect_quota(Topology& topology, double cpus) {
        int const limit = std::max(1, static_cast<int>(std::min(std::ceil(cpus), 1e9)));
        topology.default_threads_ = std::min(topology.default_threads_, limit);
    }

  private:
    explicit TopologyReader(hwloc_topology* topology) : topology_(topology) { find_memory(); }

    /// For each hardware thread the node with the smallest cpuset around it: where several memories serve the
    /// same cores (DRAM and HBM), the first, which is the one that the system allocates from.
    void find_memory() {
        hwloc_obj_t node = nullptr;
        while ((node = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_NUMANODE, node))) {
            int const weight = hwloc_bitmap_weight(node->cpuset);
            if (weight < 0) continue;
            for (int pu = hwloc_bitmap_first(node->cpuset); pu >= 0;
                 pu = hwloc_bitmap_next(node->cpuset, pu)) {
                auto const [it, is_new] = memory_of_.try_emplace(pu, node, weight);
                if (!is_new && weight < it->second.second) it->second = {node, weight};
            }
            if (!first_node_) first_node_ = node;
        }
    }

    void read_cores() {
        std::map<hwloc_obj_t, std::size_t> number; // numbers of the cores found so far
        std::map<hwloc_obj_t, int> packages, groups;
        hwloc_obj_t pu = nullptr;
        while ((pu = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_PU, pu))) {
            auto const [it, is_new] = number.try_emplace(core_of(topology_, pu), found_.size());
            if (!is_new) {
                ++found_[it->second].core.hardware_threads;
                continue;
            }
            auto const memory = memory_of_.find(static_cast<int>(pu->os_index));
            hwloc_obj_t const package = hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, pu);
            hwloc_obj_t group = pu; // the outermost cache, else the core alone
            for (hwloc_obj_t up = pu->parent; up; up = up->parent)
                if (is_data_cache(up)) group = up;
            Topology::Core core;
            core.pu = static_cast<int>(pu->os_index);
            core.package = packages.try_emplace(package, static_cast<int>(packages.size())).first->second;
            core.cache_group = groups.try_emplace(group, static_cast<int>(groups.size())).first->second;
            found_.push_back({core, memory == memory_of_.end() ? first_node_ : memory->second.first});
        }
        if (found_.empty()) throw Error(Status::internal, "hwloc finds no core that this process may use");
        result_.num_packages_ = static_cast<int>(packages.size());
    }

    /// Number the nodes that have cores, in the order of their first core, and sort the cores by node.
    void number_nodes() {
        for (Found& found : found_) {
            auto const [it, is_new] = node_number_.try_emplace(found.memory, result_.num_nodes());
            found.core.node = it->second;
            if (!is_new) continue;
            Topology::Node node;
            node.package = found.core.package;
            if (found.memory) {
                node.os_index = static_cast<int>(found.memory->os_index);
                node.memory_bytes = found.memory->attr->numanode.local_memory;
            }
            result_.nodes_.push_back(std::move(node));
        }
        std::ranges::stable_sort(found_, {}, [](Found const& found) { return found.core.node; });
        for (Found const& found : found_) {
            result_.nodes_[found.core.node].cores.push_back(result_.num_cores());
            result_.cores_.push_back(found.core);
        }
    }

    void read_caches() {
        hwloc_obj_t const pu =
            hwloc_get_pu_obj_by_os_index(topology_, static_cast<unsigned>(result_.cores_.front().pu));
        for (hwloc_obj_t up = pu ? pu->parent : nullptr; up; up = up->parent) {
            if (!is_data_cache(up)) continue;
            Topology::Cache cache;
            cache.level = static_cast<int>(up->attr->cache.depth);
            cache.bytes = up->attr->cache.size;
            cache.cores = static_cast<int>(
                std::count_if(result_.cores_.begin(), result_.cores_.end(), [&](Topology::Core const& core) {
                    return hwloc_bitmap_isset(up->cpuset, static_cast<unsigned>(core.pu)) != 0;
                }));
            result_.caches_.push_back(cache);
        }
    }

    void read_distances() {
        std::size_t const n = result_.nodes_.size();
        std::vector<double>& table = result_.distances_;
        table.resize(n * n);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                table[i * n + j] = i == j                                                   ? 10
                                   : result_.nodes_[i].package == result_.nodes_[j].package ? 16
                                                                                            : 22;

        hwloc_distances_s* firmware = nullptr;
        unsigned count = 1;
        if (hwloc_distances_get_by_type(topology_, HWLOC_OBJ_NUMANODE, &count, &firmware,
                                        HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
            count == 0)
            return;
        for (unsigned i = 0; i < firmware->nbobjs; ++i)
            for (unsigned j = 0; j < firmware->nbobjs; ++j) {
                auto const from = node_number_.find(firmware->objs[i]),
                           to = node_number_.find(firmware->objs[j]);
                if (from == node_number_.end() || to == node_number_.end()) continue;
                auto const value =
                    static_cast<double>(firmware->values[std::size_t{i} * firmware->nbobjs + j]);
                table[from->second * n + to->second] = value;
            }
        hwloc_distances_release(topology_, firmware);
    }

    void read_names() {
        hwloc_obj_t const root = hwloc_get_root_obj(topology_);
        result_.machine_name_ = info(root, "HostName");
        result_.cpu_model_ = info(hwloc_get_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, 0), "CPUModel");
        if (result_.cpu_model_.empty()) result_.cpu_model_ = info(root, "CPUModel");
    }

    struct Found {
        Topology::Core core;
        hwloc_obj_t memory; ///< Its NUMA node; null on a machine that reports none.
    };

    hwloc_topology* topology_;
    hwloc_obj_t first_node_ = nullptr;
    std::map<int, std::pair<hwloc_obj_t, int>> memory_of_; ///< By OS index of the hardware thread.
    std::map<hwloc_obj_t, int> node_number_;
    std::vector<Found> found_;
    Topology result_;
};

Topology Topology::read_this_machine() {
    HwlocTopology const topology = new_topology();
    // Without the files hwloc would print a message. It then asks the processors instead.
    if (!has_files_of_processors() && !std::getenv("HWLOC_FSROOT"))
        hwloc_topology_set_components(topology.get(), HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "linux");
    if (hwloc_topology_load(topology.get()) != 0)
        throw Error(Status::internal, "hwloc cannot read the topology of this machine");
    int const machine_cores = count_cores(topology.get());
    bool const here = hwloc_topology_is_thissystem(topology.get()) != 0;
    if (here) restrict_to_affinity(topology.get());
    Topology result = TopologyReader::read(topology.get(), machine_cores);
    if (here) TopologyReader::respect_quota(result, cpu_quota());
    return result;
}

// hwloc reads hundreds of files, which takes milliseconds, so the last machine is kept.
Topology Topology::detect() {
    static std::mutex mutex;
    static std::optional<std::pair<MachineView, Topology>> kept;
    MachineView view = MachineView::current();
    {
        std::lock_guard const lock(mutex);
        if (kept && kept->first == view) return kept->second;
    }
    Topology found = read_this_machine();
    std::lock_guard const lock(mutex);
    kept.emplace(std::move(view), found);
    return found;
}

Topology Topology::synthetic(std::string const& description) {
    std::string const canonical = normalize_synthetic(description);
    HwlocTopology const topology = new_topology();
    if (hwloc_topology_set_synthetic(topology.get(), canonical.c_str()) != 0 ||
        hwloc_topology_load(topology.get()) != 0)
        throw Error(
            Status::usage,
            fmt::format("topology \"{}\" is not a synthetic description such as \"numa:2 core:4 pu:1\"",
                        in_one_line(description)));
    Topology result = TopologyReader::read(topology.get(), count_cores(topology.get()));
    TopologyReader::set_name(result, "synthetic " + canonical);
    return result;
}

Topology Topology::from_xml(std::string const& path) {
    if (std::ifstream file(path); !file || file.peek() == std::ifstream::traits_type::eof())
        throw Error(Status::io_error, fmt::format("topology file {} cannot be read, or is empty", path));
    HwlocTopology const topology = new_topology();
    if (hwloc_topology_set_xml(topology.get(), path.c_str()) != 0 || hwloc_topology_load(topology.get()) != 0)
        throw Error(Status::bad_input, fmt::format("topology file {} is not an hwloc XML topology", path));
    Topology result = TopologyReader::read(topology.get(), count_cores(topology.get()));
    if (result.machine_name().empty()) TopologyReader::set_name(result, path);
    return result;
}

Topology Topology::named(std::string const& name) {
    if (name.empty()) return detect();
    return name.ends_with(".xml") ? from_xml(name) : synthetic(name);
}

int Topology::node_of_os_index(int os_index) const {
    auto const found = std::find_if(nodes_.begin(), nodes_.end(),
                                    [os_index](Node const& node) { return node.os_index == os_index; });
    return static_cast<int>(found - nodes_.begin());
}

Topology Topology::share(int part, int parts) const {
    if (part < 0 || part >= parts)
        throw Error(Status::usage, fmt::format("share {} of {} of a machine does not exist", part, parts));
    Topology result = *this;
    auto const bound = [&](std::int64_t p) { return p * num_cores() / parts; };
    std::int64_t const first = bound(part), last = std::max(bound(part + 1), first + 1);
    result.crowded_ = crowded_ || parts > num_cores();
    result.cores_.assign(cores_.begin() + first, cores_.begin() + last);
    result.default_threads_ = std::min(result.num_cores(), std::max(1, default_threads_ / parts));

    std::vector<int> kept; // old numbers of the nodes that still have cores
    result.nodes_.clear();
    for (std::size_t i = 0; i < result.cores_.size(); ++i) {
        Core& core = result.cores_[i];
        if (kept.empty() || kept.back() != core.node) {
            kept.push_back(core.node);
            result.nodes_.push_back(nodes_[core.node]);
            result.nodes_.back().cores.clear();
        }
        core.node = result.num_nodes() - 1;
        result.nodes_.back().cores.push_back(static_cast<int>(i));
    }
    result.distances_.clear();
    for (int from : kept)
        for (int to : kept) result.distances_.push_back(distance(from, to));
    return result;
}

} // namespace espalier
