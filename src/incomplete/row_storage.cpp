#include "incomplete/row_storage.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace espalier {

namespace {

/// The factorization reads rows of U again and again. Long rows are faster to read if they are contiguous.
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
    on_workers([&](std::int32_t chunk) {
        Offset blocks = 0;
        for (BlockRow p = order.chunk_ptr[chunk]; p < order.chunk_ptr[chunk + 1]; ++p) {
            BlockRow const row = order.row_at[p];
            blocks += std::ssize(forward_ ? pattern.lower(row) : pattern.upper(row));
        }
        chunks_[chunk].blocks.last = blocks;
    });
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

/// Places the rows of a chunk one after the other, those of a group together.
template <class T>
void RowStorage<T>::place_chunk(RowPattern const& pattern, ExecutionOrder const& order, std::int32_t chunk,
                                int block_size) {
    std::int32_t const longest_in_group = block_size > 1 || is_complex<T> ? 0
                                          : forward_                      ? std::numeric_limits<std::int32_t>::max()
                                                                          : longest_upper_in_group;
    BlockRow const first = order.chunk_ptr[chunk], end = order.chunk_ptr[chunk + 1];
    auto const position = [&](BlockRow k) { return forward_ ? first + k : end - 1 - k; };
    auto const row_at = [&](BlockRow k) {
        BlockRow const row = order.row_at[position(k)];
        return forward_ ? pattern.lower(row) : pattern.upper(row);
    };
    auto const prefetch = [&](BlockRow k) { // rows are far from each other in the pattern
        constexpr BlockRow near = 16, far = 32;
        if (k + far >= end - first) return;
        BlockRow const row = order.row_at[position(k + far)];
        __builtin_prefetch(&pattern.ptr[row]);
        __builtin_prefetch(&pattern.diagonal[row]);
        __builtin_prefetch(row_at(k + near).data());
    };
    auto const fits_group = [&](BlockRow k, std::size_t length) {
        if (k + group_rows > end - first) return false;
        for (BlockRow lane = 1; lane < group_rows; ++lane) {
            bool const depends = order.begins_depth[std::max(position(k + lane), position(k + lane - 1))] != 0;
            if (depends || row_at(k + lane).size() != length) return false;
        }
        return true;
    };
    Offset next = begin_of_chunk(chunk);
    chunks_[chunk].first_run = static_cast<std::int32_t>(runs_[chunks_[chunk].worker].size());
    for (BlockRow k = 0; k < end - first;) {
        auto const length = static_cast<std::int32_t>(row_at(k).size());
        BlockRow const size = length > 0 && length <= longest_in_group && fits_group(k, length) ? group_rows : 1;
        for (BlockRow lane = 0; lane < size; ++lane) {
            prefetch(k + lane);
            // The lanes of a group are in the order of their positions.
            BlockRow const from = forward_ ? lane : size - 1 - lane;
            rows()[position(k + from)] = {next + lane, length, size};
            BlockRow* column = columns() + next + lane;
            for (BlockRow const j : row_at(k + from)) {
                *column = order.position_of[j];
                column += size;
            }
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
