// The machine as policies see it: on which NUMA node each worker stands, and which nodes are near each other.
// Plain numbers in, so that it may be a machine that is not here.
#pragma once

#include <span>
#include <vector>

#include "core/worker_range.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

class PolicyMachine {
  public:
    struct Neighbour {
        int node = 0;
        int rank = 0; ///< 0: the node itself; 1: the nearest others; 2: those that follow.
    };

    /// Nodes are any numbers >= 0; those without workers are forgotten, and the others are numbered anew from
    /// 0 in the same order. `distances` is a square table by the old numbers, as Topology::distance, row by
    /// row; empty: all nodes are equally far from each other. Error{internal} for negative nodes or
    /// distances, and a table that does not fit.
    explicit PolicyMachine(std::vector<int> const& node_of_worker, std::vector<double> const& distances = {});

    [[nodiscard]] int num_workers() const { return static_cast<int>(node_of_worker_.size()); }
    [[nodiscard]] int num_nodes() const { return static_cast<int>(workers_ptr_.size()) - 1; }
    [[nodiscard]] bool has(WorkerId worker) const { return 0 <= worker && worker < num_workers(); }
    [[nodiscard]] int node_of(WorkerId worker) const { return node_of_worker_[worker]; }
    /// Ascending, at least one.
    [[nodiscard]] std::span<WorkerId const> workers_of(int node) const {
        return {workers_.data() + workers_ptr_[node], workers_.data() + workers_ptr_[node + 1]};
    }
    /// How many workers of the same node have lower numbers.
    [[nodiscard]] int place_of(WorkerId worker) const { return place_[worker]; }
    /// All nodes, from `node` itself to the farthest; equally far ones from the next number on, cyclically.
    [[nodiscard]] std::span<Neighbour const> from(int node) const {
        auto const nodes = static_cast<std::size_t>(num_nodes());
        return {neighbours_.data() + node * nodes, nodes};
    }
    /// The rank of node `to` in from(node).
    [[nodiscard]] int rank(int node, int to) const { return rank_[node * num_nodes() + to]; }
    /// Does one of these workers stand on the node?
    [[nodiscard]] bool any_on(WorkerRange range, int node) const;

  private:
    std::vector<int> node_of_worker_;
    std::vector<int> place_;
    std::vector<WorkerId> workers_; ///< Node by node.
    std::vector<int> workers_ptr_;
    std::vector<Neighbour> neighbours_; ///< num_nodes() for each node.
    std::vector<int> rank_;             ///< The same by number.
};

} // namespace espalier
