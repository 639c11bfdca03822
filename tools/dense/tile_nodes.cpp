#include "tools/dense/tile_nodes.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include "runtime/binding.hpp"
#include "runtime/memory.hpp"

namespace espalier {

namespace {

constexpr std::size_t pages_of_tile = 16; // sampled

int main_node(std::span<double const> tile, Topology const& topology) {
    auto const bytes = std::as_bytes(tile);
    std::vector<int> of_node(topology.num_nodes() + 1, 0); // last: all other nodes
    int known = 0;
    for (int const os_index : sample_nodes(bytes, bytes.size() / pages_of_tile + 1).node) {
        if (os_index < 0) continue;
        ++of_node[topology.node_of_os_index(os_index)];
        ++known;
    }
    auto const most = std::max_element(of_node.begin(), of_node.end() - 1);
    return 2 * *most > known ? static_cast<int>(most - of_node.begin()) : -1;
}

} // namespace

std::vector<int> nodes_of_tiles(TiledMatrix const& matrix, Topology const& topology) {
    std::int32_t const count = matrix.grid().count();
    std::vector<int> nodes(Index{count} * count, -1);
    for (std::int32_t i = 0; i < count; ++i)
        for (std::int32_t j = 0; j < count; ++j)
            if (auto const tile = matrix.tile(i, j); tile.data)
                nodes[i * count + j] =
                    main_node({tile.data, static_cast<std::size_t>(tile.rows * tile.cols)}, topology);
    return nodes;
}

std::int64_t follow_tiles(TileTasks& tasks, TileOwners const& owners, std::vector<int> const& nodes,
                          std::vector<WorkerPlace> const& places) {
    std::int32_t const count = tasks.grid.count();
    std::vector<WorkerId> of_tile(nodes.size());
    for (std::int32_t i = 0; i < count; ++i)
        for (std::int32_t j = 0; j < count; ++j) of_tile[i * count + j] = owners.of(i, j);
    auto const workers = workers_at_data(of_tile, nodes, places);
    for (std::size_t t = 0; t < tasks.tasks.size(); ++t)
        tasks.graph.home[t] = workers[tasks.tasks[t].i * count + tasks.tasks[t].j];
    return std::inner_product(workers.begin(), workers.end(), of_tile.begin(), std::int64_t{0}, std::plus<>(),
                              std::not_equal_to<>());
}

std::vector<std::int64_t> tiles_of_nodes(std::vector<int> const& nodes, int num_nodes) {
    std::vector<std::int64_t> tiles(num_nodes, 0);
    for (int const node : nodes)
        if (node >= 0) ++tiles[node];
    return tiles;
}

std::optional<double> share_at_tiles(TileTasks const& tasks, std::vector<WorkerId> const& worker_of_task,
                                     std::vector<int> const& nodes, std::vector<WorkerPlace> const& places) {
    std::int64_t known = 0, local = 0;
    for (std::size_t t = 0; t < tasks.tasks.size(); ++t) {
        int const node = nodes[tasks.tasks[t].i * tasks.grid.count() + tasks.tasks[t].j];
        if (node < 0) continue;
        ++known;
        local += places[worker_of_task[t]].node == node;
    }
    if (known == 0) return {};
    return static_cast<double>(local) / static_cast<double>(known);
}

} // namespace espalier
