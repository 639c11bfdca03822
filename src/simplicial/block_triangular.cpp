#include "simplicial/block_triangular.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/inverse_permutation.hpp"

namespace espalier {

namespace {

using Positions = std::vector<std::int32_t>;

// Finds augmenting paths. A path alternates between columns and the rows that are matched to others.
//
// The searches of a phase skip the columns that an earlier search of the phase has visited. So a phase takes
// linear time, and its paths do not cross. The columns that find no path try again in the next phase. Odd
// phases look at the rows of a column in the opposite order, so that the same detours are not made again.
//
// Detours block each other if many columns share few remaining paths. After a phase that matches less than
// half of the columns, the next one follows shortest paths only, in levels from a breadth-first search.
class Matcher {
  public:
    Matcher(PatternView const& pattern, double most_passes)
        : pattern_(pattern), n_(pattern.order()), row_of_(n_, -1),
          work_(most_passes * static_cast<double>(std::ssize(pattern.ind) + n_)) {}

    std::optional<Positions> run() {
        if (match_diagonal() == n_) return std::move(row_of_);
        column_of_ = row_of_; // they are equal on the diagonal
        Positions unmatched = match_in_one_step();
        if (unmatched.empty()) return std::move(row_of_);
        phase_of_.assign(n_, -1);
        num_searched_.resize(n_);
        for (bool has_levels = false; !unmatched.empty(); ++phase_) {
            if (has_levels && !set_levels(unmatched)) break;
            std::size_t const matched = std::erase_if(unmatched, [&](std::int32_t j) { return augment(j); });
            if (work_ < 0) return std::nullopt;
            has_levels |= matched < unmatched.size();
        }
        return std::move(row_of_);
    }

  private:
    // Returns the number of matched columns.
    std::int32_t match_diagonal() {
        std::int32_t matched = 0;
        for (std::int32_t j = 0; j < n_; ++j) {
            if (!std::ranges::binary_search(rows(j), Index(j))) continue;
            row_of_[j] = j;
            ++matched;
        }
        return matched;
    }

    // Returns the columns that have no unmatched row.
    Positions match_in_one_step() {
        Positions unmatched;
        lookahead_.assign(pattern_.ptr.begin(), pattern_.ptr.end() - 1);
        for (std::int32_t j = 0; j < n_; ++j) {
            if (row_of_[j] >= 0) continue;
            if (std::int32_t const row = unmatched_row(j); row >= 0)
                match(row, j);
            else
                unmatched.push_back(j);
        }
        return unmatched;
    }

    std::span<Index const> rows(std::int32_t j) const {
        return pattern_.ind.subspan(pattern_.ptr[j], pattern_.ptr[j + 1] - pattern_.ptr[j]);
    }

    void match(std::int32_t row, std::int32_t column) {
        row_of_[column] = row;
        column_of_[row] = column;
    }

    // An unmatched row of the column, or -1. Matched rows remain matched, so each entry is looked at once in
    // all.
    std::int32_t unmatched_row(std::int32_t j) {
        for (Offset& p = lookahead_[j]; p < pattern_.ptr[j + 1]; ++p)
            if (column_of_[pattern_.ind[p]] < 0) return static_cast<std::int32_t>(pattern_.ind[p]);
        return -1;
    }

    // Sets the distances of columns from the unmatched ones. Returns false if no unmatched row is within
    // reach, so that the matching is maximum.
    bool set_levels(Positions const& unmatched) {
        level_.assign(n_, -1);
        work_ -= n_;
        for (std::int32_t const j : unmatched) level_[j] = 0;
        Positions queue = unmatched;
        std::int32_t last_level = n_;
        for (std::size_t k = 0; k < queue.size() && level_[queue[k]] <= last_level; ++k) {
            std::int32_t const j = queue[k];
            work_ -= static_cast<double>(std::ssize(rows(j)) + 1);
            for (Index const row : rows(j)) {
                std::int32_t const next = column_of_[row];
                if (next < 0) {
                    last_level = level_[j];
                } else if (level_[next] < 0) {
                    level_[next] = level_[j] + 1;
                    queue.push_back(next);
                }
            }
        }
        return last_level < n_;
    }

    // Searches a path from column `root` depth first. Returns false if there is none, or if the time is over.
    bool augment(std::int32_t root) {
        path_.clear();
        enter(root);
        while (!path_.empty() && work_ >= 0) {
            std::int32_t const j = path_.back();
            if (std::int32_t const row = unmatched_row(j); row >= 0) {
                turn(row);
                return true;
            }
            if (std::int32_t const next = next_column(j); next >= 0)
                enter(next);
            else
                path_.pop_back();
        }
        return false;
    }

    void enter(std::int32_t j) {
        phase_of_[j] = phase_;
        num_searched_[j] = 0;
        path_.push_back(j);
    }

    // The column of the next row of column j that this phase may visit; -1 if there is none.
    std::int32_t next_column(std::int32_t j) {
        auto const rows_of_j = rows(j);
        bool const ascending = phase_ % 2 == 0;
        Offset const first = num_searched_[j], end = std::ssize(rows_of_j);
        std::int32_t next = -1;
        Offset k = first;
        while (k < end && next < 0) {
            std::int32_t const column = column_of_[rows_of_j[ascending ? k : end - 1 - k]];
            bool const is_next_level = level_.empty() || level_[column] == level_[j] + 1;
            if (is_next_level && phase_of_[column] != phase_) next = column;
            ++k;
        }
        num_searched_[j] = k;
        work_ -= static_cast<double>(k - first + 1);
        return next;
    }

    // Matches each column of the path to the row that leads to the next one, and the last one to `row`.
    void turn(std::int32_t row) {
        for (; !path_.empty(); path_.pop_back()) {
            std::int32_t const j = path_.back(), before = row_of_[j];
            match(row, j);
            row = before;
        }
    }

    PatternView const& pattern_;
    std::int32_t n_;
    std::int32_t phase_ = 0;
    Positions row_of_, column_of_, path_;
    Positions phase_of_;               // The last phase that visited each column.
    Positions level_;                  // Distances from the unmatched columns; empty without levels.
    std::vector<Offset> lookahead_;    // Entries of each column before this position have no unmatched row.
    std::vector<Offset> num_searched_; // Rows of each visited column.
    double work_;                      // The entries and columns that may still be visited.
};

// Pairs the rows and columns that have no partner.
void complete(Positions& row_of) {
    std::vector<bool> used(row_of.size(), false);
    for (std::int32_t const row : row_of)
        if (row >= 0) used[row] = true;
    std::int32_t free = 0;
    for (std::int32_t& row : row_of) {
        if (row >= 0) continue;
        while (used[free]) ++free;
        row = free++;
    }
}

// Tarjan's algorithm on the graph of columns: an edge from j to the column of each row of j. Components come
// out after those that they reach, which is the order of an upper block triangular form.
class Components {
  public:
    Components(PatternView const& pattern, Positions const& row_of)
        : order_(pattern.order()), start_(1, 0), pattern_(pattern), n_(pattern.order()),
          column_of_(inverse_permutation(row_of)), path_(n_), open_(n_), visits_(n_) {}

    void find() {
        for (std::int32_t root = 0; root < n_; ++root) {
            if (visits_[root].number >= 0) continue;
            enter(root);
            while (depth_ > 0) step();
        }
    }

    Positions order_, start_;

  private:
    static constexpr std::int32_t done = std::numeric_limits<std::int32_t>::max();

    struct Visit {
        std::int32_t number = -1; ///< In the order in which columns are entered, or -1.
        std::int32_t low = 0;     ///< The smallest number that the column reaches.
        Offset next = 0;          ///< The first entry that is not looked at.
    };

    void enter(std::int32_t j) {
        visits_[j] = {count_, count_, pattern_.ptr[j]};
        ++count_;
        path_[depth_++] = j;
        open_[num_open_++] = j;
    }

    void step() {
        std::int32_t const j = path_[depth_ - 1];
        Visit& visit = visits_[j];
        std::int32_t low = visit.low;
        Offset p = visit.next;
        for (Offset const end = pattern_.ptr[j + 1]; p < end; ++p) {
            std::int32_t const to = column_of_[pattern_.ind[p]];
            if (visits_[to].number < 0) {
                visit.next = p; // looked at again when `to` is finished
                visit.low = low;
                return enter(to);
            }
            low = std::min(low, visits_[to].low); // `done` if its component is complete
        }
        visit.low = low;
        --depth_;
        if (low == visit.number) close(j);
    }

    void close(std::int32_t root) {
        std::int32_t j;
        do {
            j = open_[--num_open_];
            visits_[j].low = done;
            order_[num_ordered_++] = j;
        } while (j != root);
        start_.push_back(num_ordered_);
    }

    PatternView const& pattern_;
    std::int32_t n_;
    Positions column_of_;
    Positions path_, open_; // stacks
    std::vector<Visit> visits_;
    std::int32_t count_ = 0, depth_ = 0, num_open_ = 0, num_ordered_ = 0;
};

// The connected components of a symmetric pattern with a full diagonal. Each set of connected vertices is a
// tree, whose root is the smallest vertex.
class SymmetricComponents {
  public:
    explicit SymmetricComponents(PatternView const& pattern) : pattern_(pattern) {}

    /// Returns nothing if the pattern is not symmetric or an entry of the diagonal is missing.
    std::optional<BlockTriangularForm> find() {
        if (!join_neighbors()) return std::nullopt;
        std::int32_t const n = pattern_.order();
        BlockTriangularForm form{{}, {}, {0}, n, true};
        Positions& block = parent_; // parents have smaller numbers, so theirs are known
        std::int32_t blocks = 0;
        for (std::int32_t j = 0; j < n; ++j) block[j] = block[j] == j ? blocks++ : block[block[j]];
        form.start.resize(blocks + 1);
        for (std::int32_t const b : block) ++form.start[b + 1];
        std::partial_sum(form.start.begin(), form.start.end(), form.start.begin());
        Positions next(form.start.begin(), form.start.end() - 1);
        form.column.resize(n);
        for (std::int32_t j = 0; j < n; ++j) form.column[next[block[j]]++] = j;
        form.row = form.column;
        return form;
    }

  private:
    // Each entry above the diagonal must be the next one below it in the column of its row.
    bool join_neighbors() {
        std::int32_t const n = pattern_.order();
        std::vector<Offset> next(n);
        parent_.resize(n);
        for (std::int32_t j = 0; j < n; ++j) {
            Offset p = pattern_.ptr[j];
            Offset const end = pattern_.ptr[j + 1];
            parent_[j] = j;
            for (; p < end && pattern_.ind[p] < j; ++p) {
                auto const i = static_cast<std::int32_t>(pattern_.ind[p]);
                Offset& mirror = next[i];
                if (mirror == pattern_.ptr[i + 1] || pattern_.ind[mirror] != j) return false;
                ++mirror;
                join(i, j);
            }
            if (p == end || pattern_.ind[p] != j) return false;
            next[j] = p + 1;
        }
        for (std::int32_t j = 0; j < n; ++j)
            if (next[j] < pattern_.ptr[j + 1]) return false;
        return true;
    }

    void join(std::int32_t i, std::int32_t j) {
        i = root_of(i);
        j = root_of(j);
        parent_[std::max(i, j)] = std::min(i, j);
    }

    std::int32_t root_of(std::int32_t v) {
        while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
        return v;
    }

    PatternView const& pattern_;
    Positions parent_;
};

// Sorts the columns of each block, which are in the order of the stack. Memory is then read in order.
void sort_columns(BlockTriangularForm& form) {
    Positions block(form.column.size()), next(form.start.begin(), form.start.end() - 1);
    for (std::int32_t b = 0; b < form.num_blocks(); ++b)
        for (std::int32_t k = form.start[b]; k < form.start[b + 1]; ++k) block[form.column[k]] = b;
    for (std::int32_t j = 0; j < std::ssize(block); ++j) form.column[next[block[j]]++] = j;
}

} // namespace

std::optional<std::vector<std::int32_t>> maximum_matching(PatternView const& pattern, double most_passes) {
    return Matcher(pattern, most_passes).run();
}

std::optional<BlockTriangularForm> block_triangular_form(PatternView const& pattern, double most_passes) {
    if (auto form = SymmetricComponents(pattern).find()) return form;
    auto row_of = maximum_matching(pattern, most_passes);
    if (!row_of) return std::nullopt;
    BlockTriangularForm form;
    form.structural_rank = std::ranges::count_if(*row_of, [](std::int32_t row) { return row >= 0; });
    if (form.structural_rank < pattern.order()) complete(*row_of);
    Components components(pattern, *row_of);
    components.find();
    form.column = std::move(components.order_);
    form.start = std::move(components.start_);
    sort_columns(form);
    form.row.reserve(form.column.size());
    for (std::int32_t const j : form.column) form.row.push_back((*row_of)[j]);
    return form;
}

} // namespace espalier
