#include "runtime/numa_factors.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "runtime/binding.hpp"
#include "runtime/memory.hpp"
#include "runtime/process_limits.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t fewest_samples = 5;
constexpr std::size_t most_samples = std::size_t{1} << 15;
constexpr std::size_t largest_region = std::size_t{256} << 20;
constexpr std::size_t unknown_cache = std::size_t{32} << 20;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Memory on one node that a core reads block by block, cyclically.
class Region {
  public:
    Region() = default;
    Region(std::size_t bytes, int node_os_index) : node_(node_os_index) {
        NodeRange const range{bytes, node_os_index};
        arena_ = Arena::on_nodes({&range, 1});
        populate(arena_.bytes());
    }

    [[nodiscard]] std::byte* next_block(std::size_t bytes) {
        if (at_ + bytes > arena_.size()) at_ = 0;
        std::byte* const block = arena_.data() + at_;
        at_ += bytes;
        return block;
    }

    /// The share of its pages that are not on the requested node; -1 if unknown.
    [[nodiscard]] double misplaced() const {
        PageLocation const found = query_nodes(arena_.bytes());
        std::uint64_t const right = node_ < std::ssize(found.node_bytes) ? found.node_bytes[node_] : 0;
        std::uint64_t const known = arena_.size() - found.unknown_bytes;
        if (known == 0) return -1;
        return static_cast<double>(known - right) / static_cast<double>(known);
    }

  private:
    Arena arena_;
    std::size_t at_ = 0;
    int node_ = 0;
};

// The times of single calls, stored in memory that is allocated in advance.
class Samples {
  public:
    Samples() { times_.reserve(most_samples); }

    void take(BlockKernel const& kernel, Region& region, double seconds) {
        times_.clear();
        kernel.run(region.next_block(kernel.block_bytes)); // the first warms up
        for (auto const start = Clock::now();
             times_.size() < fewest_samples ||
             (times_.size() < most_samples && seconds_since(start) < seconds);) {
            std::byte* const block = region.next_block(kernel.block_bytes);
            auto const before = Clock::now();
            kernel.run(block);
            times_.push_back(seconds_since(before));
        }
    }

    [[nodiscard]] double median() {
        auto const middle = times_.begin() + static_cast<std::ptrdiff_t>(times_.size() / 2);
        std::nth_element(times_.begin(), middle, times_.end());
        return *middle;
    }

  private:
    std::vector<double> times_;
};

class Experiment {
  public:
    Experiment(Topology const& topology, std::span<BlockKernel const> kernels,
               NumaFactorOptions const& options)
        : topology_(topology), kernels_(kernels), misplaced_(topology.nodes().size(), 0.0) {
        result_.nodes = topology.num_nodes();
        result_.cores = sampled_cores(topology, options.max_pairs, result_.which_cores);
        choose_region(options.max_memory);
        // Half of the time for pairs, half for all cores at once.
        auto const runs = static_cast<double>(std::max<std::size_t>(1, kernels.size()));
        double const pairs = static_cast<double>(result_.cores.size()) * result_.nodes;
        pair_seconds_ = std::min(0.05, options.seconds / 2 / (pairs * runs));
        crowd_seconds_ = std::min(0.2, options.seconds / 2 / (3 * runs));
    }

    NumaFactors run() {
        for (BlockKernel const& kernel : kernels_)
            result_.kernels.push_back({kernel.name, 0, {}, {}, {}, {}});
        measure_pairs();
        WorkerTeam team(topology_, topology_.num_cores());
        if (topology_.num_cores() > 1 && !team.bound()) not_bound_ = true;
        std::vector<Samples> samples(team.size());
        auto const node_of_core = [this](int core) { return topology_.cores()[core].node; };
        measure_crowd(team, samples, &KernelFactors::local, node_of_core);
        if (result_.nodes > 1) {
            measure_crowd(team, samples, &KernelFactors::one_node, [](int) { return 0; });
            measure_crowd(team, samples, &KernelFactors::worst,
                          [&](int core) { return farthest_node(topology_, node_of_core(core)); });
        } else {
            for (KernelFactors& kernel : result_.kernels) kernel.one_node = kernel.worst = kernel.local;
        }
        normalize();
        remark();
        return std::move(result_);
    }

  private:
    // Four times the last-level cache, so that little remains there after a round; less if memory is short.
    void choose_region(std::uint64_t max_memory) {
        cache_ = topology_.caches().empty() ? unknown_cache : topology_.caches().back().bytes;
        std::uint64_t const all = std::min(max_memory, available_memory_bytes() / 4);
        std::uint64_t region = std::min<std::uint64_t>(largest_region, std::max(unknown_cache, 4 * cache_));
        region = std::min(region, all / static_cast<std::uint64_t>(topology_.num_cores()));
        std::size_t block = 0;
        for (BlockKernel const& kernel : kernels_) block = std::max(block, kernel.block_bytes);
        result_.region_bytes = std::max<std::size_t>(region, block);
    }

    [[nodiscard]] int os_index(int node) const { return topology_.nodes()[node].os_index; }

    void see_where(Region const& region, int node) {
        double& most = misplaced_[node];
        double const now = region.misplaced();
        most = now < 0 || most < 0 ? -1 : std::max(most, now);
    }

    void measure_pairs() {
        Samples samples;
        for (int node = 0; node < result_.nodes; ++node) {
            Region region(result_.region_bytes, os_index(node));
            see_where(region, node);
            for (std::size_t i = 0; i < result_.cores.size(); ++i) {
                int const pu = topology_.cores()[result_.cores[i]].pu;
                AffinityScope const here(pu);
                not_bound_ = not_bound_ || !here.bound();
                for (std::size_t k = 0; k < kernels_.size(); ++k) {
                    auto& table = result_.kernels[k].alone;
                    table.resize(result_.cores.size() * result_.nodes);
                    samples.take(kernels_[k], region, pair_seconds_);
                    table[i * result_.nodes + node] = samples.median();
                }
            }
        }
    }

    // Times all cores at once, each on its own region. Calls that may throw come before any core waits.
    void measure_crowd(WorkerTeam& team, std::vector<Samples>& samples,
                       std::vector<double> KernelFactors::* times, std::function<int(int)> const& node_of) {
        std::vector<Region> regions(team.size());
        team.for_each_worker(
            [&](WorkerId w) { regions[w] = Region(result_.region_bytes, os_index(node_of(w))); });
        for (int const core : result_.cores) see_where(regions[core], node_of(core));
        for (std::size_t k = 0; k < kernels_.size(); ++k) {
            std::atomic<int> waiting{team.size()};
            team.for_each_worker([&](WorkerId w) {
                for (--waiting; waiting > 0;) std::this_thread::yield();
                samples[w].take(kernels_[k], regions[w], crowd_seconds_);
            });
            for (int const core : result_.cores)
                (result_.kernels[k].*times).push_back(samples[core].median());
        }
    }

    void normalize() {
        for (KernelFactors& kernel : result_.kernels) {
            kernel.unit_s = *std::min_element(kernel.alone.begin(), kernel.alone.end());
            for (auto* const times : {&kernel.alone, &kernel.local, &kernel.one_node, &kernel.worst})
                for (double& time : *times) time /= kernel.unit_s;
        }
    }

    void remark() {
        auto& remarks = result_.remarks;
        for (std::size_t node = 0; node < misplaced_.size(); ++node) {
            int const percent = std::max(1, static_cast<int>(misplaced_[node] * 100 + 0.5));
            if (misplaced_[node] < 0)
                remarks.push_back(
                    fmt::format("the system does not report whether pages are on node {}", node));
            else if (misplaced_[node] > 0)
                remarks.push_back(
                    fmt::format("{} % of the pages requested on node {} are on other nodes", percent, node));
        }
        if (not_bound_) remarks.emplace_back("the system does not bind threads to cores");
        if (result_.region_bytes < cache_)
            remarks.push_back(fmt::format("the memory of a core, {}, is smaller than the last-level cache: "
                                          "factors may be too small",
                                          format_bytes(result_.region_bytes)));
        if (topology_.default_threads() < topology_.num_cores())
            remarks.push_back(fmt::format("a CPU quota lets only {} of the cores work at once",
                                          topology_.default_threads()));
    }

    Topology const& topology_;
    std::span<BlockKernel const> kernels_;
    NumaFactors result_;
    std::size_t cache_ = 0;
    double pair_seconds_ = 0, crowd_seconds_ = 0;
    std::vector<double> misplaced_; ///< By node: the largest part of a region.
    bool not_bound_ = false;
};

// The first core of each group.
std::vector<int> first_of_each(Topology const& topology, int Topology::Core::* group) {
    std::vector<int> cores;
    std::set<int> seen;
    for (int core = 0; core < topology.num_cores(); ++core)
        if (seen.insert(topology.cores()[core].*group).second) cores.push_back(core);
    return cores;
}

} // namespace

std::vector<int> sampled_cores(Topology const& topology, int max_pairs, std::string& which) {
    auto const fit = [&](std::vector<int> const& cores) {
        return std::ssize(cores) * topology.num_nodes() <= max_pairs;
    };
    auto const first_of = [&](std::vector<int> const& cores, char const* group) {
        return fmt::format("{} of {} cores: the first of each {}", cores.size(), topology.num_cores(), group);
    };
    std::vector<int> cores(topology.cores().size());
    std::iota(cores.begin(), cores.end(), 0);
    which = "every core";
    if (fit(cores)) return cores;
    cores = first_of_each(topology, &Topology::Core::cache_group);
    which = first_of(cores, "last-level cache");
    if (fit(cores) && cores.size() >= topology.nodes().size()) return cores;
    cores = first_of_each(topology, &Topology::Core::node);
    which = first_of(cores, "NUMA node");
    return cores;
}

int farthest_node(Topology const& topology, int node) {
    return farthest_node(topology.num_nodes(), node,
                         [&](int other) { return topology.distance(node, other); });
}

int farthest_node(int nodes, int node, std::function<double(int other)> const& distance_to) {
    int best = node;
    for (int step = 0; step < nodes; ++step) {
        int const other = (node + nodes / 2 + step) % nodes;
        if (other == node) continue;
        if (best == node || distance_to(other) > distance_to(best)) best = other;
    }
    return best;
}

NumaFactors measure_numa_factors(Topology const& topology, std::span<BlockKernel const> kernels,
                                 NumaFactorOptions const& options) {
    if (!topology.is_this_machine())
        throw Error(Status::usage, "NUMA factors can be measured only on this machine, not on another one");
    return Experiment(topology, kernels, options).run();
}

} // namespace espalier
