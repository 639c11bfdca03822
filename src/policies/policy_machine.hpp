// The machine as policies see it: the NUMA node of each worker, and the order of nodes by distance. Built
// from plain numbers, so it may describe another machine.
#pragma once

#include <span>
#include <vector>

#include "core/worker_range.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

class PolicyMachine {
  public:
    struct Neighbor {
        int node = 0;
        int rank = 0; ///< 0: the node itself; 1: the nearest others; 2: the next ones; ...
    };

    /// Nodes are any numbers >= 0. Those without workers are dropped; the others are renumbered from 0 in the
    /// same order. `distances` is a square table by the old numbers, row by row, as in Topology::distances;
    /// if it is empty, all nodes are equally far from each other. Error{internal} for negative nodes or
    /// distances and for a table that does not fit.
    explicit PolicyMachine(std::vector<int> const& node_of_worker, std::vector<double> const& distances = {});

    [[nodiscard]] int num_workers() const { return static_cast<int>(node_of_worker_.size()); }
    [[nodiscard]] int num_nodes() const { return static_cast<int>(workers_ptr_.size()) - 1; }
    [[nodiscard]] bool has(WorkerId worker) const { return 0 <= worker && worker < num_workers(); }
    [[nodiscard]] int node_of(WorkerId worker) const { return node_of_worker_[worker]; }
    /// The workers on a node, ascending; at least one.
    [[nodiscard]] std::span<WorkerId const> workers_of(int node) const {
        return {workers_.data() + workers_ptr_[node], workers_.data() + workers_ptr_[node + 1]};
    }
    /// The number of workers on the same node that have lower numbers.
    [[nodiscard]] int place_of(WorkerId worker) const { return place_[worker]; }
    /// All nodes, from `node` itself to the farthest; equally far ones in cyclic order from `node`.
    [[nodiscard]] std::span<Neighbor const> from(int node) const {
        return {neighbors_.data() + node * num_nodes(), neighbors_.data() + (node + 1) * num_nodes()};
    }
    /// The rank of node `to` in from(node).
    [[nodiscard]] int rank(int node, int to) const { return rank_[node * num_nodes() + to]; }
    /// Whether one of these workers is on the node.
    [[nodiscard]] bool any_on(WorkerRange range, int node) const;

  private:
    std::vector<int> node_of_worker_;
    std::vector<int> place_;
    std::vector<WorkerId> workers_; ///< Node by node.
    std::vector<int> workers_ptr_;
    std::vector<Neighbor> neighbors_;   ///< num_nodes() for each node.
    std::vector<int> rank_;             ///< By pair of nodes.
};

} // namespace espalier
