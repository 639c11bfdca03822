#include "rows/row_pattern.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "rows/block_sizes.hpp"
#include "rows/dense_blocks.hpp"

namespace espalier {

namespace {

/// A list of numbers for each row.
struct Lists {
    LargeVector<Offset> ptr{0};
    LargeVector<BlockRow> ind;
    [[nodiscard]] std::span<BlockRow const> of(BlockRow i) const {
        return {ind.data() + ptr[i], ind.data() + ptr[i + 1]};
    }
};

/// Makes the lists from emit(visit), which calls visit(i, j) for each j of list i. emit is called twice.
template <class Emit> Lists lists_of(BlockRow num_rows, Emit const& emit) {
    Lists lists;
    lists.ptr.assign(num_rows + 1, 0);
    emit([&](BlockRow i, BlockRow) { ++lists.ptr[i + 1]; });
    std::partial_sum(lists.ptr.begin(), lists.ptr.end(), lists.ptr.begin());
    lists.ind.resize(lists.ptr.back());
    LargeVector<Offset> next(lists.ptr.begin(), lists.ptr.end() - 1);
    emit([&](BlockRow i, BlockRow j) { lists.ind[next[i]++] = j; });
    return lists;
}

/// List j of the result has i if list i of the argument has j. The lists of the result are sorted.
Lists transposed(Lists const& lists, BlockRow num_rows) {
    return lists_of(num_rows, [&](auto const& visit) {
        for (BlockRow i = 0; i < num_rows; ++i)
            for (BlockRow const j : lists.of(i)) visit(j, i);
    });
}

/// The blocks of each column, if they are not whole.
template <int B> Lists block_columns(StoredPattern const& a, BlockRow num_rows) {
    LargeVector<BlockRow> seen;
    return lists_of(num_rows, [&](auto const& visit) {
        seen.assign(num_rows, -1);
        for (BlockRow j = 0; j < num_rows; ++j)
            visit_block_column<B>(a, j, seen, j, [&](BlockRow i) { visit(j, i); });
    });
}

/// Fetches entries that lie as far ahead as a page. The processor does not read ahead into the next page.
template <class I> void fetch_ahead(std::span<I const> column) {
    __builtin_prefetch(column.data() + 4096 / sizeof(I));
}

/// Makes the rows of a matrix from its columns: column_of(j) returns the rows of the blocks in column j, each
/// once. With `lower_only` there are no blocks above the diagonal, and those below stand for both.
template <class ColumnOf>
RowPattern rows_of_columns(BlockRow num_rows, bool lower_only, ColumnOf const& column_of) {
    RowPattern pattern;
    pattern.num_rows = num_rows;
    pattern.has_sorted_columns = true;
    pattern.ptr.assign(num_rows + 1, 1);
    Offset* const ptr = pattern.ptr.data();
    for (BlockRow j = 0; j < num_rows; ++j) {
        auto const column = column_of(j);
        fetch_ahead(column);
        Offset off_diagonal = 0;
        Index last = -1;
        bool ascends = !lower_only || (!column.empty() && column.front() == j);
        for (auto const i : column) {
            Offset const counts = i != j ? 1 : 0;
            ptr[i + 1] += counts;
            off_diagonal += counts;
            ascends = ascends && last < i;
            last = i;
        }
        if (lower_only) ptr[j + 1] += off_diagonal;
        if (!ascends) pattern.has_sorted_columns = false;
    }
    pattern.diagonal.resize(num_rows);
    ptr[0] = 0;
    for (BlockRow i = 0; i < num_rows; ++i) {
        pattern.diagonal[i] = ptr[i];
        ptr[i + 1] += ptr[i];
    }
    pattern.cols.resize(ptr[num_rows]);
    BlockRow* const cols = pattern.cols.data();
    Offset* const diagonal = pattern.diagonal.data();
    if (lower_only) { // diagonal[i] is the end of row i until column i, and then final
        for (BlockRow j = 0; j < num_rows; ++j) {
            BlockRow* end = cols + diagonal[j];
            BlockRow* const upper = end + 1;
            *end++ = j;
            auto const column = column_of(j);
            fetch_ahead(column);
            for (auto i = column.begin() + (pattern.has_sorted_columns ? 1 : 0); i != column.end(); ++i) {
                if (*i == j) continue;
                cols[diagonal[*i]++] = j;
                *end++ = static_cast<BlockRow>(*i);
            }
            if (!pattern.has_sorted_columns) std::sort(upper, end);
        }
        return pattern;
    }
    LargeVector<Offset> next(pattern.ptr.begin(), pattern.ptr.end() - 1);
    // Columns ascend, so before column j is visited, row j has its entries left of the diagonal.
    for (BlockRow j = 0; j < num_rows; ++j) {
        diagonal[j] = next[j];
        cols[next[j]++] = j;
        auto const column = column_of(j);
        fetch_ahead(column);
        for (auto const i : column)
            if (i != j) cols[next[i]++] = j;
    }
    return pattern;
}

/// Whether (i, j) is stored if and only if (j, i) is.
bool is_symmetric(RowPattern const& pattern) {
    LargeVector<Offset> next(pattern.ptr.begin(), pattern.ptr.end() - 1);
    for (BlockRow i = 0; i < pattern.num_rows; ++i) {
        if (next[i] != pattern.diagonal[i]) return false; // all of these were found in the rows above
        for (BlockRow const j : pattern.upper(i))
            if (pattern.cols[next[j]++] != i) return false;
    }
    return true;
}

/// The rows of scalars with general storage if their columns ascend and have the diagonal, and if the pattern
/// is symmetric: row i then has the columns of the entries in column i. Otherwise nothing.
std::optional<RowPattern> rows_of_symmetric_pattern(StoredPattern const& a, bool finds_source) {
    if (a.symmetry != Symmetry::general || a.stored() > std::numeric_limits<std::int32_t>::max()) return {};
    RowPattern pattern;
    auto const n = pattern.num_rows = static_cast<BlockRow>(a.cols);
    pattern.symmetric = pattern.has_sorted_columns = true;
    pattern.ptr.assign(a.col_ptr.begin(), a.col_ptr.end());
    pattern.diagonal.resize(n);
    pattern.cols.resize(a.stored());
    if (finds_source) pattern.source.resize(a.stored());
    for (Offset p = 0; p < a.stored(); ++p) pattern.cols[p] = static_cast<BlockRow>(a.row_ind[p]);
    LargeVector<std::int32_t> next(n); // the next entry of each row
    for (BlockRow i = 0; i < n; ++i) next[i] = static_cast<std::int32_t>(pattern.ptr[i]);
    BlockRow const* const cols = pattern.cols.data();
    std::int32_t* const source = pattern.source.data();
    // Columns are visited in ascending order, so each column also ascends if all mirrors agree.
    for (BlockRow j = 0; j < n; ++j) {
        pattern.diagonal[j] = next[j];
        bool has_diagonal = false;
        auto const end = static_cast<std::int32_t>(pattern.ptr[j + 1]);
        for (auto p = static_cast<std::int32_t>(pattern.ptr[j]); p < end; ++p) {
            BlockRow const i = cols[p];
            std::int32_t const mirror = next[i]++;
            if (mirror >= pattern.ptr[i + 1] || cols[mirror] != j) return {};
            if (source) source[mirror] = p;
            has_diagonal = has_diagonal || i == j;
        }
        if (!has_diagonal) return {};
    }
    return pattern;
}

void check_permutation(std::span<Index const> positions) {
    std::vector<bool> taken(positions.size(), false);
    for (Index const position : positions) {
        if (position < 0 || position >= std::ssize(positions) || taken[position])
            throw Error(Status::usage, fmt::format("the positions of block rows are not a permutation: {} is "
                                                   "outside 0 .. {}, or appears twice",
                                                   position, std::ssize(positions) - 1));
        taken[position] = true;
    }
}

BlockRow checked_num_rows(StoredPattern const& a, int size, std::span<Index const> positions) {
    if (a.rows != a.cols)
        throw Error(Status::bad_input,
                    fmt::format("the matrix is {} x {}; a square matrix is needed", a.rows, a.cols));
    require_block_size(a, size);
    Index const num_rows = a.rows / size;
    if (!positions.empty() && std::ssize(positions) != num_rows)
        throw Error(Status::usage,
                    fmt::format("{} positions for {} block rows", std::ssize(positions), num_rows));
    check_permutation(positions);
    if (num_rows >= std::numeric_limits<BlockRow>::max())
        throw Error(Status::unsupported, fmt::format("an incomplete factorization has at most {} block rows; "
                                                     "this matrix has {}",
                                                     std::numeric_limits<BlockRow>::max() - 1, num_rows));
    return static_cast<BlockRow>(num_rows);
}

} // namespace

void require_block_size(StoredPattern const& a, int size) {
    if (size < 1 || size > largest_block || a.rows % size != 0)
        throw Error(Status::usage, fmt::format("blocks of size {} do not divide a matrix of size {}; the "
                                               "size must be a divisor in 1 .. {}",
                                               size, a.rows, largest_block));
}

RowPattern block_pattern(StoredPattern const& a, int block_size, std::span<Index const> positions,
                         BlockColumns const* whole, bool finds_source) {
    BlockRow const num_rows = checked_num_rows(a, block_size, positions);
    if (block_size == 1 && positions.empty())
        if (auto pattern = rows_of_symmetric_pattern(a, finds_source)) return *std::move(pattern);
    bool const is_triangle = a.symmetry != Symmetry::general;
    auto const rows_by = [&](auto const& column_of) {
        if (positions.empty()) return rows_of_columns(num_rows, is_triangle, column_of);
        // Columns that are gathered by their new numbers need not be sorted.
        auto const position = [&](Index i) { return static_cast<BlockRow>(positions[i]); };
        auto const columns = lists_of(num_rows, [&](auto const& visit) {
            for (BlockRow j = 0; j < num_rows; ++j)
                for (auto const i : column_of(j)) {
                    visit(position(j), position(i));
                    if (is_triangle && i != j) visit(position(i), position(j));
                }
        });
        return rows_of_columns(num_rows, false, [&](BlockRow j) { return columns.of(j); });
    };
    RowPattern pattern;
    if (whole) {
        pattern = rows_by([&](BlockRow j) {
            return std::span<BlockRow const>(whole->rows)
                .subspan(whole->ptr[j], whole->ptr[j + 1] - whole->ptr[j]);
        });
    } else if (block_size == 1) {
        pattern = rows_by(
            [&](BlockRow j) { return a.row_ind.subspan(a.col_ptr[j], a.col_ptr[j + 1] - a.col_ptr[j]); });
    } else {
        auto const columns =
            with_block_size(block_size, [&]<int B>() { return block_columns<B>(a, num_rows); });
        pattern = rows_by([&](BlockRow j) { return columns.of(j); });
    }
    pattern.has_sorted_columns = pattern.has_sorted_columns && positions.empty();
    pattern.symmetric = is_triangle || is_symmetric(pattern);
    return pattern;
}

// Rows get a component and a color in it, from the rows before. Components with a common neighbor are united.
bool is_bipartite(RowPattern const& pattern) {
    if (!pattern.symmetric) return false;
    using Label = std::uint32_t; // twice the component, plus the color
    LargeVector<Label> labels(pattern.num_rows);
    std::vector<Label> united; // by component: the label of its color 0 in the component that it joined
    auto const find = [&](Label label) {
        while (united[label / 2] / 2 != label / 2) {
            Label& next = united[label / 2];
            next = united[next / 2] ^ (next & 1);
            label = next ^ (label & 1);
        }
        return label;
    };
    for (BlockRow i = 0; i < pattern.num_rows; ++i) {
        auto const before = pattern.lower(i);
        if (before.empty()) {
            labels[i] = static_cast<Label>(2 * united.size());
            united.push_back(labels[i]);
            continue;
        }
        Label const first = labels[before[0]];
        for (BlockRow const k : before.subspan(1)) {
            if (labels[k] == first) continue;
            Label const one = find(first), other = find(labels[k]);
            if (one / 2 != other / 2)
                united[other / 2] = one ^ (other & 1);
            else if (one != other)
                return false;
        }
        labels[i] = first ^ 1;
    }
    return true;
}

RowPattern transpose(RowPattern const& pattern) {
    auto const columns = transposed({pattern.ptr, pattern.cols}, pattern.num_rows);
    RowPattern result;
    result.num_rows = pattern.num_rows;
    result.symmetric = pattern.symmetric;
    result.ptr = columns.ptr;
    result.cols = columns.ind;
    for (BlockRow i = 0; i < result.num_rows; ++i) {
        auto const row = result.row(i);
        result.diagonal.push_back(result.ptr[i] +
                                  (std::lower_bound(row.begin(), row.end(), i) - row.begin()));
    }
    return result;
}

RowPattern symmetrized(RowPattern const& pattern) {
    auto const other = transpose(pattern);
    RowPattern result;
    result.num_rows = pattern.num_rows;
    result.symmetric = true;
    for (BlockRow i = 0; i < pattern.num_rows; ++i) {
        auto const row = pattern.row(i), column = other.row(i);
        std::set_union(row.begin(), row.end(), column.begin(), column.end(), std::back_inserter(result.cols));
        auto const begin = result.cols.begin() + result.ptr.back();
        result.diagonal.push_back(std::lower_bound(begin, result.cols.end(), i) - result.cols.begin());
        result.ptr.push_back(std::ssize(result.cols));
    }
    return result;
}

Graph row_graph(RowPattern const& pattern) {
    if (!pattern.symmetric) return row_graph(symmetrized(pattern));
    Graph graph;
    graph.num_vertices = pattern.num_rows;
    graph.ptr.reserve(pattern.num_rows + 1);
    graph.adj.reserve(pattern.num_blocks() - pattern.num_rows);
    for (BlockRow i = 0; i < pattern.num_rows; ++i) {
        auto const before = pattern.lower(i), after = pattern.upper(i);
        graph.adj.insert(graph.adj.end(), before.begin(), before.end());
        graph.adj.insert(graph.adj.end(), after.begin(), after.end());
        graph.ptr.push_back(std::ssize(graph.adj));
    }
    return graph;
}

} // namespace espalier
