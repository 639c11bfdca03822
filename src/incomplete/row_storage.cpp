#include "incomplete/row_storage.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace espalier {

namespace {

/// The factorization reads rows of U repeatedly. Long rows are faster to read if they are contiguous: with 6, ILU(1) of a
/// lattice would take longer, and only the backward sweep of a dissection would gain.
constexpr std::int32_t longest_upper_in_group = 4;

} // namespace

/// Places the columns of rows.
template <class T> class RowStorage<T>::Placement {
  public:
    Placement(RowStorage& storage, RowPattern const& pattern, ExecutionOrder const& order, bool forms_groups)
        : pattern_(pattern), order_(order), forward_(storage.forward_), rows_(storage.rows()),
          columns_(storage.columns()) {
        if (forms_groups)
            longest_in_group_ = forward_ ? std::numeric_limits<std::int32_t>::max() : longest_upper_in_group;
    }

    /// Begins a chunk, whose rows are numbered in the order of the sweep.
    void begin(std::int32_t chunk) {
        first_ = order_.chunk_ptr[chunk];
        end_ = order_.chunk_ptr[chunk + 1];
    }

    /// Places row k, or a group that begins there, at the block `begin`.
    SweepRun place(BlockRow k, Offset begin) {
        std::int32_t const length = row(k).length;
        BlockRow const size = fits_group(k, length) ? group_rows : 1;
        for (BlockRow r = 0; r < size; ++r) {
            __builtin_prefetch(pattern_.cols.data() + row(std::min(k + r + ahead, end_ - first_ - 1)).begin);
            BlockRow const lane = forward_ ? r : size - 1 - r; // lanes are in the order of their positions
            place_row(row(k + r), begin + lane, size);
        }
        return {length, size, size, size > 1 && are_consecutive(columns_ + begin, length)};
    }

    [[nodiscard]] Row& row(BlockRow k) const { return rows_[forward_ ? first_ + k : end_ - 1 - k]; }

  private:
    static constexpr BlockRow ahead = 16; ///< The rows by which prefetches of the pattern run ahead.

    [[nodiscard]] bool fits_group(BlockRow k, std::int32_t length) const {
        if (length == 0 || length > longest_in_group_ || k + group_rows > end_ - first_) return false;
        for (BlockRow r = 1; r < group_rows; ++r) {
            bool const depends = order_.begins_depth[forward_ ? first_ + k + r : end_ - k - r] != 0;
            if (depends || row(k + r).length != length) return false;
        }
        return true;
    }

    /// `row` begins where find_rows() found it in the pattern.
    void place_row(Row& row, Offset begin, std::int32_t stride) {
        BlockRow const* const from = pattern_.cols.data() + row.begin;
        BlockRow* const to = columns_ + begin;
        for (std::int32_t e = 0; e < row.length; ++e) to[Offset(e) * stride] = order_.position_of[from[e]];
        row.begin = begin;
        row.stride = stride;
    }

    /// Whether the rows of a placed group have the same columns, moved by one from row to row.
    static bool are_consecutive(BlockRow const* columns, std::int32_t length) {
        for (std::int32_t e = 0; e < length; ++e, columns += group_rows)
            for (BlockRow lane = 1; lane < group_rows; ++lane)
                if (columns[lane] != columns[0] + lane) return false;
        return true;
    }

    RowPattern const& pattern_;
    ExecutionOrder const& order_;
    bool forward_;
    std::int32_t longest_in_group_ = 0;
    Row* rows_;
    BlockRow* columns_;
    BlockRow first_ = 0, end_ = 0; ///< The positions of the chunk.
};

template <class T>
RowStorage<T>::RowStorage(RowPattern const& pattern, ExecutionOrder const& order, SweepDirection direction,
                          int block_size, Allocation allocation, WorkerTeam& team)
    : forward_(direction == SweepDirection::forward), rows_(order.num_rows() * sizeof(Row), allocation),
      chunks_(order.num_chunks()),
      runs_(order.num_workers), packed_(order.num_workers) {
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
            chunks_[chunk] = {.blocks = {first, blocks}, .worker = w};
        });
    columns_ = Arena(blocks * sizeof(BlockRow), allocation);
    values_ = Arena(blocks * block_size * block_size * sizeof(T), allocation);
    auto const place = [&](std::int32_t chunk) {
        Placement placement(*this, pattern, order, block_size == 1 && !is_complex<T>);
        place_chunk(placement, chunk, order.chunk_ptr[chunk + 1] - order.chunk_ptr[chunk]);
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
template <class T> void RowStorage<T>::place_chunk(Placement& placement, std::int32_t chunk, BlockRow num_rows) {
    Chunk& of = chunks_[chunk];
    of.first_run = static_cast<std::int32_t>(runs_[of.worker].size());
    placement.begin(chunk);
    Offset next = of.blocks.first, packed = 0;
    for (BlockRow k = 0; k < num_rows;) {
        SweepRun const rows = placement.place(k, next);
        add_run(chunk, rows);
        Offset const blocks = Offset(rows.num_rows) * rows.blocks_per_row;
        if (rows.is_packed) packed += blocks;
        next += blocks;
        k += rows.num_rows;
    }
    pack(chunk, packed);
}

template <class T> void RowStorage<T>::add_run(std::int32_t chunk, SweepRun const& rows) {
    auto& runs = runs_[chunks_[chunk].worker];
    bool const continues = chunks_[chunk].num_runs > 0 && runs.back().blocks_per_row == rows.blocks_per_row &&
                           runs.back().stride == rows.stride && runs.back().is_packed == rows.is_packed;
    if (continues) {
        runs.back().num_rows += rows.num_rows;
    } else {
        runs.push_back(rows);
        ++chunks_[chunk].num_runs;
    }
}

/// Makes the list of the columns of a chunk, in whose packed groups there are `packed` blocks. Sweeps do without if there
/// are few, which saves the memory of the list, or if the runs are so short that mispredicted branches would cost more than
/// is gained.
template <class T> void RowStorage<T>::pack(std::int32_t chunk, Offset packed) {
    constexpr Offset shortest_run = 40; // blocks
    Chunk& of = chunks_[chunk];
    if (packed == 0) return;
    if (3 * packed < of.blocks.size() || of.blocks.size() < shortest_run * of.num_runs) return unite_runs(chunk);
    auto& list = packed_[of.worker];
    of.first_packed = std::ssize(list);
    list.resize(list.size() + of.blocks.size() - packed / group_rows * (group_rows - 1));
    BlockRow* to = list.data() + of.first_packed;
    BlockRow const* from = columns() + of.blocks.first;
    for (SweepRun const run : runs_of(chunk)) {
        Offset const blocks = Offset(run.num_rows) * run.blocks_per_row;
        if (run.is_packed)
            for (Offset e = 0; e < blocks; e += group_rows) *to++ = from[e];
        else
            to = std::copy(from, from + blocks, to);
        from += blocks;
    }
}

/// Unites the runs of a chunk, the last one of its worker so far, that differ only in packing.
template <class T> void RowStorage<T>::unite_runs(std::int32_t chunk) {
    auto const first = runs_[chunks_[chunk].worker].begin() + chunks_[chunk].first_run;
    std::vector<SweepRun> const runs(first, runs_[chunks_[chunk].worker].end());
    runs_[chunks_[chunk].worker].erase(first, runs_[chunks_[chunk].worker].end());
    chunks_[chunk].num_runs = 0;
    for (SweepRun run : runs) {
        run.is_packed = false;
        add_run(chunk, run);
    }
}

#define ESPALIER_INSTANTIATE(T) template class RowStorage<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
