#include "factor/panel_nodes.hpp"

#include <utility>

namespace espalier {

// Strip s of `bytes` bytes of an arena is on node[s] of the topology; num_nodes() stands for all other nodes.
struct PageStrips {
    std::size_t bytes = 1;
    std::vector<int> node; ///< page_unknown if the system gives no node.
};

namespace {

constexpr std::size_t max_pages = 8192;
constexpr std::size_t smallest_strip = std::size_t{16} << 10;

std::size_t divided(std::size_t value, std::size_t by) {
    return (value + by - 1) / by;
}

// Reads the nodes of the pages from the system if there are several nodes.
PageStrips measure_strips(Arena const& arena, std::size_t strip_bytes, Topology const& topology) {
    if (topology.num_nodes() == 1) return {arena.size(), {0}};
    PageSample sample = sample_nodes(arena.bytes(), strip_bytes);
    PageStrips strips{sample.strip_bytes, std::move(sample.node)};
    for (int& node : strips.node) node = node < 0 ? page_unknown : topology.node_of_os_index(node);
    return strips;
}

// Predicts the nodes of the pages. `first_page` counts the pages of the arenas before this one.
PageStrips predict_strips(Arena const& arena, int node_of_owner, int num_nodes, std::size_t first_page) {
    if (arena.allocation() != Allocation::interleave)
        return {arena.size(), {arena.allocation() == Allocation::global ? 0 : node_of_owner}};
    PageStrips strips{arena.page_bytes(), std::vector<int>(divided(arena.size(), arena.page_bytes()))};
    for (std::size_t s = 0; s < strips.node.size(); ++s)
        strips.node[s] = static_cast<int>(first_page++ % num_nodes);
    return strips;
}

} // namespace

template <class T>
PanelNodes<T>::PanelNodes(Factor<T> const& factor, WorkerTeam& team, Topology const& topology)
    : factor_(factor), owners_(factor.num_owners()), shares_(factor.structure().cblks.size()) {
    bool const global = factor.allocation() == Allocation::global;
    std::size_t total = 0;
    std::vector<std::size_t> first_page; // for each interleaved arena
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
    PageStrips const common = global && total > 0 ? strips_of(0) : PageStrips{};
    constexpr std::size_t few_cblks = 500; // examined in less time than waking a thread takes
    team.for_each_worker(factor.structure().cblks.size() > few_cblks, [&](WorkerId worker) {
        for (WorkerId w = worker; w < factor.num_owners(); w += team.size()) {
            Arena const& arena = factor.arena_of(w);
            if (arena.empty()) continue;
            Owner& owner = owners_[w];
            owner.node_bytes.assign(topology.num_nodes() + 1, 0.0);
            PageStrips const strips = global ? common : strips_of(w);
            for (CblkId const k : factor.owned_by(w)) locate(k, arena, strips, owner);
        }
    });
    node_bytes_.assign(topology.num_nodes() + 1, 0.0);
    for (Owner const& owner : owners_)
        for (std::size_t n = 0; n < owner.node_bytes.size(); ++n) node_bytes_[n] += owner.node_bytes[n];
}

template <class T>
void PanelNodes<T>::locate(CblkId k, Arena const& arena, PageStrips const& strips, Owner& owner) {
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
        auto const bytes =
            static_cast<double>(std::min(end, (s + 1) * strips.bytes) - std::max(begin, s * strips.bytes));
        known += bytes;
        owner.node_bytes[node] += bytes;
        auto const mine = all.begin() + first;
        auto const seen = std::find_if(mine, all.end(), [&](NodeShare const& n) { return n.node == node; });
        if (seen == all.end())
            all.push_back({node, static_cast<float>(bytes)});
        else
            seen->share += static_cast<float>(bytes);
    }
    shares_[k] = {&owner, first, std::ssize(all) - first};
    for (std::int64_t i = first; i < std::ssize(all); ++i) all[i].share /= static_cast<float>(known);
}

ESPALIER_INSTANTIATE_CLASS(PanelNodes)

} // namespace espalier
