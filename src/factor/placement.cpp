#include "factor/placement.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace espalier {

namespace {

constexpr std::size_t max_pages = 8192;
constexpr std::size_t smallest_strip = std::size_t{16} << 10;

// Strip s of an arena, of `bytes`, lies on node[s] of the topology; num_nodes() stands for all other nodes.
struct Strips {
    std::size_t bytes = 1;
    std::vector<int> node; ///< page_unknown if the system gives no node.
};

std::size_t divided(std::size_t value, std::size_t by) {
    return (value + by - 1) / by;
}

// Reads the nodes of the pages from the system.
Strips measure_strips(Arena const& arena, std::size_t strip_bytes, Topology const& topology) {
    PageSample sample = sample_nodes(arena.bytes(), strip_bytes);
    Strips strips{sample.strip_bytes, std::move(sample.node)};
    for (int& node : strips.node) {
        if (node < 0) {
            node = page_unknown;
            continue;
        }
        auto const found = std::find_if(topology.nodes().begin(), topology.nodes().end(),
                                        [&](Topology::Node const& n) { return n.os_index == node; });
        node = static_cast<int>(found - topology.nodes().begin());
    }
    return strips;
}

// Predicts the nodes of the pages. `first_page` counts the pages of the arenas before this one.
Strips predict_strips(Arena const& arena, int node_of_owner, int num_nodes, std::size_t first_page) {
    if (arena.allocation() != Allocation::interleave)
        return {arena.size(), {arena.allocation() == Allocation::global ? 0 : node_of_owner}};
    Strips strips{arena.page_bytes(), std::vector<int>(divided(arena.size(), arena.page_bytes()))};
    for (std::size_t s = 0; s < strips.node.size(); ++s)
        strips.node[s] = static_cast<int>(first_page++ % num_nodes);
    return strips;
}

// For each panel the shares of its bytes on the nodes, relative to the bytes whose node is known.
template <class T> class PanelNodes {
  public:
    PanelNodes(Factor<T> const& factor, WorkerTeam& team, Topology const& topology)
        : factor_(factor), owners_(factor.num_owners()), shares_(factor.structure().cblks.size()) {
        bool const global = factor.allocation() == Allocation::global;
        std::size_t total = 0;
        std::vector<std::size_t> first_page; // of each interleaved arena
        std::size_t pages = 0;
        for (WorkerId w = 0; w < factor.num_owners(); ++w) {
            Arena const& arena = factor.arena_of(w);
            first_page.push_back(pages);
            if (!arena.empty()) pages += divided(arena.size(), arena.page_bytes());
            if (w == 0 || !global) total += arena.size();
        }
        std::size_t const strip_bytes = std::max(smallest_strip, divided(total, max_pages));
        auto const strips_of = [&](WorkerId w) {
            Arena const& arena = factor.arena_of(w);
            return topology.is_this_machine()
                       ? measure_strips(arena, strip_bytes, topology)
                       : predict_strips(arena, team.places()[w].node, topology.num_nodes(), first_page[w]);
        };
        Strips const common = global && total > 0 ? strips_of(0) : Strips{};
        team.for_each_worker([&](WorkerId worker) {
            for (WorkerId w = worker; w < factor.num_owners(); w += team.size()) {
                Arena const& arena = factor.arena_of(w);
                if (arena.empty()) continue;
                Owner& owner = owners_[w];
                owner.node_bytes.assign(topology.num_nodes() + 1, 0.0);
                Strips const strips = global ? common : strips_of(w);
                for (CblkId const k : factor.owned_by(w)) locate(k, arena, strips, owner);
            }
        });
        node_bytes_.assign(topology.num_nodes() + 1, 0.0);
        for (Owner const& owner : owners_)
            for (std::size_t n = 0; n < owner.node_bytes.size(); ++n) node_bytes_[n] += owner.node_bytes[n];
    }

    /// Share of panel k on `node`; the sum over all nodes is 1, or 0 when nothing is known.
    [[nodiscard]] double share(CblkId k, int node) const {
        for (auto const& [where, part] : shares_of(k))
            if (where == node) return part;
        return 0;
    }
    [[nodiscard]] bool known(CblkId k) const { return !shares_of(k).empty(); }

    /// Known bytes on each node of the topology, and last those on other nodes.
    [[nodiscard]] std::vector<double> const& node_bytes() const { return node_bytes_; }

  private:
    struct NodeShare {
        int node;
        float share;
    };
    struct alignas(64) Owner { // written by one worker
        std::vector<NodeShare> shares;
        std::vector<double> node_bytes;
    };
    struct Range {
        Owner const* of = nullptr;
        std::int64_t first = 0, count = 0;
    };
    [[nodiscard]] std::span<NodeShare const> shares_of(CblkId k) const {
        Range const range = shares_[k];
        if (!range.of) return {};
        return std::span(range.of->shares).subspan(range.first, range.count);
    }

    void locate(CblkId k, Arena const& arena, Strips const& strips, Owner& owner) {
        auto const panel = factor_.panel(k);
        if (panel.empty()) return;
        auto const begin = static_cast<std::size_t>(panel.data() - arena.data());
        std::size_t const end = begin + panel.size();
        std::vector<NodeShare>& all = owner.shares;
        std::int64_t const first = std::ssize(all);
        double known = 0;
        for (std::size_t s = begin / strips.bytes; s * strips.bytes < end; ++s) {
            int const node = strips.node[s];
            if (node == page_unknown) continue;
            auto const bytes = static_cast<double>(std::min(end, (s + 1) * strips.bytes) -
                                                   std::max(begin, s * strips.bytes));
            known += bytes;
            owner.node_bytes[node] += bytes;
            auto const mine = all.begin() + first;
            auto const seen =
                std::find_if(mine, all.end(), [&](NodeShare const& n) { return n.node == node; });
            if (seen == all.end())
                all.push_back({node, static_cast<float>(bytes)});
            else
                seen->share += static_cast<float>(bytes);
        }
        shares_[k] = {&owner, first, std::ssize(all) - first};
        for (std::int64_t i = first; i < std::ssize(all); ++i) all[i].share /= static_cast<float>(known);
    }

    Factor<T> const& factor_;
    std::vector<Owner> owners_;
    std::vector<Range> shares_; ///< By cblk: its shares in Owner::shares.
    std::vector<double> node_bytes_;
};

// Bytes of one or more tasks.
struct Touched {
    double all = 0;
    double local = 0;
    void add(double bytes, double share) {
        all += bytes;
        local += bytes * share;
    }
    Touched& operator+=(Touched const& other) {
        all += other.all;
        local += other.local;
        return *this;
    }
    [[nodiscard]] double share() const { return all > 0 ? std::min(1.0, local / all) : -1; }
};

template <class T> Touched touched_by(FactorTask const& task, FactorPlan const& plan, Factor<T> const& factor,
                                      PanelNodes<T> const& nodes, int node) {
    Touched touched;
    PanelFormat const format{sizeof(T), factor.form().has_upper()};
    for_each_access(factor.structure(), plan.partition, plan.groups, format, task,
                    [&](CblkId k, double bytes) {
                        if (nodes.known(k)) touched.add(bytes, nodes.share(k, node));
                    });
    return touched;
}

} // namespace

template <class T> Placement measure_placement(Factor<T> const& factor, FactorPlan const& plan,
                                               std::vector<WorkerId> const& worker_of_task, WorkerTeam& team,
                                               Topology const& topology) {
    Placement placement;
    PanelNodes<T> const nodes(factor, team, topology);
    placement.node_bytes = nodes.node_bytes();
    if (placement.node_bytes.back() == 0) placement.node_bytes.pop_back();
    if (std::accumulate(placement.node_bytes.begin(), placement.node_bytes.end(), 0.0) == 0) {
        placement.node_bytes.clear();
        return placement;
    }

    // Each worker counts a part of the tasks, including those that other workers ran.
    std::int64_t const tasks = std::ssize(plan.factor.tasks), workers = team.size();
    std::vector<double> share_of_task(tasks, -1);
    std::vector<std::vector<Touched>> counted(workers);
    team.for_each_worker([&](WorkerId counter) {
        std::vector<Touched> of_worker(workers);
        for (auto t = counter * tasks / workers; t < (counter + 1) * tasks / workers; ++t) {
            WorkerId const worker = worker_of_task[t];
            Touched const touched =
                touched_by(plan.factor.tasks[t], plan, factor, nodes, team.places()[worker].node);
            of_worker[worker] += touched;
            share_of_task[t] = touched.share();
        }
        counted[counter] = std::move(of_worker);
    });

    Touched all;
    for (WorkerId w = 0; w < workers; ++w) {
        Touched of_worker;
        for (auto const& part : counted) of_worker += part[w];
        all += of_worker;
        placement.local_share_of_worker.push_back(of_worker.share());
    }
    placement.touched_bytes = all.all;
    placement.local_share = all.share();
    std::erase(share_of_task, -1.0); // tasks without bytes
    if (share_of_task.empty()) return placement;
    auto const middle = share_of_task.begin() + std::ssize(share_of_task) / 2;
    std::nth_element(share_of_task.begin(), middle, share_of_task.end());
    placement.median_share = *middle;
    placement.smallest_share = *std::min_element(share_of_task.begin(), middle + 1);
    return placement;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template Placement measure_placement<T>(Factor<T> const&, FactorPlan const&,                             \
                                            std::vector<WorkerId> const&, WorkerTeam&, Topology const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
