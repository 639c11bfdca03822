// Nested dissection by our own cuts. Threads process the tree of parts. The result for a part depends only on
// the part and its place in the tree, so the ordering does not depend on the number of threads. If many
// vertices are dominated, only the others are cut. The dominated ones take places in the tree that follow
// from their neighbors, and large separators are then refined with all vertices.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/mix_bits.hpp"
#include "ordering/domination.hpp"
#include "ordering/graph_properties.hpp"
#include "ordering/job_pool.hpp"
#include "ordering/lattice.hpp"
#include "ordering/methods.hpp"
#include "ordering/multilevel_cut.hpp"
#include "ordering/region.hpp"

namespace espalier {

namespace {

constexpr Vertex leaf_size = 200;
// Times the average, for hubs. The pressures of mixed finite elements have up to ten times as many.
constexpr Offset many_neighbors = 15;
constexpr int deepest_level = 60;       // limits useless cuts of graphs without good separators
constexpr double few_undominated = 0.7; // with a larger share of undominated vertices, all are cut
// Dominated vertices enlarge the leaves as well as the separators around them.
constexpr double share_of_leaf = 0.5;
// A vertex that dominates others weighs as much as this many, because some of them join separators with it.
constexpr std::int32_t weight_with_dominated = 6;
constexpr Vertex smallest_refined = 1000; // smaller parts are not refined with all vertices
constexpr Vertex smallest_job = 10'000;   // refined parts of at most this size stay on their thread

using NodeId = std::int32_t;
constexpr NodeId no_node = -1;

// A separator or a leaf of the dissection.
struct Node {
    NodeId parent = no_node;
    std::array<NodeId, 2> child{no_node, no_node}; // none or two
    // The number of the node in a preorder of the tree, and the first number after those of its subtree.
    NodeId number = 0, end = 0;

    [[nodiscard]] bool is_leaf() const { return child[0] == no_node; }
};

// The separators and leaves. Only the ids of nodes depend on the order in which threads add them.
class NodeTree {
  public:
    NodeId add(NodeId parent, int side) {
        std::lock_guard const lock(mutex_);
        auto const id = static_cast<NodeId>(nodes_.size());
        nodes_.emplace_back().parent = parent;
        if (parent != no_node) nodes_[parent].child[side] = id;
        return id;
    }

    // Numbers the nodes from the root, which was added first. Returns them in postorder.
    std::vector<NodeId> number() {
        std::vector<NodeId> postorder, stack{0};
        NodeId next = 0;
        while (!stack.empty()) {
            NodeId const id = stack.back();
            if (id < 0) { // all below the node ~id are numbered
                nodes_[~id].end = next;
                postorder.push_back(~id);
                stack.pop_back();
                continue;
            }
            nodes_[id].number = next++;
            stack.back() = ~id;
            auto const& child = nodes_[id].child;
            if (!nodes_[id].is_leaf()) stack.insert(stack.end(), child.rbegin(), child.rend());
        }
        return postorder;
    }

    // The following functions need nodes with numbers.
    Node const& operator[](NodeId id) const { return nodes_[id]; }
    // Whether `lower` is in the subtree of `id`.
    [[nodiscard]] bool contains(NodeId id, NodeId lower) const {
        return nodes_[id].number <= nodes_[lower].number && nodes_[lower].number < nodes_[id].end;
    }
    // The lowest node whose subtree contains both.
    [[nodiscard]] NodeId join(NodeId a, NodeId b) const {
        while (!contains(a, b)) a = nodes_[a].parent;
        return a;
    }

  private:
    std::mutex mutex_; // protects nodes_ in add()
    std::vector<Node> nodes_;
};

// A part of the graph, the subtree of a node.
struct Part {
    CutGraph graph;
    std::vector<Vertex> origin; // the number of each vertex in the whole graph
    NodeId node = no_node;
    int level = 0;
    MultilevelCut::Settings settings;
};

// The workspace of a thread.
struct Space {
    MultilevelCut cuts;
    CutRefinement refinement;
    Cut cut;
    Cut unrefined;              // the cut before its refinement
    std::vector<Vertex> number; // by vertex: its number in its part
};

std::vector<Vertex> all_vertices(Graph const& graph) {
    std::vector<Vertex> all(graph.num_vertices);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

class MultilevelDissection {
  public:
    MultilevelDissection(Graph const& graph, int threads, Interrupt* interrupt)
        : graph_(graph), threads_(threads), interrupt_(interrupt), node_of_(graph.num_vertices, no_node) {}

    std::vector<Index> run() {
        bool const is_reduced = cut_all();
        auto const postorder = tree_.number();
        if (is_reduced) {
            place_dominated();
            refine_all();
        }
        return positions(postorder);
    }

  private:
    // Builds the tree. Returns whether dominated vertices have no node yet.
    bool cut_all() {
        Part whole = part_to_cut();
        whole.node = tree_.add(no_node, 0);
        Vertex const n = whole.graph.num_vertices();
        bool const is_reduced = n < graph_.num_vertices;
        double const share = static_cast<double>(n) / static_cast<double>(graph_.num_vertices);
        largest_leaf_ = static_cast<Vertex>(leaf_size * (is_reduced ? share * share_of_leaf : 1));
        grain_ = std::max<Vertex>(1000, n / 64);
        // Only the smaller part of a cut becomes a job.
        pool_.add(std::move(whole));
        pool_.run(
            n > 2 * grain_ ? threads_ : 1, [] { return Space(); },
            [this](Part& part, Space& space) { dissect(std::move(part), space); });
        return is_reduced;
    }

    // The undominated vertices if they are few, or all. In circuits, what a vertex dominates tells little
    // about the separators through it.
    [[nodiscard]] Part part_to_cut() const {
        Part part;
        Undominated undominated;
        if (!has_hubs(graph_, many_neighbors)) undominated = find_undominated(graph_);
        auto const n = static_cast<double>(graph_.num_vertices);
        auto const others = static_cast<double>(undominated.vertices.size());
        if (others == 0 || others > few_undominated * n) {
            part.origin = all_vertices(graph_);
            part.graph = cut_graph(graph_);
            return part;
        }
        part.origin = std::move(undominated.vertices);
        part.graph = cut_graph(graph_, part.origin);
        std::int64_t const total = part.graph.total;
        if (total > std::numeric_limits<std::int32_t>::max() / weight_with_dominated) return part;
        part.graph.total = 0;
        for (std::size_t k = 0; k < part.origin.size(); ++k) {
            std::int32_t& weight = part.graph.weight[k];
            if (undominated.dominates[k] != 0) weight *= weight_with_dominated;
            part.graph.total += weight;
        }
        return part;
    }

    void dissect(Part part, Space& space) {
        check(interrupt_);
        if (part.graph.num_vertices() <= largest_leaf_ || part.level >= deepest_level ||
            !space.cuts.find(part.graph, part.settings, space.cut)) {
            for (Vertex const v : part.origin) node_of_[v] = part.node;
            return;
        }
        for (Vertex v = 0; v < part.graph.num_vertices(); ++v)
            if (space.cut.part[v] == 2) node_of_[part.origin[v]] = part.node;
        std::array<NodeId, 2> const nodes{tree_.add(part.node, 0), tree_.add(part.node, 1)};
        auto [smaller, larger] = split(std::move(part), nodes, space);
        if (smaller.graph.num_vertices() > grain_)
            pool_.add(std::move(smaller));
        else
            dissect(std::move(smaller), space);
        dissect(std::move(larger), space);
    }

    // The parts 0 and 1 of space.cut, for these nodes; the smaller one first.
    static std::pair<Part, Part> split(Part whole, std::array<NodeId, 2> nodes, Space& space) {
        Cut const& cut = space.cut;
        space.number.resize(whole.graph.num_vertices());
        std::array<Part, 2> parts;
        for (int side = 0; side < 2; ++side) {
            Part& part = parts[side];
            part.graph = part_of(whole.graph, cut, side, space.number);
            part.node = nodes[side];
            part.level = whole.level + 1;
            part.settings = {hash_bits(2 * whole.settings.seed + static_cast<std::uint64_t>(side)),
                             whole.settings.tries_levels};
            part.origin.reserve(part.graph.num_vertices());
        }
        for (Vertex v = 0; v < whole.graph.num_vertices(); ++v)
            if (cut.part[v] < 2) parts[cut.part[v]].origin.push_back(whole.origin[v]);
        bool const swaps = parts[0].graph.num_vertices() > parts[1].graph.num_vertices();
        return {std::move(parts[swaps ? 1 : 0]), std::move(parts[swaps ? 0 : 1])};
    }

    // No edge may connect subtrees that do not contain each other. One of the undominated neighbors of a
    // dominated vertex has all of them as neighbors, so they rarely are in different subtrees.
    void place_dominated() {
        for (Index v = 0; v < graph_.num_vertices; ++v)
            if (node_of_[v] == no_node) node_of_[v] = place_of(v, no_node);
    }

    // The lowest node such that each neighbor that has a node is in its subtree, or in a node above. With a
    // node `top`, the place is in its subtree, and all neighbors are in its subtree or above.
    [[nodiscard]] NodeId place_of(Index v, NodeId top) const {
        NodeId lowest = top;
        bool is_between = false; // neighbors in different subtrees: the place cannot be lower
        for (Index const w : graph_.neighbors(v)) {
            NodeId const node = node_of_[w];
            if (node == no_node || node == lowest) continue;
            if (lowest == no_node || (!is_between && tree_.contains(lowest, node))) {
                lowest = node;
            } else if (!tree_.contains(node, lowest) && !tree_.contains(lowest, node)) {
                lowest = tree_.join(lowest, node);
                is_between = true;
            }
        }
        return lowest;
    }

    // Refines the large separators from the root downwards.
    void refine_all() {
        Part whole;
        whole.origin = all_vertices(graph_);
        whole.graph = cut_graph(graph_);
        whole.node = 0;
        pool_.add(std::move(whole));
        pool_.run(
            graph_.num_vertices > 2 * smallest_job ? threads_ : 1, [] { return Space(); },
            [this](Part& part, Space& space) { refine(std::move(part), space); });
    }

    void refine(Part part, Space& space) {
        check(interrupt_);
        Node const& node = tree_[part.node];
        Vertex const n = part.graph.num_vertices();
        if (node.is_leaf() || n < smallest_refined) return;
        read_cut(part, space.cut);
        space.unrefined = space.cut;
        space.refinement.refine(part.graph, space.cut);
        // A cut that is only more balanced is not worth moving vertices: those that leave the separator may
        // join others.
        if (space.cut.weight[2] < space.unrefined.weight[2])
            write_cut(part, space);
        else
            space.cut = space.unrefined;
        auto [smaller, larger] = split(std::move(part), node.child, space);
        if (smaller.graph.num_vertices() > smallest_job)
            pool_.add(std::move(smaller));
        else
            refine(std::move(smaller), space);
        refine(std::move(larger), space);
    }

    // The cut of a part between the subtrees below its node.
    void read_cut(Part const& part, Cut& cut) const {
        NodeId const left = tree_[part.node].child[0];
        cut.part.resize(part.origin.size());
        for (std::size_t k = 0; k < part.origin.size(); ++k) {
            NodeId const node = node_of_[part.origin[k]];
            cut.part[k] = node == part.node ? 2 : tree_.contains(left, node) ? 0 : 1;
        }
        cut.set_weights(part.graph);
    }

    // Moves the vertices whose part has changed. Other jobs do not have their neighbors below this node.
    void write_cut(Part const& part, Space const& space) {
        auto const& now = space.cut.part;
        auto const& before = space.unrefined.part;
        for (std::size_t k = 0; k < now.size(); ++k)
            if (now[k] == 2) node_of_[part.origin[k]] = part.node;
        for (std::size_t k = 0; k < now.size(); ++k)
            if (now[k] != before[k] && now[k] < 2)
                node_of_[part.origin[k]] = place_of(part.origin[k], tree_[part.node].child[now[k]]);
    }

    // The new positions of the vertices. Those of a node are consecutive, and the nodes have this order.
    [[nodiscard]] std::vector<Index> positions(std::vector<NodeId> const& order) {
        std::vector<Index> size(order.size(), 0), first(order.size());
        for (NodeId const node : node_of_) ++size[node];
        Index next = 0;
        for (NodeId const node : order) {
            first[node] = next;
            next += size[node];
        }
        std::vector<Vertex> vertex_at(graph_.num_vertices);
        auto place = first;
        for (Index v = 0; v < graph_.num_vertices; ++v)
            vertex_at[place[node_of_[v]]++] = static_cast<Vertex>(v);

        std::vector<Index> perm(graph_.num_vertices); // jobs write disjoint entries
        constexpr std::size_t job = 32;               // nodes
        JobPool<std::size_t> pool;
        for (std::size_t k = 0; k < order.size(); k += job) pool.add(k);
        pool.run(
            order.size() > job ? threads_ : 1,
            [&] { return std::vector<Index>(graph_.num_vertices, -1); },
            [&](std::size_t begin, std::vector<Index>& local) {
                check(interrupt_);
                for (std::size_t k = begin; k < std::min(begin + job, order.size()); ++k) {
                    Index const start = first[order[k]];
                    std::span const own(vertex_at.data() + start, size[order[k]]);
                    number_node(order[k], own, start, local, perm);
                }
            });
        return perm;
    }

    // Vertices of separators stay in the order of their numbers.
    void number_node(NodeId node, std::span<Vertex const> own, Index first, std::vector<Index>& local,
                     std::vector<Index>& perm) const {
        if (!tree_[node].is_leaf()) {
            for (Vertex const v : own) perm[v] = first++;
            return;
        }
        auto const position = order_leaf(region_of(graph_, own, local));
        for (std::size_t k = 0; k < own.size(); ++k) perm[own[k]] = first + position[k];
    }

    Graph const& graph_;
    int threads_;
    Interrupt* interrupt_;    // may be null
    Vertex largest_leaf_ = 0; // parts to cut of at most this size are leaves
    Vertex grain_ = 0;        // parts to cut of at most this size stay on their thread
    NodeTree tree_;
    std::vector<NodeId> node_of_; // by vertex; jobs write disjoint entries
    JobPool<Part> pool_;
};

} // namespace

std::vector<Index> order_by_dissection(Graph const& graph, int threads, Interrupt* interrupt) {
    if (auto const lattice = find_lattice(graph)) return order_lattice(graph, *lattice, threads, interrupt);
    return MultilevelDissection(graph, threads, interrupt).run();
}

} // namespace espalier
