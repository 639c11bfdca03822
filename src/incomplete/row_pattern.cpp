#include "incomplete/row_pattern.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/run_threads.hpp"
#include "incomplete/block_sizes.hpp"

namespace espalier {

namespace {

constexpr double dense_enough = 0.8;
/// Sizes with a lower density in a sample are not examined in full.
constexpr double far_from_dense = 0.6;
constexpr BlockRow sampled_columns = 1 << 12; ///< Block columns of a sample.
constexpr BlockRow rows_per_piece = 1024; ///< Rows that a thread searches at a time.

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

bool equal(Lists const& a, Lists const& b) {
    return a.ptr == b.ptr && a.ind == b.ind;
}

/// Calls visit(i) once for each stored block (i, j) of a block column. `seen` has an entry for each block
/// row, and none of them is j.
template <int B, class Visit>
void visit_block_column(StoredPattern const& a, BlockRow j, std::vector<BlockRow>& seen, Visit const& visit) {
    for (Index column = Index(j) * B; column < Index(j + 1) * B; ++column)
        for (Offset const p : a.entries_of(column)) {
            auto const i = static_cast<BlockRow>(a.row_ind[p] / B);
            if (B > 1) {
                if (seen[i] == j) continue;
                seen[i] = j;
            }
            visit(i);
        }
}

/// The stored entries of every `stride`-th block column, divided by the size of their blocks. Diagonal blocks of a
/// stored triangle lack their upper half, and the other blocks count twice.
template <int B> double density(StoredPattern const& a, BlockRow stride) {
    auto const num_rows = static_cast<BlockRow>(a.rows / B);
    Offset const weight = a.symmetry == Symmetry::general ? 1 : 2;
    std::vector<BlockRow> seen(num_rows, -1);
    Offset entries = 0, blocks = 0;
    for (BlockRow j = 0; j < num_rows; j += stride) {
        visit_block_column<B>(a, j, seen, [&](BlockRow i) { blocks += i == j ? 1 : weight; });
        for (Index column = Index(j) * B; column < Index(j + 1) * B; ++column)
            for (Offset const p : a.entries_of(column)) entries += a.row_ind[p] == column ? 1 : weight;
    }
    return static_cast<double>(entries) / (static_cast<double>(std::max<Offset>(blocks, 1)) * B * B);
}

template <int B> bool has_dense_blocks(StoredPattern const& a) {
    if (a.rows % B != 0) return false;
    auto const stride = static_cast<BlockRow>(a.rows / B / sampled_columns);
    if (stride > 1 && density<B>(a, stride) < far_from_dense) return false;
    return density<B>(a, 1) >= dense_enough;
}

/// Makes the rows of a matrix from its columns. visit_column(j, visit) calls visit(i) once for each block (i,
/// j), and is called twice for each column. With `lower_only` it visits no blocks above the diagonal, and
/// those below stand for both.
template <class VisitColumn>
RowPattern rows_of_columns(BlockRow num_rows, bool lower_only, VisitColumn const& visit_column) {
    RowPattern pattern;
    pattern.num_rows = num_rows;
    pattern.ptr.assign(num_rows + 1, 1);
    pattern.ptr[0] = 0;
    for (BlockRow j = 0; j < num_rows; ++j)
        visit_column(j, [&](BlockRow i) {
            if (i == j) return;
            ++pattern.ptr[i + 1];
            if (lower_only) ++pattern.ptr[j + 1];
        });
    std::partial_sum(pattern.ptr.begin(), pattern.ptr.end(), pattern.ptr.begin());
    pattern.cols.resize(pattern.ptr.back());
    pattern.diagonal.resize(num_rows);
    LargeVector<Offset> next(pattern.ptr.begin(), pattern.ptr.end() - 1);
    BlockRow* const cols = pattern.cols.data();
    // Columns ascend, so before column j is visited, row j has its entries left of the diagonal.
    for (BlockRow j = 0; j < num_rows; ++j) {
        pattern.diagonal[j] = next[j];
        cols[next[j]++] = j;
        visit_column(j, [&](BlockRow i) {
            if (i == j) return;
            cols[next[i]++] = j;
            if (lower_only) cols[next[j]++] = i;
        });
        BlockRow *const first = cols + pattern.diagonal[j], *const end = cols + next[j];
        if (lower_only && !std::is_sorted(first, end)) std::sort(first, end);
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

/// Joins the rows of L without the diagonal, the diagonal, and the rows of U without the diagonal.
RowPattern join(Lists const& lower, Lists const& upper, bool symmetric) {
    RowPattern pattern;
    pattern.num_rows = static_cast<BlockRow>(lower.ptr.size()) - 1;
    pattern.symmetric = symmetric;
    pattern.ptr.resize(pattern.num_rows + 1);
    pattern.diagonal.resize(pattern.num_rows);
    pattern.cols.resize(lower.ind.size() + upper.ind.size() + pattern.num_rows);
    BlockRow* to = pattern.cols.data();
    for (BlockRow i = 0; i < pattern.num_rows; ++i) {
        for (BlockRow const j : lower.of(i)) *to++ = j;
        pattern.diagonal[i] = to - pattern.cols.data();
        *to++ = i;
        for (BlockRow const j : upper.of(i)) *to++ = j;
        pattern.ptr[i + 1] = to - pattern.cols.data();
    }
    return pattern;
}

/// Finds the fill row by row, with a breadth-first search for each row.
class FillSearch {
  public:
    FillSearch(RowPattern const& a, Index levels)
        : a_(a), levels_(levels), reached_by_(a.num_rows, -1) {}

    /// Appends to `found`, in ascending order, the vertices above i that end a path from i with at most
    /// levels + 1 edges through vertices below i.
    void search(BlockRow i, std::vector<BlockRow>& found) {
        auto const begin = std::ssize(found);
        reached_by_[i] = i;
        front_.assign(1, i);
        for (Index level = 0; level <= levels_ && !front_.empty(); ++level) {
            next_.clear();
            for (BlockRow const vertex : front_) {
                auto const row = a_.row(vertex);
                for (auto end = row.rbegin(); end != row.rend(); ++end) {
                    if (level == levels_ && *end < i) break; // the path cannot be continued
                    if (reached_by_[*end] == i) continue;
                    reached_by_[*end] = i;
                    (*end < i ? next_ : found).push_back(*end);
                }
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
Lists fill_above(RowPattern const& a, Index levels, int threads, Interrupt* interrupt) {
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
            check(interrupt);
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

int find_block_size(StoredPattern const& a) {
    if (a.rows != a.cols) return 1;
    for (int size = largest_block; size > 1; --size)
        if (with_block_size(size, [&]<int B>() { return has_dense_blocks<B>(a); })) return size;
    return 1;
}

RowPattern block_pattern(StoredPattern const& a, int block_size, std::span<Index const> positions) {
    BlockRow const num_rows = checked_num_rows(a, block_size, positions);
    return with_block_size(block_size, [&]<int B>() {
        std::vector<BlockRow> seen(B > 1 ? num_rows : 0, -1);
        auto const visit_stored = [&](BlockRow j, auto const& visit) {
            if (j == 0) std::fill(seen.begin(), seen.end(), -1);
            visit_block_column<B>(a, j, seen, visit);
        };
        bool const is_triangle = a.symmetry != Symmetry::general;
        if (positions.empty()) {
            RowPattern pattern = rows_of_columns(num_rows, is_triangle, visit_stored);
            pattern.symmetric = is_triangle || is_symmetric(pattern);
            return pattern;
        }
        // Columns that are gathered by their new numbers need not be sorted.
        auto const position = [&](BlockRow i) { return static_cast<BlockRow>(positions[i]); };
        auto const columns = lists_of(num_rows, [&](auto const& visit) {
            for (BlockRow j = 0; j < num_rows; ++j)
                visit_stored(j, [&](BlockRow i) {
                    visit(position(j), position(i));
                    if (is_triangle && i != j) visit(position(i), position(j));
                });
        });
        RowPattern pattern = rows_of_columns(num_rows, false, [&](BlockRow j, auto const& visit) {
            for (BlockRow const i : columns.of(j)) visit(i);
        });
        pattern.symmetric = is_triangle || is_symmetric(pattern);
        return pattern;
    });
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

RowPattern fill_pattern(RowPattern a, Index levels, int threads, Interrupt* interrupt) {
    if (levels < 0)
        throw Error(Status::usage, fmt::format("the level of fill is {}; expected at least 0", levels));
    if (levels == 0) return a;
    check(interrupt); // on the calling thread, which may get no rows
    auto const upper = fill_above(a, levels, threads, interrupt);
    // Column j of L is row j of U for the transposed matrix.
    auto const lower_columns = a.symmetric ? upper : fill_above(transpose(a), levels, threads, interrupt);
    bool const symmetric = a.symmetric || equal(lower_columns, upper);
    return join(transposed(lower_columns, a.num_rows), upper, symmetric);
}

} // namespace espalier
