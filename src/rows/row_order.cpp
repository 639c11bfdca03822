#include "rows/row_order.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "core/inverse_permutation.hpp"
#include "rows/dense_blocks.hpp"

namespace espalier {

namespace {

// The positions of the blocks, if the rows of each block have consecutive positions.
std::optional<std::vector<Index>> positions_of_blocks(std::vector<Index> const& of_row, int size) {
    std::vector<Index> positions(of_row.size() / size);
    for (Index row = 0; row < std::ssize(of_row); ++row) {
        Index const first = of_row[row - row % size];
        if (first % size != 0 || of_row[row] != first + row % size) return std::nullopt;
        positions[row / size] = first / size;
    }
    return positions;
}

RowOrder order_of_user(Index n, int block_size, bool is_given, OrderingOptions const& ordering) {
    Graph rows;
    rows.num_vertices = n;
    rows.ptr.assign(n + 1, 0);
    auto of_row = compute_ordering(rows, ordering).perm;
    if (auto blocks = positions_of_blocks(of_row, block_size)) return {block_size, std::move(*blocks)};
    if (is_given)
        throw Error(
            Status::usage,
            fmt::format("the ordering separates the rows of dense blocks of size {}; use block size 1",
                        block_size));
    return {1, std::move(of_row)};
}

// The positions of rows. Rows of one vertex are consecutive.
std::vector<Index> expanded(CompressedGraph const& compressed, std::vector<Index> const& position_of_vertex) {
    auto const n = std::ssize(compressed.vertex_of_row);
    std::vector<Index> rows(n);
    std::iota(rows.begin(), rows.end(), Index(0));
    std::stable_sort(rows.begin(), rows.end(), [&](Index i, Index j) {
        return position_of_vertex[compressed.vertex_of_row[i]] <
               position_of_vertex[compressed.vertex_of_row[j]];
    });
    return inverse_permutation(rows);
}

} // namespace

RowOrder order_rows(StoredPattern const& a, int block_size, OrderingOptions const& ordering) {
    int const size = block_size == 0 ? find_block_size(a) : block_size;
    require_block_size(a, size); // several processes deal out whole blocks before block_pattern() checks them
    if (ordering.method == OrderingMethod::natural) return {size, {}};
    auto const pattern = block_pattern(a, size);
    if (ordering.method == OrderingMethod::user)
        return order_of_user(a.rows, size, block_size != 0, ordering);
    auto const compressed = compress(row_graph(pattern));
    return {size, expanded(compressed, compute_ordering(compressed, ordering).perm)};
}

} // namespace espalier
