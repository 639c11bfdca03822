// The public helpers for memory on NUMA nodes.
#include "espalier/numa.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numa.h>
#include <unistd.h>

#include "runtime/memory.hpp"

namespace espalier {

namespace {

void require_node(int node) {
    std::vector<int> const nodes = memory_nodes();
    if (!std::binary_search(nodes.begin(), nodes.end(), node))
        throw Error(Status::usage,
                    fmt::format("this process may not use memory of NUMA node {}; it may use {}", node,
                                fmt::join(nodes, ", ")));
}

} // namespace

std::vector<int> memory_nodes() {
    if (numa_available() < 0) return {0};
    std::vector<int> nodes;
    for (int node = 0; node <= numa_max_node(); ++node)
        if (numa_bitmask_isbitset(numa_all_nodes_ptr, static_cast<unsigned>(node))) nodes.push_back(node);
    return nodes.empty() ? std::vector<int>{0} : nodes;
}

PageLocation move_to_node(std::span<std::byte> range, int node_os_index) {
    require_node(node_os_index);
    move_pages_to(range, node_os_index);
    return query_nodes(range);
}

struct NumaMemory::State {
    Arena arena;
};

NumaMemory::NumaMemory() = default;
NumaMemory::~NumaMemory() = default;
NumaMemory::NumaMemory(NumaMemory&& other) noexcept = default;
NumaMemory& NumaMemory::operator=(NumaMemory&& other) noexcept = default;

NumaMemory::NumaMemory(std::span<NodeRange const> ranges) {
    for (NodeRange const& range : ranges) require_node(range.node_os_index);
    state_ = std::make_unique<State>(State{Arena::on_nodes(ranges)});
}

NumaMemory NumaMemory::distributed(std::size_t bytes, std::size_t piece_bytes) {
    std::vector<int> const nodes = memory_nodes();
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    // The system has a limit (65530 by default) on the number of ranges with different nodes.
    constexpr std::size_t most_pieces = 16384;
    if (piece_bytes > 0) piece_bytes = std::max(piece_bytes, bytes / most_pieces);
    if (piece_bytes == 0) piece_bytes = bytes / nodes.size() + (bytes % nodes.size() > 0 ? 1 : 0);
    std::size_t const pages = piece_bytes / page + (piece_bytes % page > 0 ? 1 : 0);
    std::size_t const piece = std::max<std::size_t>(1, pages) * page;
    std::vector<NodeRange> ranges;
    for (std::size_t at = 0; at < bytes; at += std::min(piece, bytes - at))
        ranges.push_back({std::min(piece, bytes - at), nodes[ranges.size() % nodes.size()]});
    return NumaMemory(ranges);
}

std::span<std::byte> NumaMemory::bytes() const {
    return state_ ? state_->arena.bytes() : std::span<std::byte>();
}

} // namespace espalier
