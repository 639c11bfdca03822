#include "symbolic/amalgamation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "symbolic/structure.hpp"

namespace espalier {

namespace {

// The bounds on all merges are relative to the factor without merges. Each supernode adds these amounts to
// its entries and flops, because its description takes about 500 bytes and its processing has a fixed cost.
constexpr double entries_per_supernode = 120;
constexpr double flops_per_supernode = 2e4;

struct Node {
    Index width = 0;
    Index below = 0;
};

struct Totals {
    double entries = 0;
    double flops = 0;

    void add(Node const& node, double sign) {
        entries += sign * static_cast<double>(trapezoid_entries(node.width + node.below, node.width));
        flops += sign * trapezoid_flops(node.width + node.below, node.width);
    }
};

class Amalgamation {
  public:
    Amalgamation(Supernodes const& fundamental, SymbolicOptions const& options)
        : fine_(fundamental), children_(fundamental.parent),
          end_(fundamental.size() - (options.kept_vertices > 0 ? 1 : 0)) {
        Totals totals;
        auto const nodes = fine_nodes();
        for (SupernodeId s = 0; s < end_; ++s) totals.add(nodes[s], 1);
        auto const supernodes = static_cast<double>(end_);
        allowed_.entries = options.amalgamation_fill * (totals.entries + entries_per_supernode * supernodes);
        allowed_.flops = options.max_extra_flops * (totals.flops + flops_per_supernode * supernodes);
    }

    Amalgamated run() {
        if (allowed_.entries > 0 && allowed_.flops > 0 && merge_within_bounds()) return {result(), prices_};
        merge_all(nullptr);
        return {result(), std::nullopt};
    }

  private:
    [[nodiscard]] std::vector<Node> fine_nodes() const {
        std::vector<Node> nodes(fine_.parent.size());
        for (SupernodeId s = 0; s < fine_.size(); ++s) nodes[s] = {fine_.width[s], fine_.below[s]};
        return nodes;
    }

    [[nodiscard]] bool merge_at(double entry_price) {
        prices_.stored_entry = entry_price;
        merge_all(&prices_);
        return extra_.entries <= allowed_.entries && extra_.flops <= allowed_.flops;
    }

    // Finds, within a factor sqrt(2), the lowest price of stored entries that meets the bounds and is not
    // below the default, and makes the merges at this price.
    bool merge_within_bounds() {
        double too_low = prices_.stored_entry;
        if (merge_at(too_low)) return true;
        double high = 4 * too_low;
        for (; !merge_at(high); high *= 4) {
            if (high > 1e12) return false;
            too_low = high;
        }
        for (int halvings = 2; halvings-- > 0;) {
            double const middle = std::sqrt(too_low * high);
            (merge_at(middle) ? high : too_low) = middle;
        }
        return prices_.stored_entry == high || merge_at(high);
    }

    // Without prices, only merges that store no zeros are made.
    void merge_all(MergePrices const* prices) {
        nodes_ = fine_nodes();
        extra_ = {};
        merged_.assign(fine_.parent.size(), 0);
        for (SupernodeId p = 0; p < end_; ++p) {
            candidates_.assign(children_.of(p).begin(), children_.of(p).end());
            // Children that cause the fewest zeros per column come first.
            std::sort(candidates_.begin(), candidates_.end(), [&](SupernodeId a, SupernodeId b) {
                return std::pair(-nodes_[a].below, a) < std::pair(-nodes_[b].below, b);
            });
            for (SupernodeId c : candidates_) try_merge(c, p, prices);
        }
    }

    void try_merge(SupernodeId c, SupernodeId p, MergePrices const* prices) {
        Node const child = nodes_[c];
        Node const parent = nodes_[p];
        Node const both{child.width + parent.width, parent.below};
        auto const cost = [&](Node const& node) { return supernode_cost(node.width, node.below, *prices); };
        bool const free = child.below == parent.width + parent.below;
        if (!free && (prices == nullptr || cost(both) > cost(child) + cost(parent))) return;
        extra_.add(both, 1);
        extra_.add(child, -1);
        extra_.add(parent, -1);
        nodes_[p] = both;
        merged_[c] = 1;
    }

    [[nodiscard]] Supernodes result() const {
        std::vector<SupernodeId> top(fine_.parent.size()); // the group of each fine supernode
        std::vector<Index> below(fine_.parent.size());
        for (SupernodeId s = fine_.size(); s-- > 0;) {
            top[s] = merged_[s] ? top[fine_.parent[s]] : s;
            below[s] = nodes_[s].below;
        }
        return coarsen(fine_, top, below);
    }

    Supernodes const& fine_;
    Children children_;
    SupernodeId end_; // supernodes before it may absorb their children
    std::vector<SupernodeId> candidates_;
    std::vector<Node> nodes_;
    std::vector<char> merged_; // whether each supernode is merged into its parent
    MergePrices prices_;
    Totals allowed_;
    Totals extra_;
};

class Bundling {
  public:
    Bundling(LowerPattern const& pattern, Supernodes const& supernodes, MergePrices const& prices)
        : pattern_(pattern), fine_(supernodes), structure_(row_structure(pattern, supernodes)),
          prices_(prices), top_(supernodes.parent.size()), below_(supernodes.below),
          seen_by_(supernodes.members.size(), no_supernode) {}

    Supernodes run(bool keep_last) {
        Children const children(fine_.parent);
        for (SupernodeId s = 0; s < fine_.size(); ++s) top_[s] = s;
        for (SupernodeId p = 0; p < fine_.size(); ++p) bundle(children.of(p));
        auto const roots = children.roots(); // the last root is the last supernode
        bundle(keep_last ? roots.first(roots.size() - 1) : roots);
        return coarsen(fine_, top_, below_);
    }

  private:
    // Numbers each bundle by its last member, as coarsen() requires.
    void bundle(std::span<SupernodeId const> siblings) {
        members_.clear();
        for (SupernodeId s : siblings) {
            if (fine_.width[s] >= bundle_width) continue;
            if (!members_.empty() && !fits(s)) members_.clear();
            if (members_.empty()) {
                stamp_ = s;
                width_ = rows_ = 0;
            }
            rows_ += new_rows(s);
            for (Vertex v : structure_.rows_of(s)) seen_by_[v] = stamp_;
            width_ += fine_.width[s];
            members_.push_back(s);
            for (SupernodeId m : members_) top_[m] = s;
            below_[s] = rows_;
        }
    }

    [[nodiscard]] bool fits(SupernodeId s) const {
        Index const width = width_ + fine_.width[s];
        return width <= bundle_width && supernode_cost(width, rows_ + new_rows(s), prices_) <=
                                            supernode_cost(width_, rows_, prices_) +
                                                supernode_cost(fine_.width[s], fine_.below[s], prices_);
    }

    [[nodiscard]] Index new_rows(SupernodeId s) const {
        Index rows = 0;
        for (Vertex v : structure_.rows_of(s))
            if (seen_by_[v] != stamp_) rows += pattern_.weight[v];
        return rows;
    }

    LowerPattern const& pattern_;
    Supernodes const& fine_;
    RowStructure const structure_;
    MergePrices const prices_;
    std::vector<SupernodeId> top_;
    std::vector<Index> below_;
    std::vector<SupernodeId> seen_by_; // the stamp of the last bundle with this row
    std::vector<SupernodeId> members_; // members of the current bundle, at most bundle_width
    SupernodeId stamp_ = no_supernode;
    Index width_ = 0;
    Index rows_ = 0;
};

} // namespace

Amalgamated amalgamate(Supernodes const& fundamental, SymbolicOptions const& options) {
    return Amalgamation(fundamental, options).run();
}

Supernodes bundle_siblings(LowerPattern const& pattern, Supernodes const& supernodes,
                           MergePrices const& prices, bool keep_last) {
    return Bundling(pattern, supernodes, prices).run(keep_last);
}

} // namespace espalier
