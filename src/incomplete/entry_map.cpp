#include "incomplete/entry_map.hpp"

#include <atomic>
#include <limits>
#include <utility>

#include "core/run_threads.hpp"
#include "incomplete/block_sizes.hpp"

namespace espalier {

namespace {

constexpr int most_mapping_threads = 4; ///< Each thread reads the whole matrix.

/// Whether test(first, end) holds for the rows of the entries of each column.
template <class Test> bool all_columns(StoredPattern const& a, int threads, Test const& test) {
    std::atomic<bool> result{true};
    run_threads(threads, [&](int t) {
        for (Index j = a.cols * t / threads, end = a.cols * (t + 1) / threads; j < end; ++j)
            if (!test(a.row_ind.data() + a.col_ptr[j], a.row_ind.data() + a.col_ptr[j + 1])) {
                result = false;
                return;
            }
    });
    return result;
}

/// Whether the rows first .. end - 1 consist of pieces of B consecutive rows, each within a block.
template <int B> bool are_strips(Index const* first, Index const* end) {
    if ((end - first) % B != 0) return false;
    for (; first < end; first += B) {
        bool is_strip = first[0] % B == 0;
        for (int i = 1; i < B; ++i) is_strip = is_strip && first[i] == first[0] + i;
        if (!is_strip) return false;
    }
    return true;
}

/// Calls visit(row, entry of the row, column, entry of the column, source) for the strips of A, of both
/// triangles, in permuted block rows first .. end - 1, by columns of A. The source is complemented if the
/// value must be conjugated.
template <int B, class Visit>
void visit_strips(StoredPattern const& a, bool is_complex, std::span<Index const> positions, int strip, BlockRow first,
                  BlockRow end, Visit const& visit) {
    auto const moved = [&](Index i) { return static_cast<BlockRow>(positions.empty() ? i : positions[i]); };
    auto const is_mine = [&](BlockRow row) { return row >= first && row < end; };
    bool const conjugates = is_complex && a.symmetry == Symmetry::hermitian;
    for (Index j = 0; j < a.cols; ++j) {
        BlockRow const column = moved(j / B);
        int const at_column = static_cast<int>(j % B);
        bool const both = a.symmetry != Symmetry::general && is_mine(column);
        for (Offset p = a.col_ptr[j]; p < a.col_ptr[j + 1]; p += strip) {
            Index const i = a.row_ind[p];
            BlockRow const row = moved(i / B);
            int const at_row = static_cast<int>(i % B);
            if (is_mine(row)) visit(row, at_row, column, at_column, p);
            if (both && i != j)
                visit(column, at_column, row, at_row, conjugates ? ~p : p);
        }
    }
}

} // namespace

void EntryMap::allocate(Offset stored, bool of_blocks) {
    Offset const count = ptr_.back();
    bool const is_narrow = stored <= std::numeric_limits<std::int32_t>::max();
    memory_[0] = Arena((count + ahead) * (is_narrow ? sizeof(std::int32_t) : sizeof(Offset)), Allocation::local);
    memory_[1] = Arena(in_order_ ? 0 : count * sizeof(BlockRow), Allocation::local);
    memory_[2] = Arena(of_blocks && !in_order_ ? count : 0, Allocation::local);
    if (is_narrow)
        narrow_ = memory_[0].as<std::int32_t>();
    else
        wide_ = memory_[0].as<Offset>();
    column_ = memory_[1].as<BlockRow>();
    in_block_ = memory_[2].as<std::uint8_t>();
}

// The threads divide the rows among them. Each of them reads all entries.
EntryMap EntryMap::make(StoredPattern const& a, bool is_complex, int block_size, std::span<Index const> positions,
                        ExecutionOrder const& order, Offset blocks_of_factor, bool is_pattern_of_a, int threads) {
    threads = std::min(team_size(threads), most_mapping_threads);
    auto const n = order.num_rows();
    return with_block_size(block_size, [&]<int B>() {
        bool const has_strips = B > 1 && a.symmetry == Symmetry::general && all_columns(a, threads, are_strips<B>);
        EntryMap map;
        map.strip_ = has_strips ? B : 1;
        LargeVector<Offset> next; // by row
        next.assign(n, 0);
        auto const on_threads = [&](auto const& visit) {
            run_threads(threads, [&](int t) {
                auto const share = [&](int k) { return static_cast<BlockRow>(Index(n) * k / threads); };
                visit_strips<B>(a, is_complex, positions, map.strip_, share(t), share(t + 1), visit);
            });
        };
        on_threads([&](BlockRow row, int, BlockRow, int, Offset) { ++next[row]; });
        map.ptr_.resize(n + 1);
        for (BlockRow p = 0; p < n; ++p)
            map.ptr_[p + 1] = map.ptr_[p] + std::exchange(next[order.row_at[p]], map.ptr_[p]);
        auto const ascends = [](Index const* first, Index const* end) { return std::is_sorted(first, end); };
        map.in_order_ = is_pattern_of_a && positions.empty() && (B == 1 || has_strips) &&
                        map.ptr_.back() * map.strip_ == blocks_of_factor * B * B && all_columns(a, threads, ascends);
        map.allocate(a.stored(), B > 1);
        if (map.in_order_)
            on_threads([&](BlockRow row, int, BlockRow, int, Offset source) { map.set_source(next[row]++, source); });
        else
            on_threads([&](BlockRow row, int i, BlockRow column, int j, Offset source) {
                Offset const e = next[row]++;
                map.set_source(e, source);
                map.column_[e] = order.position_of[column];
                if (B > 1) map.in_block_[e] = static_cast<std::uint8_t>(i + j * B);
            });
        return map;
    });
}

} // namespace espalier
