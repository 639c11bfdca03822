#include "incomplete/row_storage.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace espalier {

namespace {

/// The factorization reads rows of U repeatedly. Long rows are faster to read if they are contiguous.
constexpr std::int32_t longest_upper_in_group = 4;

} // namespace

template <class T>
RowStorage<T>::RowStorage(RowPattern const& pattern, ExecutionOrder const& order, SweepDirection direction,
                          int block_size, Allocation allocation, WorkerTeam& team)
    : forward_(direction == SweepDirection::forward), rows_(order.num_rows() * sizeof(Row), allocation), chunks_(order.num_chunks()),
      runs_(order.num_workers) {
    auto const for_each_chunk = [&](WorkerId w, auto const& visit) {
        std::int32_t const first = order.worker_ptr[w], last = order.worker_ptr[w + 1] - 1;
        for (std::int32_t k = 0; k <= last - first; ++k) visit(forward_ ? first + k : last - k);
    };
    auto const on_workers = [&](auto const& body) {
        team.for_each_worker([&](WorkerId w) {
            if (w < order.num_workers) for_each_chunk(w, body);
        });
    };
    on_workers([&](std::int32_t chunk) { chunks_[chunk].blocks.last = find_rows(pattern, order, chunk); });
    Offset blocks = 0;
    for (WorkerId w = 0; w < order.num_workers; ++w)
        for_each_chunk(w, [&](std::int32_t chunk) {
            Offset const first = std::exchange(blocks, blocks + chunks_[chunk].blocks.last);
            chunks_[chunk] = {{first, blocks}, w, 0, 0};
        });
    columns_ = Arena(blocks * sizeof(BlockRow), allocation);
    values_ = Arena(blocks * block_size * block_size * sizeof(T), allocation);
    auto const place = [&](std::int32_t chunk) {
        place_chunk(pattern, order, chunk, block_size);
        if (!order.node_of_chunk.empty() && allocation != Allocation::global)
            populate(std::as_writable_bytes(values_of(chunk, Index(block_size) * block_size)));
    };
    if (allocation == Allocation::global) {
        for (std::int32_t chunk = 0; chunk < order.num_chunks(); ++chunk) place(chunk);
        populate(values_.bytes());
    } else {
        on_workers(place);
    }
}

/// Finds the rows of a chunk in the pattern, for place_chunk(). Returns the number of their blocks.
template <class T>
Offset RowStorage<T>::find_rows(RowPattern const& pattern, ExecutionOrder const& order, std::int32_t chunk) {
    constexpr BlockRow ahead = 32; // prefetch distance: rows are far from each other in the pattern
    BlockRow const end = order.chunk_ptr[chunk + 1];
    Offset blocks = 0;
    for (BlockRow p = order.chunk_ptr[chunk]; p < end; ++p) {
        BlockRow const later = order.row_at[std::min(p + ahead, end - 1)], row = order.row_at[p];
        __builtin_prefetch(&pattern.ptr[later]);
        __builtin_prefetch(&pattern.diagonal[later]);
        Offset const first = forward_ ? pattern.ptr[row] : pattern.diagonal[row] + 1;
        Offset const last = forward_ ? pattern.diagonal[row] : pattern.ptr[row + 1];
        rows()[p] = {first, static_cast<std::int32_t>(last - first), 1};
        blocks += last - first;
    }
    return blocks;
}

/// Places the rows of a chunk one after the other, those of a group together.
template <class T>
void RowStorage<T>::place_chunk(RowPattern const& pattern, ExecutionOrder const& order, std::int32_t chunk,
                                int block_size) {
    std::int32_t const longest_in_group = block_size > 1 || is_complex<T> ? 0
                                          : forward_                      ? std::numeric_limits<std::int32_t>::max()
                                                                          : longest_upper_in_group;
    BlockRow const first = order.chunk_ptr[chunk], end = order.chunk_ptr[chunk + 1];
    auto const position = [&](BlockRow k) { return forward_ ? first + k : end - 1 - k; };
    auto const fits_group = [&](BlockRow k, std::int32_t length) {
        if (k + group_rows > end - first) return false;
        for (BlockRow lane = 1; lane < group_rows; ++lane) {
            bool const depends = order.begins_depth[std::max(position(k + lane), position(k + lane - 1))] != 0;
            if (depends || rows()[position(k + lane)].length != length) return false;
        }
        return true;
    };
    constexpr BlockRow ahead = 16;
    Offset next = begin_of_chunk(chunk);
    chunks_[chunk].first_run = static_cast<std::int32_t>(runs_[chunks_[chunk].worker].size());
    for (BlockRow k = 0; k < end - first;) {
        std::int32_t const length = rows()[position(k)].length;
        BlockRow const size = length > 0 && length <= longest_in_group && fits_group(k, length) ? group_rows : 1;
        for (BlockRow lane = 0; lane < size; ++lane) {
            __builtin_prefetch(pattern.cols.data() + rows()[position(std::min(k + lane + ahead, end - first - 1))].begin);
            // The lanes of a group are in the order of their positions.
            Row& row = rows()[position(k + (forward_ ? lane : size - 1 - lane))];
            BlockRow const* const from = pattern.cols.data() + row.begin;
            BlockRow* const to = columns() + next + lane;
            for (std::int32_t e = 0; e < length; ++e) to[e * size] = order.position_of[from[e]];
            row.begin = next + lane;
            row.stride = size;
        }
        next += Offset(size) * length;
        add_run(chunk, {length, size, size});
        k += size;
    }
}

template <class T> void RowStorage<T>::add_run(std::int32_t chunk, SweepRun const& rows) {
    auto& runs = runs_[chunks_[chunk].worker];
    bool const continues = chunks_[chunk].num_runs > 0 && runs.back().blocks_per_row == rows.blocks_per_row &&
                           runs.back().stride == rows.stride;
    if (continues) {
        runs.back().num_rows += rows.num_rows;
    } else {
        runs.push_back(rows);
        ++chunks_[chunk].num_runs;
    }
}

#define ESPALIER_INSTANTIATE(T) template class RowStorage<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
