#include "incomplete/row_storage.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "incomplete/row_arrangement.hpp"

namespace espalier {

namespace {

/// Long rows that a factorization reads repeatedly are faster to read if they are contiguous.
constexpr std::int32_t longest_reread_in_group = 4;

/// The number of blocks of row i in L or in U.
Offset length_of(RowPattern const& pattern, BlockRow i, bool in_lower) {
    return in_lower ? pattern.diagonal[i] - pattern.ptr[i] : pattern.ptr[i + 1] - pattern.diagonal[i] - 1;
}

/// Appends the runs of a chunk to a list, and joins neighbors that differ only in their numbers of rows.
class JoinedRuns {
  public:
    explicit JoinedRuns(LargeVector<SweepRun>& list) : list_(list), first_(list.size()) {}

    void add(SweepRun const& next) {
        if (list_.size() > first_ && can_join(list_.back(), next))
            list_.back().num_rows += next.num_rows;
        else
            list_.push_back(next);
    }

  private:
    static bool can_join(SweepRun const& run, SweepRun const& next) {
        return run.blocks_per_row == next.blocks_per_row && run.stride == next.stride &&
               run.is_packed == next.is_packed;
    }

    LargeVector<SweepRun>& list_;
    std::size_t first_; ///< The first run of the chunk.
};

} // namespace

/// Places the columns of blocks of rows (row_arrangement.hpp). The rows of a block are read in ascending
/// order, so that the processor prefetches the pattern, and written to their places, which fit the cache of a
/// core.
template <class T> class RowStorage<T>::Placement {
  public:
    Placement(RowStorage& storage, RowPattern const& pattern, ExecutionOrder const& order,
              std::int32_t longest_in_group)
        : pattern_(pattern), order_(order), forward_(storage.forward_), rows_(storage.rows()),
          longest_in_group_(longest_in_group), columns_(storage.columns()),
          position_of_(order.position_of.data()) {}

    /// Places the rows at the positions first .. end - 1 from the block `begin` on.
    /// Calls add(rows) for each single row and each group in the order of the sweep. Returns the end of the
    /// last row.
    template <class Add> Offset place(BlockRow first, BlockRow end, Offset begin, Add const& add) {
        first_ = first;
        end_ = end;
        find_lengths();
        divide(begin);
        place_columns();
        for (BlockRow k = 0; k < end - first;) {
            std::int32_t const length = row(k).length();
            BlockRow const size = row(k).is_in_group() ? group_rows : 1;
            add(SweepRun{length, size, size, size > 1 && are_consecutive(columns_ + begin, length)});
            begin += Offset(size) * length;
            k += size;
        }
        return begin;
    }

  private:
    /// Row k in the order of the sweep.
    [[nodiscard]] Row& row(BlockRow k) const { return rows_[forward_ ? first_ + k : end_ - 1 - k]; }

    void find_lengths() {
        for (BlockRow k = first_; k < end_; ++k) {
            BlockRow const i = order_.ascending[k];
            rows_[position_of_[i]] = {0, length_of(pattern_, i, forward_), false};
        }
    }

    /// Forms groups and finds the places of the rows.
    void divide(Offset next) {
        for (BlockRow k = 0, size; k < end_ - first_; k += size) {
            std::int32_t const length = row(k).length();
            size = fits_group(k, length) ? group_rows : 1;
            for (BlockRow r = 0; r < size; ++r) { // lanes are in the order of their positions
                BlockRow const lane = forward_ ? r : size - 1 - r;
                row(k + r) = {next + lane, length, size > 1};
            }
            next += Offset(size) * length;
        }
    }

    [[nodiscard]] bool fits_group(BlockRow k, std::int32_t length) const {
        if (length == 0 || length > longest_in_group_ || k + group_rows > end_ - first_) return false;
        for (BlockRow r = 1; r < group_rows; ++r) {
            bool const depends = order_.begins_depth[forward_ ? first_ + k + r : end_ - k - r] != 0;
            if (depends || row(k + r).length() != length) return false;
        }
        return true;
    }

    void place_columns() {
        constexpr BlockRow ahead = 64;
        for (BlockRow k = first_; k < end_; ++k) {
            BlockRow const i = order_.ascending[k], later = order_.ascending[std::min(k + ahead, end_ - 1)];
            __builtin_prefetch(pattern_.cols.data() + first_column(later));
            Row const row = rows_[position_of_[i]];
            BlockRow const* const from = pattern_.cols.data() + first_column(i);
            BlockRow* to = columns_ + row.begin();
            std::int32_t const length = row.length(), stride = row.is_in_group() ? group_rows : 1;
            for (std::int32_t e = 0; e < length; ++e, to += stride) *to = position_of_[from[e]];
        }
    }

    [[nodiscard]] Offset first_column(BlockRow i) const {
        return forward_ ? pattern_.ptr[i] : pattern_.diagonal[i] + 1;
    }

    /// Whether the rows of a group have the same columns, moved by one from row to row.
    static bool are_consecutive(BlockRow const* columns, std::int32_t length) {
        for (std::int32_t e = 0; e < length; ++e, columns += group_rows)
            for (BlockRow lane = 1; lane < group_rows; ++lane)
                if (columns[lane] != columns[0] + lane) return false;
        return true;
    }

    RowPattern const& pattern_;
    ExecutionOrder const& order_;
    bool forward_;
    Row* rows_;
    std::int32_t longest_in_group_;
    BlockRow* columns_;
    BlockRow const* position_of_;
    BlockRow first_ = 0, end_ = 0; ///< The positions of the block of rows.
};

template <class T>
RowStorage<T>::RowStorage(RowPattern const& pattern, ExecutionOrder const& order, SweepDirection direction,
                          int block_size, Allocation allocation, WorkerTeam& team, bool is_reread)
    : forward_(direction == SweepDirection::forward),
      rows_(Arena::of_kept_pages(order.num_rows() * sizeof(Row), allocation)), chunks_(order.num_chunks()),
      runs_(order.num_workers), packed_(order.num_workers) {
    if (pattern.num_blocks() > most_blocks)
        throw Error(Status::unsupported,
                    fmt::format("an incomplete factor has {} blocks; at most {} are possible",
                                pattern.num_blocks(), most_blocks));
    auto const for_each_chunk = [&](WorkerId w, auto const& visit) {
        std::int32_t const first = order.worker_ptr[w], last = order.worker_ptr[w + 1] - 1;
        for (std::int32_t k = 0; k <= last - first; ++k) visit(forward_ ? first + k : last - k);
    };
    auto const on_workers = [&](auto const& body) {
        team.for_each_worker([&](WorkerId w) {
            if (w < order.num_workers) for_each_chunk(w, body);
        });
    };
    on_workers([&](std::int32_t chunk) { chunks_[chunk].blocks.last = count_blocks(pattern, order, chunk); });
    bool const forms_groups = block_size == 1 && !is_complex<T>;
    std::int32_t const longest_in_group = !forms_groups ? 0
                                          : is_reread   ? longest_reread_in_group
                                                        : longest_row;
    Offset blocks = 0;
    for (WorkerId w = 0; w < order.num_workers; ++w) {
        Offset const blocks_before = blocks;
        for_each_chunk(w, [&](std::int32_t chunk) {
            Offset const first = std::exchange(blocks, blocks + chunks_[chunk].blocks.last);
            chunks_[chunk] = {.blocks = {first, blocks}, .worker = w};
        });
        if (forms_groups)
            packed_[w].reserve(blocks - blocks_before); // its pages are touched only if they are used
    }
    columns_ = Arena::of_kept_pages(blocks * sizeof(BlockRow), allocation);
    auto const place = [&](std::int32_t chunk) {
        Placement placement(*this, pattern, order, longest_in_group);
        place_chunk(placement, chunk, order);
    };
    if (allocation == Allocation::global)
        for (std::int32_t chunk = 0; chunk < order.num_chunks(); ++chunk) place(chunk);
    else
        on_workers(place);
    for (auto& list : packed_)
        if (list.empty()) list = LargeVector<BlockRow>(); // {} would keep the memory
}

template <class T> void RowStorage<T>::allocate_values(ExecutionOrder const& order, int block_size,
                                                       Allocation allocation, WorkerTeam& team) {
    Index const entries_of_block = Index(block_size) * block_size;
    values_ = Arena::of_kept_pages(num_blocks() * entries_of_block * sizeof(T), allocation);
    if (allocation == Allocation::global) {
        populate(values_.bytes());
    } else if (!order.node_of_chunk.empty()) {
        team.for_each_worker([&](WorkerId w) {
            if (w >= order.num_workers) return;
            for (std::int32_t chunk = order.worker_ptr[w]; chunk < order.worker_ptr[w + 1]; ++chunk)
                populate(std::as_writable_bytes(values_of(chunk, entries_of_block)));
        });
    }
}

/// The number of blocks in the rows of a chunk.
template <class T> Offset RowStorage<T>::count_blocks(RowPattern const& pattern, ExecutionOrder const& order,
                                                      std::int32_t chunk) const {
    Offset blocks = 0, longest = 0;
    for (BlockRow k = order.chunk_ptr[chunk]; k < order.chunk_ptr[chunk + 1]; ++k) {
        Offset const length = length_of(pattern, order.ascending[k], forward_);
        longest = std::max(longest, length);
        blocks += length;
    }
    if (longest > longest_row)
        throw Error(Status::unsupported,
                    fmt::format("a row of an incomplete factor has {} blocks; at most {} are possible",
                                longest, longest_row));
    return blocks;
}

/// Places the rows of a chunk one after the other, those of a group together.
template <class T>
void RowStorage<T>::place_chunk(Placement& placement, std::int32_t chunk, ExecutionOrder const& order) {
    Chunk& of = chunks_[chunk];
    auto& list = runs_[of.worker];
    of.first_run = static_cast<std::int32_t>(list.size());
    BlockRow const first = order.chunk_ptr[chunk], num_rows = order.chunk_ptr[chunk + 1] - first;
    BlockRow const num_blocks = (num_rows + rows_per_block - 1) / rows_per_block;
    Offset next = of.blocks.first, packed = 0;
    JoinedRuns runs(list);
    for (BlockRow k = 0; k < num_blocks; ++k) {
        BlockRow const begin = (forward_ ? k : num_blocks - 1 - k) * rows_per_block;
        next = placement.place(first + begin, first + std::min(begin + rows_per_block, num_rows), next,
                               [&](SweepRun const& rows) {
                                   if (rows.is_packed) packed += Offset(rows.num_rows) * rows.blocks_per_row;
                                   runs.add(rows);
                               });
    }
    of.num_runs = static_cast<std::int32_t>(list.size()) - of.first_run;
    pack(chunk, packed);
}

/// Makes the list of the columns of a chunk, in whose packed groups there are `packed` blocks. Sweeps do
/// without if there are few, which saves the memory of the list, or if the runs are so short that
/// mispredicted branches would cost more than is gained.
template <class T> void RowStorage<T>::pack(std::int32_t chunk, Offset packed) {
    constexpr Offset shortest_run = 40; // blocks
    Chunk& of = chunks_[chunk];
    if (packed == 0) return;
    if (3 * packed < of.blocks.size() || of.blocks.size() < shortest_run * of.num_runs)
        return unite_runs(chunk);
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
    auto& list = runs_[chunks_[chunk].worker];
    auto const first = list.begin() + chunks_[chunk].first_run;
    LargeVector<SweepRun> const runs(first, list.end());
    list.erase(first, list.end());
    JoinedRuns united(list);
    for (SweepRun run : runs) {
        run.is_packed = false;
        united.add(run);
    }
    chunks_[chunk].num_runs = static_cast<std::int32_t>(list.size()) - chunks_[chunk].first_run;
}

#define ESPALIER_INSTANTIATE(T) template class RowStorage<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
