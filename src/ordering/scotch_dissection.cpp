// Nested dissection by several threads. Input: a graph; output: positions of its vertices. A pool of threads
// processes the tree of regions. The result for a region depends only on the region and its place in the
// tree, so the ordering does not depend on the number of threads.
//
//      region --> two candidate separators (two jobs) --> the better one --> two smaller regions
//      small region --> cut by SCOTCH down to leaves, the leaves by minimum degree (one job)
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/mix_bits.hpp"
#include "ordering/job_pool.hpp"
#include "ordering/methods.hpp"
#include "ordering/permutation.hpp"
#include "ordering/scotch_calls.hpp"

namespace espalier {

namespace {

// Separators of a region. The better one of two candidates is taken:
//
//   multilevel  heavy-edge coarsening to 100 vertices, greedy graph growing there, Fiduccia-Mattheyses in a
//               band of width 3 on the way up (Hendrickson, Leland 1995; Chevalier, Pellegrini 2006);
//   flat        greedy growing on the region itself from several seeds, the best one refined.
//
// docs/algorithms.md explains why both help. The default of SCOTCH, two multilevel cuts, finds no slanted
// cuts. Sums of squared column counts:
//
//                       SCOTCH default   METIS      multilevel   flat       both
//   7-point 60^3        2.44e11          2.13e11    2.4e11       1.2e11     1.13e11
//   7-point 80^3        1.48e12          1.34e12                            7.6e11
//   7-point 24^3 * 5    9.0e10           8.0e10     9.2e10       5.2e10     4.8e10
//   27-point 33.33.32   2.2e11           2.05e11    2.1e11       2.4e11     2.07e11
//   9-point 1000^2      2.73e10          2.36e10                            2.13e10
//
// This takes 1.1 to 1.6 times the time of METIS on one thread. Without gain: other balances (0.05 to 0.4),
// band widths and coarsening ratios, more multilevel cuts, and dropping a candidate in the children of a
// region in which it was worse (a loss in 2-D).
char const* const multilevel =
    "m{rat=0.7,vert=100,low=h{pass=10}f{bal=0.2},asc=b{width=3,bnd=f{bal=0.2},org=f{bal=0.2}}}";
char const* const flat = "h{pass=10}f{bal=0.2}";
char const* const flat_of_large = "h{pass=20}f{bal=0.2}"; // 5 % less work than 10 passes on 60^3

// A strategy for one level of dissection, which returns the parts as column blocks.
std::string one_cut(char const* separator) {
    return fmt::format("n{{sep=/(levl<1)?{};,ole=s,ose=s}}", separator);
}

constexpr int max_level = 40;         // stops useless cuts of graphs without good separators
constexpr Index tiny_component = 120; // and the size of a leaf
constexpr int max_threads = 128;      // about the maximum number of leaves

// A strategy for all further levels: both candidates, but only the flat cut below 1000 vertices (a third of
// the time for 1 % of the work), down to leaves, which order_leaf() numbers, because halo minimum degree and
// minimum fill of SCOTCH 7.0.3 crash or do not end on some graphs. Separators keep their order, since rows
// are reordered inside supernodes later.
std::string all_cuts() {
    return fmt::format("n{{sep=/((vert>{})&(levl<{}))?(/(vert>1000)?({}|{}):({}););,ole=s,ose=s}}",
                       tiny_component, max_level, multilevel, flat, flat);
}

class NestedDissection {
  public:
    NestedDissection(Graph const& graph, int threads, Interrupt* interrupt)
        : threads_(std::clamp(threads, 1, max_threads)), interrupt_(interrupt),
          separators_{ScotchStrategy(one_cut(multilevel)), ScotchStrategy(one_cut(flat_of_large))},
          all_cuts_(all_cuts()) {
        Region root = whole_region(graph);
        grain_ = std::max<Index>(1000, root.num_interior / 64);
        perm_.resize(root.num_interior);
        add_components(std::move(root));
    }

    std::vector<Index> run() {
        pool_.run(
            threads_, [] { return ScotchContext(1, true); },
            [this](Job& job, ScotchContext& context) { perform(job, context); });
        return std::move(perm_);
    }

  private:
    static constexpr int num_candidates = 2;
    static constexpr int leaf = -1;

    struct Node {
        Region region;
        Index first_position = 0; ///< The interior gets positions [first_position, + num_interior).
        int level = 0;
        std::uint64_t seed = 1; ///< Depends on the path to the root.
        std::array<Separation, num_candidates> found;
        std::atomic<int> missing{num_candidates};
    };
    /// Computes one candidate separator of a node, or numbers the node if candidate is `leaf`.
    struct Job {
        std::shared_ptr<Node> node;
        int candidate = leaf;
    };

    // Large components are dissected separately; tiny components are ordered together by minimum degree.
    void add_components(Region root) {
        Index count = 0;
        auto const component = components(root, count);
        if (count == 1) return add(std::move(root), 0, 0, 1);

        std::vector<Index> size(count, 0);
        for (Index const c : component) ++size[c];
        // Sort vertices by group: group 0 has all tiny components, each other group is a large component.
        std::vector<Index> group(count, 0);
        Index groups = 1;
        for (Index c = 0; c < count; ++c)
            if (size[c] > tiny_component) group[c] = groups++;
        std::vector<Index> start(groups + 1, 0);
        for (Index const c : component) ++start[group[c] + 1];
        for (Index g = 0; g < groups; ++g) start[g + 1] += start[g];
        std::vector<Index> members(component.size());
        auto next = start;
        for (Index v = 0; v < root.num_interior; ++v) members[next[group[component[v]]]++] = v;
        std::vector<Index> scratch(root.num_vertices(), -1);
        auto const region_of = [&](Index g) {
            return induce(root, {members.data() + start[g], members.data() + start[g + 1]}, scratch);
        };
        if (start[1] > 0) {
            Region const tiny = region_of(0);
            auto const position = order_leaf(tiny);
            for (Index v = 0; v < tiny.num_interior; ++v) perm_[tiny.origin[v]] = position[v];
        }
        for (Index g = 1; g < groups; ++g) add(region_of(g), start[g], 0, hash_bits(g));
    }

    void add(Region region, Index first_position, int level, std::uint64_t seed) {
        if (region.num_interior == 0) return;
        auto node = std::make_shared<Node>();
        node->region = std::move(region);
        node->first_position = first_position;
        node->level = level;
        node->seed = seed;
        if (node->region.num_interior <= grain_ || level >= max_level)
            return pool_.add({std::move(node), leaf});
        for (int candidate = 0; candidate < num_candidates; ++candidate) pool_.add({node, candidate});
    }

    void perform(Job const& job, ScotchContext& context) {
        check(interrupt_);
        Node& node = *job.node;
        if (job.candidate == leaf) return number(node, context);
        context.reseed(hash_bits(node.seed + job.candidate));
        node.found[job.candidate] = separate(context, separators_[job.candidate], node.region);
        if (node.missing.fetch_sub(1) == 1) split(node, context);
    }

    // Numbers part 0, part 1 and the separator of a region in this order.
    void split(Node& node, ScotchContext& context) {
        Separation const* best = &node.found.front();
        for (auto const& candidate : node.found)
            if (candidate.better_than(*best)) best = &candidate;
        if (!best->cut()) return number(node, context);

        std::array<std::vector<Index>, 3> members;
        for (Index v = 0; v < node.region.num_interior; ++v) members[best->part[v]].push_back(v);
        node.found = {};
        std::vector<Index> scratch(node.region.num_vertices(), -1);
        Index position = node.first_position;
        for (int side = 0; side < 2; ++side) {
            auto const& part = members[side];
            add(induce(node.region, part, scratch), position, node.level + 1,
                hash_bits(node.seed ^ ((static_cast<std::uint64_t>(side) + 1) << 62)));
            position += std::ssize(part);
        }
        for (Index const v : members[2]) perm_[node.region.origin[v]] = position++;
    }

    void number(Node const& node, ScotchContext& context) {
        Region const& region = node.region;
        context.reseed(node.seed);
        auto const blocks = dissect(context, all_cuts_, region);
        auto inverse = invert_permutation(blocks.position, "SCOTCH");
        std::vector<Index> scratch(region.num_vertices(), -1);
        for (Index b = 0; b < std::ssize(blocks.is_leaf); ++b) {
            std::span<Index> const members(inverse.data() + blocks.start[b],
                                           inverse.data() + blocks.start[b + 1]);
            Index const first = node.first_position + blocks.start[b];
            std::sort(members.begin(), members.end());
            std::vector<Index> position;
            if (blocks.is_leaf[b]) position = order_leaf(induce(region, members, scratch));
            for (Index k = 0; k < std::ssize(members); ++k)
                perm_[region.origin[members[k]]] = first + (position.empty() ? k : position[k]);
        }
    }

    int threads_;
    Interrupt* interrupt_; ///< May be null.
    Index grain_ = 0;      ///< Maximum number of vertices of a leaf.
    std::array<ScotchStrategy, num_candidates> separators_;
    ScotchStrategy all_cuts_;
    std::vector<Index> perm_; ///< Jobs write disjoint entries.
    JobPool<Job> pool_;       ///< The deepest job first keeps few regions in memory.
};

} // namespace

std::vector<Index> order_by_scotch(Graph const& graph, int threads, Interrupt* interrupt) {
    return NestedDissection(graph, threads, interrupt).run();
}

} // namespace espalier
