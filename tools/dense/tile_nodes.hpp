// The NUMA nodes that hold the tiles, as the system reports them, and the homes of tasks on these nodes. The
// pages of a tile are with its owner unless one thread touched all of them (--alloc global), the node was
// full, or the system has moved them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/topology.hpp"
#include "runtime/worker_team.hpp"
#include "tools/dense/tile_tasks.hpp"
#include "tools/dense/tiled_matrix.hpp"

namespace espalier {

/// For each tile, row by row, the node of the topology that has more than half of a sample of its pages; -1
/// if there is no such node, if the nodes are unknown, or if the tile is not stored. The matrix must have
/// been filled.
std::vector<int> nodes_of_tiles(TiledMatrix const& matrix, Topology const& topology);

/// Gives the tasks that write a tile which lies on another node than its owner a home there: a worker of that
/// node, in turn. `nodes` is the result of nodes_of_tiles(). Returns the number of such tiles.
std::int64_t follow_tiles(TileTasks& tasks, TileOwners const& owners, std::vector<int> const& nodes,
                          std::vector<WorkerPlace> const& places);

/// The number of tiles on each of `num_nodes` nodes; tiles on an unknown node are not counted.
std::vector<std::int64_t> tiles_of_nodes(std::vector<int> const& nodes, int num_nodes);

/// The share of the tasks that ran on the node of the tile that they write, among those with a known node;
/// nothing if no node is known.
std::optional<double> share_at_tiles(TileTasks const& tasks, std::vector<WorkerId> const& worker_of_task,
                                     std::vector<int> const& nodes, std::vector<WorkerPlace> const& places);

} // namespace espalier
