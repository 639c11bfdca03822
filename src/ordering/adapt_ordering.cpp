#include "ordering/adapt_ordering.hpp"

#include <algorithm>
#include <utility>

#include "ordering/induced_subgraph.hpp"
#include "ordering/permutation.hpp"

namespace espalier {

namespace {

// A rooted tree with nodes in postorder. The last node is a root above all others.
class Tree {
  public:
    explicit Tree(std::vector<Index> const& parents)
        : parent_(parents.size() + 1), first_(parent_.size()), depth_(parent_.size(), 0),
          jump_(parent_.size()) {
        for (Index k = 0; k < root(); ++k) parent_[k] = parents[k] < 0 ? root() : parents[k];
        parent_[root()] = root();
        for (Index k = 0; k < size(); ++k) first_[k] = k;
        for (Index k = 0; k < root(); ++k) first_[parent_[k]] = std::min(first_[parent_[k]], first_[k]);
        jump_[root()] = root();
        for (Index k = root() - 1; k >= 0; --k) {
            Index const p = parent_[k], over = jump_[p];
            depth_[k] = depth_[p] + 1;
            // Myers 1983, "An applicative random-access stack": jumps of equal lengths join to one of twice
            // the length.
            jump_[k] = depth_[p] - depth_[over] == depth_[over] - depth_[jump_[over]] ? jump_[over] : p;
        }
    }

    [[nodiscard]] Index size() const { return std::ssize(first_); }
    [[nodiscard]] Index root() const { return size() - 1; }
    [[nodiscard]] Index parent(Index k) const { return parent_[k]; }
    [[nodiscard]] bool contains(Index subtree, Index node) const {
        return first_[subtree] <= node && node <= subtree;
    }
    [[nodiscard]] bool are_related(Index a, Index b) const { return contains(a, b) || contains(b, a); }

    [[nodiscard]] Index lowest_common_ancestor(Index a, Index b) const {
        while (!contains(a, b)) a = contains(jump_[a], b) ? parent_[a] : jump_[a];
        return a;
    }

  private:
    std::vector<Index> parent_, first_, depth_, jump_;
};

class Adaptation {
  public:
    Adaptation(CompressedGraph const& compressed, SeparatorTree const& previous,
               OrderingOptions const& options)
        : compressed_(compressed), graph_(compressed.graph), previous_(previous), options_(options),
          tree_(previous.parent), node_(graph_.num_vertices, none), has_moved_(graph_.num_vertices, 0) {}

    AdaptedOrdering run() {
        place_vertices();
        move_ends_of_broken_edges();
        if (!choose_subtrees()) return {compute_ordering(compressed_, options_), 0, graph_.num_vertices};
        std::vector<Index> inverse = vertices_by_node();
        order_subtrees(inverse);
        auto perm = invert_permutation(inverse, "the adapted ordering");
        return {{std::move(perm), std::move(inverse)}, moved_, reordered_};
    }

  private:
    static constexpr Index none = -1;

    // A vertex of several rows is at their lowest common ancestor, or at the highest of related nodes.
    void place_vertices() {
        std::vector<char> is_last(graph_.num_vertices, 0);
        for (Index const v : compressed_.last) is_last[v] = 1;
        for (Index const row : previous_.inverse) {
            Index const v = compressed_.vertex_of_row[row], node = previous_.node_of_row[row];
            if (node_[v] == none) by_position_.push_back(v);
            node_[v] = is_last[v]         ? tree_.root()
                       : node_[v] == none ? node
                                          : tree_.lowest_common_ancestor(node_[v], node);
        }
        std::erase_if(by_position_, [&](Index v) { return is_last[v]; });
    }

    // Calls body(v, w) for each edge between unrelated nodes.
    template <class Body> void for_each_broken_edge(Body const& body) const {
        for (Index v = 0; v < graph_.num_vertices; ++v)
            for (Index const w : graph_.neighbors(v))
                if (w < v && !tree_.are_related(node_[v], node_[w])) body(v, w);
    }

    // The end with more broken edges moves, which mends the others as well where they break the same
    // separator.
    void move_ends_of_broken_edges() {
        std::vector<Index> broken(graph_.num_vertices, 0);
        for_each_broken_edge([&](Index v, Index w) { ++broken[v], ++broken[w]; });
        std::vector<Index> move_to = node_;
        for_each_broken_edge([&](Index v, Index w) {
            if (tree_.are_related(move_to[v], move_to[w])) return;
            Index const moving = broken[v] > broken[w] ? v : w;
            move_to[moving] = tree_.lowest_common_ancestor(move_to[v], move_to[w]);
            moved_ += !std::exchange(has_moved_[moving], 1);
        });
        node_ = std::move(move_to);
    }

    // Whether the subtrees that are ordered again have at most half of all vertices.
    bool choose_subtrees() {
        std::vector<Index> own(tree_.size(), 0), arrived(tree_.size(), 0), children(tree_.size(), 0);
        for (Index const v : by_position_) (has_moved_[v] ? arrived : own)[node_[v]] += graph_.weight_of(v);
        for (Index k = 0; k < tree_.root(); ++k) ++children[tree_.parent(k)];
        // A separator may be a chain of nodes.
        std::vector<Index> separator = own;
        for (Index k = tree_.root() - 1; k >= 0; --k)
            if (children[tree_.parent(k)] == 1) separator[k] += separator[tree_.parent(k)];
        subtree_.assign(tree_.size(), none);
        for (Index k = tree_.root(); k >= 0; --k)
            if (k < tree_.root() && subtree_[tree_.parent(k)] != none)
                subtree_[k] = subtree_[tree_.parent(k)];
            else if (2 * arrived[k] > separator[k] && arrived[k] > few_vertices)
                subtree_[k] = k;
        reordered_ = std::count_if(by_position_.begin(), by_position_.end(),
                                   [&](Index v) { return subtree_[node_[v]] != none; });
        return 2 * reordered_ <= std::ssize(by_position_);
    }

    // The subtrees that are ordered again count as single nodes, and vertices that moved come first in their
    // node. The last vertices of the compressed graph follow all others.
    std::vector<Index> vertices_by_node() {
        auto const bucket_of = [&](Index v) {
            Index const subtree = subtree_[node_[v]];
            return 2 * (subtree == none ? node_[v] : subtree) + (subtree != none || !has_moved_[v]);
        };
        bucket_ptr_.assign(2 * tree_.size() + 1, 0);
        for (Index const v : by_position_) ++bucket_ptr_[bucket_of(v) + 1];
        for (Index b = 0; b < 2 * tree_.size(); ++b) bucket_ptr_[b + 1] += bucket_ptr_[b];
        std::vector<Index> next(bucket_ptr_), inverse(by_position_.size());
        for (Index const v : by_position_) inverse[next[bucket_of(v)]++] = v;
        inverse.insert(inverse.end(), compressed_.last.begin(), compressed_.last.end());
        return inverse;
    }

    void order_subtrees(std::vector<Index>& inverse) const {
        std::vector<Index> number(graph_.num_vertices, none);
        for (Index k = 0; k < tree_.size(); ++k) {
            if (subtree_[k] != k) continue;
            std::span<Index> const vertices(inverse.data() + bucket_ptr_[2 * k + 1],
                                            inverse.data() + bucket_ptr_[2 * k + 2]);
            std::ranges::sort(vertices);
            auto const order = compute_ordering(induced_subgraph(graph_, vertices, number), options_).inverse;
            std::vector<Index> const ascending(vertices.begin(), vertices.end());
            for (Index i = 0; i < std::ssize(vertices); ++i) vertices[i] = ascending[order[i]];
        }
    }

    // A separator that receives so few vertices is kept, however small it is.
    static constexpr Index few_vertices = 8;

    CompressedGraph const& compressed_;
    Graph const& graph_;
    SeparatorTree const& previous_;
    OrderingOptions const& options_;
    Tree tree_;
    std::vector<Index>
        by_position_; // the vertices by their first rows in the previous ordering, without the last ones
    std::vector<Index> node_;     // for each vertex
    std::vector<char> has_moved_; // for each vertex
    std::vector<Index>
        subtree_; // for each node the root of the subtree with it that is ordered again, or none
    std::vector<Index> bucket_ptr_; // for each node the vertices that moved into it, and its own
    Index moved_ = 0, reordered_ = 0;
};

} // namespace

AdaptedOrdering adapt_ordering(CompressedGraph const& compressed, SeparatorTree const& previous,
                               OrderingOptions const& options) {
    return Adaptation(compressed, previous, options).run();
}

} // namespace espalier
