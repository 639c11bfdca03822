#include "incomplete/entry_map.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/run_threads.hpp"
#include "rows/block_sizes.hpp"
#include "rows/dense_blocks.hpp"

namespace espalier {

namespace {

constexpr int most_mapping_threads = 4; ///< Each thread reads the whole matrix.

/// Whether the values of A, of both triangles, are all those of the pattern, and ascend in each column. Then
/// they are visited in the order of the rows.
bool has_all_values(StoredPattern const& a, RowPattern const& pattern) {
    Offset const values = a.symmetry == Symmetry::general ? a.stored() : 2 * a.stored() - a.cols;
    return pattern.has_sorted_columns && values == pattern.num_blocks();
}

/// The rows that one thread maps.
struct RowShare {
    BlockRow first, end;
    [[nodiscard]] bool has(BlockRow row) const { return row >= first && row < end; }
};

template <class Body> void share_rows(BlockRow n, int threads, Body const& body) {
    run_threads(threads, [&](int t) {
        auto const bound = [&](int k) { return static_cast<BlockRow>(Index(n) * k / threads); };
        body(RowShare{bound(t), bound(t + 1)});
    });
}

BlockRow moved(MappedMatrix const& matrix, Index i) {
    return static_cast<BlockRow>(matrix.positions.empty() ? i : matrix.positions[i]);
}

/// Calls visit(row, column, source, place in the block) for the values of A, of both triangles, in permuted
/// block rows, by columns of A. The source is complemented if the value must be conjugated.
template <int B, class Visit>
void visit_values(MappedMatrix const& matrix, RowShare rows, Visit const& visit) {
    StoredPattern const& a = matrix.a;
    bool const conjugates = matrix.is_complex && a.symmetry == Symmetry::hermitian;
    for (Index j = 0; j < a.cols; ++j) {
        BlockRow const column = moved(matrix, j / B);
        int const at_column = static_cast<int>(j % B);
        bool const both = a.symmetry != Symmetry::general && rows.has(column);
        for (Offset const p : a.entries_of(j)) {
            Index const i = a.row_ind[p];
            BlockRow const row = moved(matrix, i / B);
            int const at_row = static_cast<int>(i % B);
            if (rows.has(row)) visit(row, column, p, at_row + at_column * B);
            if (both && i != j) visit(column, row, conjugates ? ~p : p, at_column + at_row * B);
        }
    }
}

/// Calls visit only for the values of U and of the diagonal. A is a stored triangle of scalars.
template <class Visit>
void visit_upper_values(MappedMatrix const& matrix, RowShare rows, Visit const& visit) {
    bool const conjugates = matrix.is_complex && matrix.a.symmetry == Symmetry::hermitian;
    for (Index j = 0; j < matrix.a.cols; ++j) {
        BlockRow const column = moved(matrix, j);
        for (Offset const p : matrix.a.entries_of(j)) {
            BlockRow const row = moved(matrix, matrix.a.row_ind[p]);
            bool const is_upper = row <= column;
            if (rows.has(is_upper ? row : column))
                visit(std::min(row, column), std::max(row, column), conjugates && !is_upper ? ~p : p, 0);
        }
    }
}

/// Calls visit(row, column, source, distance of its columns) for the blocks of A in permuted block rows, by
/// columns of A.
template <int B, class Visit>
void visit_whole_blocks(MappedMatrix const& matrix, RowShare rows, Visit const& visit) {
    StoredPattern const& a = matrix.a;
    auto const& [ptr, block_rows] = *matrix.whole_blocks;
    for (Index j = 0; j < a.cols; j += B) {
        BlockRow const column = moved(matrix, j / B);
        Offset source = a.col_ptr[j];
        for (Offset k = ptr[j / B]; k < ptr[j / B + 1]; ++k, source += B)
            if (BlockRow const row = moved(matrix, block_rows[k]); rows.has(row))
                visit(row, column, source, a.col_ptr[j + 1] - a.col_ptr[j]);
    }
}

/// EntryMap::given() for row i. Column i of A is stored on and below the diagonal.
std::uint32_t given_entries(StoredPattern const& a, RowPattern const& pattern, BlockRow i) {
    auto const entries = a.row_ind.subspan(a.col_ptr[i], a.col_ptr[i + 1] - a.col_ptr[i]);
    auto const row = pattern.upper(i);
    std::uint32_t bits = 0;
    if (row.size() > std::numeric_limits<std::uint32_t>::digits || entries.empty() || entries[0] != i)
        return 0;
    std::size_t e = 0;
    for (Index const column : entries.subspan(1)) {
        while (e < row.size() && row[e] < column) ++e;
        if (e == row.size() || row[e] != column) return 0; // the entries of A do not ascend
        bits |= std::uint32_t(1) << e++;
    }
    return bits;
}

LargeVector<Offset> lengths_of(RowPattern const& pattern) {
    LargeVector<Offset> lengths(pattern.num_rows);
    for (BlockRow i = 0; i < pattern.num_rows; ++i) lengths[i] = pattern.ptr[i + 1] - pattern.ptr[i];
    return lengths;
}

} // namespace

void EntryMap::allocate() {
    Offset const count = ptr_.back();
    memory_[0] = Arena::of_kept_pages((count + ahead) * (is_narrow_ ? sizeof(std::int32_t) : sizeof(Offset)),
                                      Allocation::local);
    memory_[1] = Arena::of_kept_pages(in_order_ ? 0 : count * sizeof(BlockRow), Allocation::local);
    if (is_narrow_)
        narrow_ = memory_[0].as<std::int32_t>();
    else
        wide_ = memory_[0].as<Offset>();
    for (Offset part = count; part < count + ahead; ++part) set_source(part, 0);
    column_ = memory_[1].as<BlockRow>();
    if (whole_blocks_) {
        memory_[2] = Arena::of_kept_pages((count + blocks_ahead) * sizeof(std::int32_t), Allocation::local);
        column_distance_ = memory_[2].as<std::int32_t>();
        std::ranges::fill(column_distance_.subspan(count), 0);
    } else if (has_blocks_) {
        memory_[2] = Arena::of_kept_pages(count, Allocation::local);
        in_block_ = memory_[2].as<std::uint8_t>();
    }
}

/// visit_parts(rows, visit) calls visit(row, column, source, detail) for the parts in these rows.
template <class VisitParts, class SetDetail>
void EntryMap::map_parts(ExecutionOrder const& order, RowPattern const& pattern, int threads,
                         VisitParts const& visit_parts, SetDetail const& set_detail) {
    BlockRow const n = order.num_rows();
    LargeVector<Offset> next; // by row: the number of its parts, and then the next one
    if (in_order_) {
        next = lengths_of(pattern);
    } else {
        next.assign(n, 0);
        share_rows(n, threads, [&](RowShare rows) {
            visit_parts(rows, [&](BlockRow row, BlockRow, Offset, auto) { ++next[row]; });
        });
    }
    ptr_.resize(n + 1);
    for (BlockRow p = 0; p < n; ++p) ptr_[p + 1] = ptr_[p] + std::exchange(next[order.row_at[p]], ptr_[p]);
    allocate();
    share_rows(n, threads, [&](RowShare rows) {
        visit_parts(rows, [&](BlockRow row, BlockRow column, Offset source, auto detail) {
            Offset const e = next[row]++;
            set_source(e, source);
            if (!in_order_) column_[e] = order.position_of[column];
            set_detail(e, detail);
        });
    });
}

/// Takes the sources of the pattern into the order of the rows.
void EntryMap::take_sources(ExecutionOrder const& order, RowPattern const& pattern, int threads) {
    BlockRow const n = order.num_rows();
    ptr_.resize(n + 1);
    for (BlockRow p = 0; p < n; ++p) ptr_[p + 1] = ptr_[p] + std::ssize(pattern.row(order.row_at[p]));
    allocate();
    share_rows(n, threads, [&](RowShare positions) {
        constexpr BlockRow rows_ahead = 32;
        std::int32_t const* const source = pattern.source.data();
        for (BlockRow p = positions.first; p < positions.end; ++p) {
            __builtin_prefetch(source + pattern.ptr[order.row_at[std::min(p + rows_ahead, n - 1)]]);
            BlockRow const row = order.row_at[p];
            std::copy(source + pattern.ptr[row], source + pattern.ptr[row + 1], narrow_.data() + ptr_[p]);
        }
    });
}

void EntryMap::find_given(StoredPattern const& a, ExecutionOrder const& order, RowPattern const& pattern,
                          int threads) {
    given_.resize(pattern.num_rows);
    share_rows(pattern.num_rows, threads, [&](RowShare rows) {
        for (BlockRow i = rows.first; i < rows.end; ++i)
            given_[order.position_of[i]] = given_entries(a, pattern, i);
    });
}

// The threads divide the rows among them. Each of them reads all entries.
EntryMap EntryMap::make(MappedMatrix const& matrix, ExecutionOrder const& order, RowPattern pattern,
                        bool is_pattern_of_a, bool wants_mirrors, int threads) {
    threads = std::min(team_size(threads), most_mapping_threads);
    bool const may_be_in_order = is_pattern_of_a && matrix.positions.empty();
    EntryMap map;
    map.is_narrow_ = matrix.a.stored() <= std::numeric_limits<std::int32_t>::max();
    map.whole_blocks_ = matrix.whole_blocks != nullptr;
    map.has_blocks_ = matrix.block_size > 1;
    bool const is_triangle = matrix.a.symmetry != Symmetry::general;
    bool const has_all = may_be_in_order && matrix.block_size == 1 && has_all_values(matrix.a, pattern);
    if (is_triangle && matrix.block_size == 1) {
        map.in_order_ = has_all;
        map.has_columns_ = matrix.positions.empty();
        if (!map.has_columns_)
            map.map_parts(
                order, pattern, threads,
                [&](RowShare rows, auto const& visit) { visit_upper_values(matrix, rows, visit); },
                [](Offset, int) {});
        else if (!is_pattern_of_a)
            map.find_given(matrix.a, order, pattern, threads);
        return map;
    }
    with_block_size(matrix.block_size, [&]<int B>() {
        if (B > 1 && matrix.whole_blocks) {
            map.in_order_ = may_be_in_order && matrix.a.stored() == pattern.num_blocks() * B * B;
            map.map_parts(
                order, pattern, threads,
                [&](RowShare rows, auto const& visit) { visit_whole_blocks<B>(matrix, rows, visit); },
                [&](Offset e, Index distance) {
                    map.column_distance_[e] = static_cast<std::int32_t>(distance);
                });
        } else {
            map.in_order_ = has_all;
            if (has_all && wants_mirrors && !pattern.source.empty()) {
                map.row_at_ = order.row_at.data();
                map.ptr_ = std::move(pattern.ptr);
                map.mirrors_ = std::move(pattern.source);
                map.narrow_ = map.mirrors_;
                return;
            }
            if (has_all && !pattern.source.empty()) return map.take_sources(order, pattern, threads);
            map.map_parts(
                order, pattern, threads,
                [&](RowShare rows, auto const& visit) { visit_values<B>(matrix, rows, visit); },
                [&](Offset e, int in_block) {
                    if (B > 1) map.in_block_[e] = static_cast<std::uint8_t>(in_block);
                });
        }
    });
    return map;
}

} // namespace espalier
