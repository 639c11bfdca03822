#include "incomplete/row_storage.hpp"

#include <algorithm>

namespace espalier {

template <class T>
RowStorage<T>::RowStorage(RowPattern const& pattern, ExecutionOrder const& order, SweepDirection direction,
                          int block_size, Allocation allocation, WorkerTeam& team)
    : rows_(order.num_rows()) {
    bool const forward = direction == SweepDirection::forward;
    auto const row_at = [&](BlockRow p) {
        return forward ? pattern.lower(order.row_at[p]) : pattern.upper(order.row_at[p]);
    };
    Offset blocks = 0;
    auto const place = [&](BlockRow p) {
        rows_[p] = {blocks, static_cast<std::int32_t>(row_at(p).size())};
        blocks += rows_[p].length;
    };
    auto const positions_of = [&](WorkerId w) {
        return IndexRange{order.chunk_ptr[order.worker_ptr[w]], order.chunk_ptr[order.worker_ptr[w + 1]]};
    };
    for (WorkerId w = 0; w < order.num_workers; ++w) {
        auto const range = positions_of(w);
        for (Index k = 0; k < range.size(); ++k)
            place(static_cast<BlockRow>(forward ? range.first + k : range.last - 1 - k));
    }
    columns_ = Arena(blocks * sizeof(BlockRow), allocation);
    values_ = Arena(blocks * block_size * block_size * sizeof(T), allocation);
    auto const fill = [&](WorkerId w) {
        if (w >= order.num_workers) return;
        for (Index const p : positions_of(w)) {
            BlockRow* column = columns() + rows_[p].begin;
            for (BlockRow const j : row_at(static_cast<BlockRow>(p))) *column++ = order.position_of[j];
        }
        if (order.node_of_chunk.empty()) return;
        for (std::int32_t chunk = order.worker_ptr[w]; chunk < order.worker_ptr[w + 1]; ++chunk)
            populate(std::as_writable_bytes(values_of(order, chunk, Index(block_size) * block_size)));
    };
    if (allocation == Allocation::global) {
        for (WorkerId w = 0; w < order.num_workers; ++w) fill(w);
        populate(values_.bytes());
    } else {
        team.for_each_worker(fill);
    }
    make_runs(order, direction);
}

template <class T> std::span<T> RowStorage<T>::values_of(ExecutionOrder const& order, std::int32_t chunk,
                                                         Index entries_of_block) const {
    BlockRow const first = order.chunk_ptr[chunk], last = order.chunk_ptr[chunk + 1] - 1;
    BlockRow const low = begin(first) <= begin(last) ? first : last, high = first + last - low;
    return {values() + begin(low) * entries_of_block,
            static_cast<std::size_t>((begin(high) + length(high) - begin(low)) * entries_of_block)};
}

template <class T> void RowStorage<T>::make_runs(ExecutionOrder const& order, SweepDirection direction) {
    for (std::int32_t chunk = 0; chunk < order.num_chunks(); ++chunk) {
        BlockRow const first = order.chunk_ptr[chunk], end = order.chunk_ptr[chunk + 1];
        for (BlockRow k = 0; k < end - first; ++k) {
            BlockRow const p = direction == SweepDirection::forward ? first + k : end - 1 - k;
            bool const continues = std::ssize(runs_) > run_ptr_.back() &&
                                   runs_.back().blocks_per_row == rows_[p].length;
            if (continues)
                ++runs_.back().num_rows;
            else
                runs_.push_back({rows_[p].length, 1});
        }
        run_ptr_.push_back(std::ssize(runs_));
    }
}

#define ESPALIER_INSTANTIATE(T) template class RowStorage<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
