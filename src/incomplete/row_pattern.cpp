#include "incomplete/row_pattern.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/run_threads.hpp"

namespace espalier {

namespace {

constexpr int largest_block = 6;
constexpr double dense_enough = 0.8;
constexpr BlockRow rows_per_piece = 1024; ///< Rows that a thread searches at a time.

/// Sorted lists, one for each row.
struct Lists {
    std::vector<Offset> ptr{0};
    std::vector<BlockRow> ind;
    [[nodiscard]] std::span<BlockRow const> of(BlockRow i) const {
        return {ind.data() + ptr[i], ind.data() + ptr[i + 1]};
    }
};

/// List j has i if list i of the argument has j. Sorted lists result from any order.
Lists transposed(Lists const& lists, BlockRow num_rows) {
    Lists result;
    result.ptr.assign(num_rows + 1, 0);
    for (BlockRow const j : lists.ind) ++result.ptr[j + 1];
    std::partial_sum(result.ptr.begin(), result.ptr.end(), result.ptr.begin());
    result.ind.resize(lists.ind.size());
    std::vector<Offset> next(result.ptr.begin(), result.ptr.end() - 1);
    for (BlockRow i = 0; i < num_rows; ++i)
        for (BlockRow const j : lists.of(i)) result.ind[next[j]++] = i;
    return result;
}

/// The lists of the pairs (i, j) with i < j that emit(visit) passes to visit(i, j): list i has j. Other pairs
/// are ignored. emit is called twice.
template <class Emit> Lists sorted_lists(BlockRow num_rows, Emit const& emit) {
    Lists lists;
    lists.ptr.assign(num_rows + 1, 0);
    emit([&](BlockRow i, BlockRow j) {
        if (i < j) ++lists.ptr[i + 1];
    });
    std::partial_sum(lists.ptr.begin(), lists.ptr.end(), lists.ptr.begin());
    lists.ind.resize(lists.ptr.back());
    std::vector<Offset> next(lists.ptr.begin(), lists.ptr.end() - 1);
    emit([&](BlockRow i, BlockRow j) {
        if (i < j) lists.ind[next[i]++] = j;
    });
    for (BlockRow i = 0; i < num_rows; ++i)
        if (auto const list = lists.of(i); !std::is_sorted(list.begin(), list.end()))
            std::sort(lists.ind.begin() + lists.ptr[i], lists.ind.begin() + lists.ptr[i + 1]);
    return lists;
}

bool equal(Lists const& a, Lists const& b) {
    return a.ptr == b.ptr && a.ind == b.ind;
}

/// Calls visit(i, j) once for each stored block (i, j), block column by block column.
template <class T, class Visit> void for_each_block(CscMatrix<T> const& a, int size, Visit const& visit) {
    auto const num_rows = static_cast<BlockRow>(a.rows / size);
    std::vector<BlockRow> seen(num_rows, -1);
    for (BlockRow j = 0; j < num_rows; ++j)
        for (Index column = Index(j) * size; column < Index(j + 1) * size; ++column)
            for (Offset const p : a.entries_of(column)) {
                auto const i = static_cast<BlockRow>(a.row_ind[p] / size);
                if (seen[i] == j) continue;
                seen[i] = j;
                visit(i, j);
            }
}

void check_permutation(std::span<Index const> positions) {
    std::vector<bool> taken(positions.size(), false);
    for (Index const position : positions) {
        if (position < 0 || position >= std::ssize(positions) || taken[position])
            throw Error(Status::usage, fmt::format("the positions of block rows are no permutation: {} is "
                                                   "outside 0 .. {}, or appears twice",
                                                   position, std::ssize(positions) - 1));
        taken[position] = true;
    }
}

template <class T> BlockRow checked_num_rows(CscMatrix<T> const& a, int size,
                                             std::span<Index const> positions) {
    if (a.rows != a.cols)
        throw Error(Status::bad_input,
                    fmt::format("the matrix is {} x {}; a square matrix is needed", a.rows, a.cols));
    if (size < 1 || size > largest_block || a.rows % size != 0)
        throw Error(Status::usage, fmt::format("blocks of size {} do not divide a matrix of size {}; the "
                                               "size must be a divisor in 1 .. {}",
                                               size, a.rows, largest_block));
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

/// The rows of L without the diagonal, the diagonal, and the rows of U without it.
RowPattern join(Lists const& lower, Lists const& upper, bool symmetric) {
    RowPattern pattern;
    pattern.num_rows = static_cast<BlockRow>(lower.ptr.size()) - 1;
    pattern.symmetric = symmetric;
    pattern.ptr.reserve(pattern.num_rows + 1);
    pattern.diagonal.reserve(pattern.num_rows);
    pattern.cols.reserve(lower.ind.size() + upper.ind.size() + pattern.num_rows);
    for (BlockRow i = 0; i < pattern.num_rows; ++i) {
        auto const before = lower.of(i), after = upper.of(i);
        pattern.cols.insert(pattern.cols.end(), before.begin(), before.end());
        pattern.diagonal.push_back(std::ssize(pattern.cols));
        pattern.cols.push_back(i);
        pattern.cols.insert(pattern.cols.end(), after.begin(), after.end());
        pattern.ptr.push_back(std::ssize(pattern.cols));
    }
    return pattern;
}

/// Finds the fill of one row after the other, each by a search breadth first.
class FillSearch {
  public:
    FillSearch(RowPattern const& a, Index levels)
        : a_(a), levels_(levels), reached_by_(a.num_rows, -1) {}

    /// Appends to `found`, ascending, the vertices above i at the end of paths from i with at most levels + 1
    /// edges through vertices below i.
    void search(BlockRow i, std::vector<BlockRow>& found) {
        auto const begin = std::ssize(found);
        reached_by_[i] = i;
        front_.assign(1, i);
        for (Index level = 0; level <= levels_ && !front_.empty(); ++level) {
            next_.clear();
            for (BlockRow const vertex : front_)
                for (BlockRow const end : a_.row(vertex)) {
                    if (reached_by_[end] == i) continue;
                    reached_by_[end] = i;
                    (end < i ? next_ : found).push_back(end);
                }
            front_.swap(next_);
        }
        std::sort(found.begin() + begin, found.end());
    }

  private:
    RowPattern const& a_;
    Index levels_;
    std::vector<BlockRow> reached_by_;
    std::vector<BlockRow> front_, next_;
};

/// The rows of U, without the diagonal, for the graph of A.
Lists fill_above(RowPattern const& a, Index levels, int threads) {
    BlockRow const pieces = (a.num_rows + rows_per_piece - 1) / rows_per_piece;
    struct Piece {
        std::vector<BlockRow> ind;
        std::vector<Offset> end;
    };
    std::vector<Piece> found(pieces);
    std::atomic<BlockRow> next{0};
    run_threads(std::min<int>(team_size(threads), std::max(1, pieces)), [&](int) {
        FillSearch search(a, levels);
        for (BlockRow piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) {
            BlockRow const last = std::min(a.num_rows, (piece + 1) * rows_per_piece);
            for (BlockRow i = piece * rows_per_piece; i < last; ++i) {
                search.search(i, found[piece].ind);
                found[piece].end.push_back(std::ssize(found[piece].ind));
            }
        }
    });
    Lists result;
    result.ptr.reserve(a.num_rows + 1);
    for (auto& [ind, ends] : found) {
        Offset const before = result.ptr.back();
        for (Offset const end : ends) result.ptr.push_back(before + end);
        result.ind.insert(result.ind.end(), ind.begin(), ind.end());
        ind = {};
    }
    return result;
}

} // namespace

template <class T> int find_block_size(CscMatrix<T> const& a) {
    for (int size = largest_block; size > 1; --size) {
        if (a.rows != a.cols || a.rows % size != 0) continue;
        Offset off_diagonal = 0, diagonal = 0;
        for_each_block(a, size, [&](BlockRow i, BlockRow j) { ++(i == j ? diagonal : off_diagonal); });
        // Diagonal blocks of a stored triangle lack their upper half, as nnz() knows.
        Offset const blocks = a.symmetry == Symmetry::general ? off_diagonal + diagonal
                                                              : 2 * off_diagonal + diagonal;
        double const entries = static_cast<double>(blocks) * size * size;
        if (static_cast<double>(a.nnz()) >= dense_enough * entries) return size;
    }
    return 1;
}

template <class T>
RowPattern block_pattern(CscMatrix<T> const& a, int block_size, std::span<Index const> positions) {
    BlockRow const num_rows = checked_num_rows(a, block_size, positions);
    auto const position = [&](BlockRow i) {
        return positions.empty() ? i : static_cast<BlockRow>(positions[i]);
    };
    auto const upper = sorted_lists(num_rows, [&](auto const& visit) {
        for_each_block(a, block_size, [&](BlockRow i, BlockRow j) {
            BlockRow const row = position(i), column = position(j);
            if (a.symmetry != Symmetry::general)
                visit(std::min(row, column), std::max(row, column));
            else
                visit(row, column);
        });
    });
    if (a.symmetry != Symmetry::general) return join(transposed(upper, num_rows), upper, true);
    auto const lower = sorted_lists(num_rows, [&](auto const& visit) {
        for_each_block(a, block_size, [&](BlockRow i, BlockRow j) { visit(position(j), position(i)); });
    });
    return join(transposed(lower, num_rows), upper, equal(lower, upper));
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

Graph row_graph(RowPattern const& pattern) {
    auto const other = pattern.symmetric ? RowPattern{} : transpose(pattern);
    Graph graph;
    graph.num_vertices = pattern.num_rows;
    graph.ptr.reserve(pattern.num_rows + 1);
    graph.adj.reserve(pattern.num_blocks());
    for (BlockRow i = 0; i < pattern.num_rows; ++i) {
        auto const row = pattern.row(i);
        auto const column = pattern.symmetric ? row : other.row(i);
        std::set_union(row.begin(), row.end(), column.begin(), column.end(), std::back_inserter(graph.adj));
        graph.adj.erase(std::lower_bound(graph.adj.begin() + graph.ptr.back(), graph.adj.end(), i));
        graph.ptr.push_back(std::ssize(graph.adj));
    }
    return graph;
}

RowPattern fill_pattern(RowPattern const& a, Index levels, int threads) {
    if (levels < 0)
        throw Error(Status::usage, fmt::format("the level of fill is {}; expected at least 0", levels));
    if (levels == 0) return a;
    auto const upper = fill_above(a, levels, threads);
    // Column j of L is row j of U for the transposed matrix.
    auto const lower_columns = a.symmetric ? upper : fill_above(transpose(a), levels, threads);
    bool const symmetric = a.symmetric || equal(lower_columns, upper);
    return join(transposed(lower_columns, a.num_rows), upper, symmetric);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template int find_block_size(CscMatrix<T> const&);                                                       \
    template RowPattern block_pattern(CscMatrix<T> const&, int, std::span<Index const>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
