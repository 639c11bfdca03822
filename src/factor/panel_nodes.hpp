// The NUMA nodes of panels. The input is a factor, the workers of its owners, and the topology. On this
// machine the nodes of a sample of pages are read from the system; for another topology they are predicted
// from the allocation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "factor/factor.hpp"
#include "runtime/topology.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

struct PageStrips;

/// For each panel the shares of its bytes on the nodes, relative to the bytes whose node is known.
template <class T> class PanelNodes {
  public:
    /// Reads or predicts nodes with all workers of the team; see measure_placement().
    PanelNodes(Factor<T> const& factor, WorkerTeam& team, Topology const& topology);

    /// Share of panel k on `node`; the sum over all nodes is 1, or 0 when nothing is known.
    [[nodiscard]] double share(CblkId k, int node) const {
        for (auto const& [where, part] : shares_of(k))
            if (where == node) return part;
        return 0;
    }
    [[nodiscard]] bool known(CblkId k) const { return !shares_of(k).empty(); }
    /// The node of the topology that has more than half of panel k; -1 if there is none, or nothing is known.
    [[nodiscard]] int main_node(CblkId k) const {
        for (auto const& [node, part] : shares_of(k))
            if (part > 0.5F && node + 1 < std::ssize(node_bytes_)) return node;
        return -1;
    }

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

    void locate(CblkId k, Arena const& arena, PageStrips const& strips, Owner& owner);

    Factor<T> const& factor_;
    std::vector<Owner> owners_;
    std::vector<Range> shares_; ///< By cblk: its shares in Owner::shares.
    std::vector<double> node_bytes_;
};

} // namespace espalier
