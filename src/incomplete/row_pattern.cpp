#include "incomplete/row_pattern.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
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
/// Sizes with a lower or a higher density in a sample are not examined in full.
constexpr double far_from_dense = 0.6, far_above_dense = 0.95;
constexpr BlockRow sampled_columns = 1 << 12; ///< Block columns of a sample.
constexpr BlockRow rows_per_piece = 1024;     ///< Rows that a thread searches at a time.

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

/// The blocks of each column, if they are not whole.
template <int B> Lists block_columns(StoredPattern const& a, BlockRow num_rows) {
    std::vector<BlockRow> seen;
    return lists_of(num_rows, [&](auto const& visit) {
        seen.assign(num_rows, -1);
        for (BlockRow j = 0; j < num_rows; ++j)
            visit_block_column<B>(a, j, seen, [&](BlockRow i) { visit(j, i); });
    });
}

/// Whether the rows of a column ascend, and begin with the diagonal in a stored triangle.
template <class I> bool is_sorted(std::span<I const> column, bool is_triangle, Index j) {
    if (is_triangle && (column.empty() || column.front() != j)) return false;
    return std::adjacent_find(column.begin(), column.end(), std::greater_equal<>()) == column.end();
}

/// Whether block column j consists of whole blocks, whose rows ascend. Writes the block rows.
template <int B> bool read_whole_blocks(StoredPattern const& a, Index j, BlockRow* rows) {
    Index const* const first = a.row_ind.data() + a.col_ptr[j * B];
    Offset const length = a.col_ptr[j * B + 1] - a.col_ptr[j * B];
    for (Offset p = 0; p < length; p += B) {
        bool is_strip = first[p] % B == 0 && (p == 0 || first[p - 1] < first[p]);
        for (int i = 1; i < B; ++i) is_strip = is_strip && first[p + i] == first[p] + i;
        if (!is_strip) return false;
        *rows++ = static_cast<BlockRow>(first[p] / B);
    }
    for (int c = 1; c < B; ++c)
        if (!std::equal(first, first + length, a.row_ind.data() + a.col_ptr[j * B + c])) return false;
    return true;
}

/// The stored entries of every `stride`-th block column, divided by the size of their blocks. Diagonal blocks
/// of a stored triangle lack their upper half, and the other blocks count twice.
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
    if (stride > 1) {
        double const of_sample = density<B>(a, stride);
        if (of_sample < far_from_dense || of_sample >= far_above_dense) return of_sample >= far_above_dense;
    }
    return density<B>(a, 1) >= dense_enough;
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
        Offset off_diagonal = 0;
        for (auto const i : column) {
            Offset const counts = i != j ? 1 : 0;
            ptr[i + 1] += counts;
            off_diagonal += counts;
        }
        if (lower_only) ptr[j + 1] += off_diagonal;
        if (!is_sorted(column, lower_only, j)) pattern.has_sorted_columns = false;
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
        for (auto const i : column_of(j))
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

/// The rows of U, without the diagonal.
class FillRows {
  public:
    struct Piece {
        std::vector<BlockRow> ind;
        std::vector<Offset> end; ///< By row.
        bool operator==(Piece const&) const = default;
    };
    explicit FillRows(BlockRow num_rows) : pieces_((num_rows + rows_per_piece - 1) / rows_per_piece) {}

    [[nodiscard]] BlockRow num_pieces() const { return static_cast<BlockRow>(pieces_.size()); }
    [[nodiscard]] Piece& piece(BlockRow k) { return pieces_[k]; }
    [[nodiscard]] std::span<BlockRow const> of(BlockRow i) const {
        Piece const& piece = pieces_[i / rows_per_piece];
        BlockRow const k = i % rows_per_piece;
        return {piece.ind.data() + (k > 0 ? piece.end[k - 1] : 0), piece.ind.data() + piece.end[k]};
    }
    bool operator==(FillRows const&) const = default;

  private:
    std::vector<Piece> pieces_; ///< Rows k * rows_per_piece and the following ones.
};

/// Joins the columns of L without the diagonal, the diagonal, and the rows of U without the diagonal.
/// `used` is a pattern of as many rows, whose memory the result takes.
RowPattern join(RowPattern used, FillRows const& lower_columns, FillRows const& upper, bool symmetric) {
    RowPattern pattern = std::move(used);
    BlockRow const num_rows = pattern.num_rows;
    pattern.symmetric = symmetric;
    pattern.has_sorted_columns = false;
    pattern.ptr.assign(num_rows + 1, 1);
    for (BlockRow j = 0; j < num_rows; ++j)
        for (BlockRow const i : lower_columns.of(j)) ++pattern.ptr[i + 1];
    // diagonal[i] is the end of row i until column i, and then final.
    pattern.diagonal.resize(num_rows);
    pattern.ptr[0] = 0;
    for (BlockRow i = 0; i < num_rows; ++i) {
        pattern.diagonal[i] = pattern.ptr[i];
        pattern.ptr[i + 1] += pattern.ptr[i] + std::ssize(upper.of(i));
    }
    pattern.cols = {}; // not copied by resize()
    pattern.cols.resize(pattern.ptr.back());
    BlockRow* const cols = pattern.cols.data();
    for (BlockRow j = 0; j < num_rows; ++j) {
        BlockRow* const diagonal = cols + pattern.diagonal[j];
        BlockRow* to = diagonal;
        *to = j;
        for (BlockRow const i : upper.of(j)) *++to = i; // a few, for which a call of memmove takes longer
        for (BlockRow const i : lower_columns.of(j)) cols[pattern.diagonal[i]++] = j;
    }
    return pattern;
}

/// Finds the fill row by row, with a breadth-first search for each row.
class FillSearch {
  public:
    FillSearch(RowPattern const& a, Index levels) : a_(a), levels_(levels), reached_by_(a.num_rows, -1) {}

    /// Appends to `found`, in ascending order, the vertices above i that end a path from i with at most
    /// levels + 1 edges through vertices below i.
    void search(BlockRow i, LargeVector<BlockRow>& found) {
        auto const begin = std::ssize(found);
        if (levels_ == 1)
            search_two_edges(i, found);
        else
            search_by_levels(i, found);
        std::sort(found.begin() + begin, found.end());
    }

  private:
    void search_two_edges(BlockRow i, LargeVector<BlockRow>& found) {
        auto const before = a_.lower(i), after = a_.upper(i);
        auto const begin = found.size();
        std::size_t most = after.size();
        for (BlockRow const k : before) most += a_.ptr[k + 1] - a_.diagonal[k] - 1;
        found.resize(begin + most);
        BlockRow *const reached_by = reached_by_.data(), *end = found.data() + begin;
        for (BlockRow const j : after) {
            reached_by[j] = i;
            *end++ = j;
        }
        for (BlockRow const k : before)
            for (BlockRow const* j = a_.cols.data() + a_.ptr[k + 1];
                 *--j > i;) { // it ends at the diagonal at the latest
                *end = *j;
                end += reached_by[*j] != i ? 1 : 0;
                reached_by[*j] = i;
            }
        found.resize(end - found.data());
    }

    void search_by_levels(BlockRow i, LargeVector<BlockRow>& found) {
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
    }

    RowPattern const& a_;
    Index levels_;
    std::vector<BlockRow> reached_by_;
    LargeVector<BlockRow> front_, next_;
};

/// The rows of U for the graph of A.
FillRows fill_above(RowPattern const& a, Index levels, int threads, Interrupt* interrupt) {
    FillRows rows(a.num_rows);
    std::atomic<BlockRow> next{0};
    run_threads(std::min<int>(team_size(threads), std::max(1, rows.num_pieces())), [&](int) {
        FillSearch search(a, levels);
        LargeVector<BlockRow> found;
        for (BlockRow k; (k = next.fetch_add(1, std::memory_order_relaxed)) < rows.num_pieces();) {
            check(interrupt);
            auto& [ind, end] = rows.piece(k);
            found.clear();
            BlockRow const last = std::min(a.num_rows, (k + 1) * rows_per_piece);
            end.reserve(last - k * rows_per_piece);
            for (BlockRow i = k * rows_per_piece; i < last; ++i) {
                search.search(i, found);
                end.push_back(std::ssize(found));
            }
            ind.assign(found.begin(), found.end()); // without the memory that `found` has in reserve
        }
    });
    return rows;
}

} // namespace

int find_block_size(StoredPattern const& a) {
    if (a.rows != a.cols) return 1;
    for (int size = largest_block; size > 1; --size)
        if (with_block_size(size, [&]<int B>() { return has_dense_blocks<B>(a); })) return size;
    return 1;
}

std::optional<BlockColumns> whole_blocks(StoredPattern const& a, int block_size, int threads) {
    if (block_size < 2 || a.symmetry != Symmetry::general || a.rows != a.cols || a.cols % block_size != 0 ||
        a.cols / block_size >= std::numeric_limits<BlockRow>::max())
        return std::nullopt;
    auto const length_of = [&](Index j) { return a.col_ptr[j + 1] - a.col_ptr[j]; };
    BlockColumns columns;
    columns.ptr.reserve(a.cols / block_size + 1);
    for (Index j = 0; j < a.cols; j += block_size) {
        Offset const length = length_of(j);
        bool is_whole = length % block_size == 0 && length <= std::numeric_limits<std::int32_t>::max();
        for (int c = 1; c < block_size; ++c) is_whole = is_whole && length_of(j + c) == length;
        if (!is_whole) return std::nullopt;
        columns.ptr.push_back(columns.ptr.back() + length / block_size);
    }
    columns.rows.resize(columns.ptr.back());
    std::atomic<bool> all_whole{true};
    threads = team_size(threads);
    Index const num_columns = a.cols / block_size;
    with_block_size(block_size, [&]<int B>() {
        run_threads(threads, [&](int t) {
            for (Index j = num_columns * t / threads; j < num_columns * (t + 1) / threads; ++j)
                if (!read_whole_blocks<B>(a, j, columns.rows.data() + columns.ptr[j])) {
                    all_whole = false;
                    return;
                }
        });
    });
    if (!all_whole) return std::nullopt;
    return columns;
}

RowPattern block_pattern(StoredPattern const& a, int block_size, std::span<Index const> positions,
                         BlockColumns const* whole) {
    BlockRow const num_rows = checked_num_rows(a, block_size, positions);
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
    if (a.symmetric) return join(std::move(a), upper, upper, true);
    // Column j of L is row j of U for the transposed matrix.
    auto const lower_columns = fill_above(transpose(a), levels, threads, interrupt);
    return join(std::move(a), lower_columns, upper, lower_columns == upper);
}

} // namespace espalier
