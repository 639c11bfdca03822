#include "rows/fill_pattern.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/run_threads.hpp"
#include "runtime/exact_bytes.hpp"

namespace espalier {

namespace {

constexpr BlockRow rows_per_piece = 1024; ///< Rows that a thread searches at a time.
/// The number of blocks after which a thread looks at the interrupt and at the limit. Their search
/// takes some milliseconds.
constexpr std::size_t blocks_at_once = 1 << 16;

/// Counts the blocks that all threads find, and ends their searches.
class FillCount {
  public:
    FillCount(Index levels, FillLimit const& limit, Interrupt* interrupt)
        : levels_(levels), limit_(limit), interrupt_(interrupt) {}

    void add(Offset blocks) {
        check(interrupt_);
        Offset const all = count_.fetch_add(blocks, std::memory_order_relaxed) + blocks;
        if (limit_.bytes > 0 && all > limit_.blocks)
            throw Error(
                Status::out_of_memory,
                fmt::format("an incomplete factorization with level of fill {} needs more memory than "
                            "{}",
                            levels_,
                            limit_.is_available ? fmt::format("the available {}", format_bytes(limit_.bytes))
                                                : fmt::format("the limit of {}", exact_bytes(limit_.bytes))));
    }

  private:
    Index levels_;
    FillLimit limit_;
    Interrupt* interrupt_;
    std::atomic<Offset> count_{0};
};

/// The rows of U, without the diagonal. Threads find pieces of consecutive rows.
class FillRows {
  public:
    FillRows(BlockRow num_rows, int threads)
        : end_(num_rows), pieces_((num_rows + rows_per_piece - 1) / rows_per_piece), memory_(threads) {}

    [[nodiscard]] BlockRow num_pieces() const { return static_cast<BlockRow>(pieces_.size()); }
    /// The ends of the rows, counted from the first entry of their piece.
    [[nodiscard]] LargeVector<Offset>& end() { return end_; }
    /// Copies the entries of a piece. Each thread has its own memory.
    void keep(BlockRow piece, LargeVector<BlockRow> const& found, int thread) {
        auto& blocks = memory_[thread];
        if (blocks.empty() || blocks.back().capacity() - blocks.back().size() < found.size()) {
            blocks.emplace_back();
            blocks.back().reserve(
                std::max(found.size(), std::min(block_entries, found.size() * pieces_.size())));
        }
        auto& block = blocks.back();
        std::size_t const first = block.size();
        block.insert(block.end(), found.begin(), found.end()); // never beyond its capacity
        pieces_[piece] = std::span(block).subspan(first);
    }
    [[nodiscard]] std::span<BlockRow const> of(BlockRow i) const {
        BlockRow const* const first = pieces_[i / rows_per_piece].data();
        return {first + (i % rows_per_piece > 0 ? end_[i - 1] : 0), first + end_[i]};
    }
    bool operator==(FillRows const& other) const {
        return end_ == other.end_ && std::ranges::equal(pieces_, other.pieces_, std::ranges::equal);
    }

  private:
    static constexpr std::size_t block_entries = std::size_t(1) << 20; ///< Two huge pages.

    LargeVector<Offset> end_;                       ///< By row.
    std::vector<std::span<BlockRow const>> pieces_; ///< Rows k * rows_per_piece and the following ones.
    std::vector<std::vector<LargeVector<BlockRow>>> memory_; ///< By thread.
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

/// Finds the fill row by row, with a breadth-first search for each row. The inner loops do without branches
/// that depend on what is found, because these would be mispredicted.
class FillSearch {
  public:
    FillSearch(RowPattern const& a, Index levels) : a_(a), levels_(levels), reached_by_(a.num_rows, -1) {}

    /// Appends to `found`, in ascending order, the vertices above i that end a path from i with at most
    /// levels + 1 edges through vertices below i.
    void search(BlockRow i, LargeVector<BlockRow>& found) {
        auto const begin = std::ssize(found);
        auto const after = a_.upper(i);
        auto front = a_.lower(i);
        found.insert(found.end(), after.begin(), after.end());
        for (BlockRow const j : after) reached_by_[j] = i;
        if (levels_ > 1) // otherwise only vertices above i are looked at
            for (BlockRow const j : front) reached_by_[j] = i;
        for (Index level = 1; level < levels_ && !front.empty(); ++level) front = extend(i, front, found);
        end_paths(i, front, found);
        std::sort(found.begin() + begin, found.end());
    }

  private:
    /// Returns the vertices below i that are reached from the front, and appends those above i to `found`.
    std::span<BlockRow const> extend(BlockRow i, std::span<BlockRow const> front,
                                     LargeVector<BlockRow>& found) {
        std::size_t const size = found.size();
        std::size_t most = 0;
        for (BlockRow const k : front) most += a_.row(k).size();
        found.resize(size + most);
        next_.resize(most);
        BlockRow *const reached_by = reached_by_.data(), *above = found.data() + size, *below = next_.data();
        for (BlockRow const k : front)
            for (BlockRow const j : a_.row(k)) {
                bool const is_new = reached_by[j] != i;
                reached_by[j] = i;
                *above = *below = j;
                above += is_new && j > i ? 1 : 0;
                below += is_new && j < i ? 1 : 0;
            }
        found.resize(above - found.data());
        next_.resize(below - next_.data());
        front_.swap(next_);
        return front_;
    }

    /// Appends the vertices above i that are reached from the front.
    void end_paths(BlockRow i, std::span<BlockRow const> front, LargeVector<BlockRow>& found) {
        std::size_t const size = found.size();
        std::size_t most = 0;
        for (BlockRow const k : front) most += a_.upper(k).size();
        found.resize(size + most);
        BlockRow *const reached_by = reached_by_.data(), *end = found.data() + size;
        for (BlockRow const k : front)
            for (BlockRow const* j = a_.cols.data() + a_.ptr[k + 1];
                 *--j > i;) { // it ends at the diagonal at the latest
                *end = *j;
                end += reached_by[*j] != i ? 1 : 0;
                reached_by[*j] = i;
            }
        found.resize(end - found.data());
    }

    RowPattern const& a_;
    Index levels_;
    std::vector<BlockRow> reached_by_;
    LargeVector<BlockRow> front_, next_; ///< The front is in front_ unless it is a row of A.
};

/// The rows of U for the graph of A. Each of their blocks counts `weight` times.
FillRows fill_above(RowPattern const& a, Index levels, int threads, FillCount& count, Offset weight) {
    threads = team_size(threads);
    FillRows rows(a.num_rows, threads);
    std::atomic<BlockRow> next{0};
    run_threads(std::min<int>(threads, std::max(1, rows.num_pieces())), [&](int t) {
        FillSearch search(a, levels);
        LargeVector<BlockRow> found;
        for (BlockRow k; (k = next.fetch_add(1, std::memory_order_relaxed)) < rows.num_pieces();) {
            found.clear();
            std::size_t counted = 0;
            auto const count_found = [&] {
                count.add(weight * static_cast<Offset>(found.size() - counted));
                counted = found.size();
            };
            BlockRow const first = k * rows_per_piece, last = std::min(a.num_rows, first + rows_per_piece);
            for (BlockRow i = first; i < last; ++i) {
                search.search(i, found);
                rows.end()[i] = std::ssize(found);
                if (found.size() - counted >= blocks_at_once) count_found();
            }
            count_found();
            rows.keep(k, found, t);
        }
    });
    return rows;
}

} // namespace

RowPattern fill_pattern(RowPattern a, Index levels, int threads, Interrupt* interrupt,
                        FillLimit const& limit) {
    if (levels < 0)
        throw Error(Status::usage, fmt::format("the level of fill is {}; expected at least 0", levels));
    if (levels == 0) return a;
    FillCount count(levels, limit, interrupt);
    count.add(a.num_rows); // the diagonal; and the calling thread may get no rows
    auto const upper = fill_above(a, levels, threads, count, a.symmetric ? 2 : 1);
    if (a.symmetric) return join(std::move(a), upper, upper, true);
    // Column j of L is row j of U for the transposed matrix.
    auto const lower_columns = fill_above(transpose(a), levels, threads, count, 1);
    return join(std::move(a), lower_columns, upper, lower_columns == upper);
}

} // namespace espalier
