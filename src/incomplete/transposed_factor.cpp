#include "incomplete/transposed_factor.hpp"

#include <new>
#include <numeric>

#include "rows/block_sizes.hpp"

namespace espalier {

namespace {

/// Calls visit(i, j) for the blocks of L + U, row by row.
template <class T, class Visit> void visit_blocks(ExecutionOrder const& order, RowStorage<T> const& lower,
                                                  RowStorage<T> const& upper, Visit const& visit) {
    auto const visit_part = [&](RowStorage<T> const& part, BlockRow i, BlockRow p) {
        BlockRow const* column = part.columns() + part.begin(p);
        std::int32_t const stride = part.stride(p);
        for (std::int32_t e = part.length(p); e > 0; --e, column += stride) visit(i, order.row_at[*column]);
    };
    for (BlockRow i = 0; i < order.num_rows(); ++i) {
        BlockRow const p = order.position_of[i];
        visit_part(lower, i, p);
        visit(i, i);
        visit_part(upper, i, p);
    }
}

/// The pattern of (L + U)^T. Each worker finds a share of its rows. It visits all blocks in the order of the
/// rows of L and U, so that the rows of the result are sorted and need no synchronization.
template <class T> RowPattern transposed_pattern(ExecutionOrder const& order, RowStorage<T> const& lower,
                                                 RowStorage<T> const& upper, WorkerTeam& team) {
    BlockRow const n = order.num_rows();
    RowPattern pattern;
    pattern.num_rows = n;
    pattern.ptr.assign(n + 1, 0);
    pattern.diagonal.resize(n);
    auto const on_workers = [&](auto const& visit) {
        team.for_each_worker([&](WorkerId w) {
            auto const bound = [&](int k) { return static_cast<BlockRow>(Index(n) * k / team.size()); };
            BlockRow const first = bound(w), end = bound(w + 1);
            visit_blocks(order, lower, upper, [&](BlockRow i, BlockRow j) {
                if (j >= first && j < end) visit(i, j);
            });
        });
    };
    on_workers([&](BlockRow, BlockRow j) { ++pattern.ptr[j + 1]; });
    std::partial_sum(pattern.ptr.begin(), pattern.ptr.end(), pattern.ptr.begin());
    pattern.cols.resize(pattern.num_blocks());
    LargeVector<Offset> next(pattern.ptr.begin(), pattern.ptr.end() - 1);
    on_workers([&](BlockRow i, BlockRow j) {
        Offset const at = next[j]++;
        pattern.cols[at] = i;
        if (i == j) pattern.diagonal[j] = at;
    });
    return pattern;
}

template <int B, class T> void copy_block(T const* from, T* to) {
    for (int c = 0; c < B; ++c)
        for (int r = 0; r < B; ++r) to[c + r * B] = from[r + c * B];
}

/// Copies block (i, j) of `from` to block (j, i) of `to` for the rows j of a chunk. A row i has few blocks,
/// so that a search finds block (i, j) about as fast as a stored place.
template <int B, class T> void copy_rows(ExecutionOrder const& order, std::int32_t chunk,
                                         RowStorage<T> const& from, RowStorage<T> const& to) {
    for (BlockRow j = order.chunk_ptr[chunk]; j < order.chunk_ptr[chunk + 1]; ++j) {
        Offset target = to.begin(j);
        for (std::int32_t e = to.length(j); e > 0; --e, target += to.stride(j)) {
            BlockRow const i = to.columns()[target];
            Offset source = from.begin(i);
            for (std::int32_t const stride = from.stride(i); from.columns()[source] != j;) source += stride;
            copy_block<B>(from.values() + source * B * B, to.values() + target * B * B);
        }
    }
}

} // namespace

template <class T>
TransposedFactor<T>::TransposedFactor(ExecutionOrder const& order, RowStorage<T> const& lower,
                                      RowStorage<T> const& upper, int block_size, Allocation allocation,
                                      WorkerTeam& team) try
    : order_(order), lower_(lower), upper_(upper), block_size_(block_size), team_(team) {
    auto const pattern = transposed_pattern(order, lower, upper, team);
    transposed_upper_ = RowStorage<T>(pattern, order, SweepDirection::forward, block_size, allocation, team);
    transposed_lower_ = RowStorage<T>(pattern, order, SweepDirection::backward, block_size, allocation, team);
    transposed_upper_.allocate_values(order, block_size, allocation, team);
    transposed_lower_.allocate_values(order, block_size, allocation, team);
    if (block_size == 1) return;
    inverse_blocks_ = Arena(order.row_at.size() * block_size * block_size * sizeof(T), allocation);
    if (allocation == Allocation::global) populate(inverse_blocks_.bytes());
} catch (std::bad_alloc const&) {
    throw Error(Status::out_of_memory, "not enough memory for the transposed rows of the incomplete factor");
}

template <class T> std::uint64_t TransposedFactor<T>::bytes(Offset blocks, BlockRow rows, int block_size) {
    std::uint64_t const block = sizeof(T) * block_size * block_size;
    auto const beside = static_cast<std::uint64_t>(blocks - rows),
               diagonal = static_cast<std::uint64_t>(rows);
    return beside * (block + sizeof(BlockRow)) +
           diagonal * (2 * RowStorage<T>::bytes_of_row + (block_size > 1 ? block : 0));
}

template <class T> void TransposedFactor<T>::update(T const* inverse) {
    if (is_current_) return;
    with_block_size(block_size_, [&]<int B>() {
        inverse_ = B == 1 ? inverse : inverse_blocks_.as<T>().data();
        team_.for_each_worker([&](WorkerId w) {
            for (std::int32_t chunk = order_.worker_ptr[w]; chunk < order_.worker_ptr[w + 1]; ++chunk) {
                copy_rows<B>(order_, chunk, upper_, transposed_upper_);
                copy_rows<B>(order_, chunk, lower_, transposed_lower_);
                if constexpr (B > 1)
                    for (Index p = order_.chunk_ptr[chunk]; p < order_.chunk_ptr[chunk + 1]; ++p)
                        copy_block<B>(inverse + p * B * B, inverse_blocks_.as<T>().data() + p * B * B);
            }
        });
    });
    is_current_ = true;
}

#define ESPALIER_INSTANTIATE(T) template class TransposedFactor<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
