// Shortest augmenting paths. Dijkstra's algorithm starts at unmatched columns and walks along entries to rows
// and from a matched row to its column, with the reduced costs
//     cost(i, j) - row_dual[i] - column_dual[j] >= 0,
// which are 0 on the matching. It ends at the nearest unmatched row. The duals of the nearer rows and columns
// are then changed so that the entries of the path have reduced cost 0 too, and the path is augmented.
//
// A search may start at one unmatched column, or in a phase at all of them. A phase augments along disjoint
// paths of entries with reduced cost 0, which are found depth first [Hopcroft, Karp 1973; Gabow, Tarjan
// 1989]. Costs are small integers, so many paths are equally short, and a few phases may match nearly all
// columns. Both kinds of search take turns. Each continues while it looks at fewer entries for each matched
// column.
//
// A search that reaches no unmatched row has visited a set of rows whose columns have entries in these rows
// only. No later search can leave this set, so it is closed: later searches skip it, which keeps the work
// linear for structurally singular matrices. Later searches raise column duals without regard to closed sets;
// in the end, the duals of each closed set are lowered as a whole to correct this.
#include "scaling/assignment.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace espalier {
namespace {

constexpr Index none = -1;
constexpr Offset infinite = std::numeric_limits<Offset>::max() / 4; // can be added to others

/// State of a row. It fills half a cache line, because the scan of a column reads one per entry.
struct alignas(32) AssignmentRow {
    // Values of `place` for rows outside the heap.
    static constexpr Index untouched = -1; ///< Not reached by the current search.
    static constexpr Index settled = -2;   ///< The distance is final.

    /// The distance of a closed row, from which no unmatched row can be reached, now or later.
    static constexpr Offset closed = -infinite;

    Offset dual = infinite;     ///< Dual variable.
    Offset distance = infinite; ///< From the nearest root of the search.
    Index column = none;        ///< The matched column.
    Index place = untouched;    ///< Position in the heap, or one of the above.
};

/// A heap of rows by distance, with four children per node. Each row stores its place, so it can be moved up
/// or removed.
class RowHeap {
  public:
    explicit RowHeap(std::vector<AssignmentRow>& rows) : rows_(rows) {}

    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] Index nearest() const { return heap_.front().row; }

    /// Inserts a row, or moves it up after its distance decreased.
    void raise(Index row) {
        Index place = rows_[row].place;
        if (place < 0) {
            place = size();
            heap_.emplace_back();
        }
        sift_up({rows_[row].distance, row}, place);
    }

    void remove(Index row) {
        Index const hole = rows_[row].place;
        Item const last = heap_.back();
        heap_.pop_back();
        rows_[row].place = AssignmentRow::settled;
        if (last.row == row) return;
        sift_down(last, hole);
        sift_up(last, rows_[last.row].place);
    }

    void clear() { heap_.clear(); }

  private:
    struct Item {
        Offset distance = 0; // Copy of the row's distance, so that comparisons read only the heap.
        Index row = 0;
    };
    static constexpr Index arity = 4;

    [[nodiscard]] Index size() const { return std::ssize(heap_); }
    void put(Item item, Index place) {
        heap_[place] = item;
        rows_[item.row].place = place;
    }

    void sift_up(Item item, Index place) {
        while (place > 0) {
            Index const above = (place - 1) / arity;
            if (heap_[above].distance <= item.distance) break;
            put(heap_[above], place);
            place = above;
        }
        put(item, place);
    }

    void sift_down(Item item, Index place) {
        for (Index first = arity * place + 1; first < size(); first = arity * place + 1) {
            Index const last = std::min(first + arity, size());
            Index least = first;
            for (Index child = first + 1; child < last; ++child)
                if (heap_[child].distance < heap_[least].distance) least = child;
            if (item.distance <= heap_[least].distance) break;
            put(heap_[least], place);
            place = least;
        }
        put(item, place);
    }

    std::vector<AssignmentRow>& rows_;
    std::vector<Item> heap_;
};

class Assigner {
  public:
    Assigner(SparseCosts const& costs, Interrupt* interrupt)
        : costs_(costs), interrupt_(interrupt), rows_(costs.n), columns_(costs.n), reached_(costs.n),
          heap_(rows_) {}

    Assignment run() {
        start_duals();
        match_tight_entries();
        match_others();
        lower_closed();
        fit_unmatched();
        return result();
    }

  private:
    using Row = AssignmentRow;
    struct Column {
        Offset dual = 0;
        Index row = none;     // The matched row.
        Offset entry = 0;     // The matched entry.
        Index closed_set = 0; // The closed set of the column, from 1; 0 if it is open.
    };
    struct Step {
        Index column; // The column before a row on the shortest path to it.
        Offset entry; // The entry of that column in the row.
    };

    void check_interrupt() {
        if (++scans_ % 1024 == 0) check(interrupt_);
    }

    /// row_dual[i] = min_j cost(i, j), then column_dual[j] = min_i cost(i, j) - row_dual[i].
    void start_duals() {
        for (Offset k = 0; k < costs_.col_ptr.back(); ++k)
            row_at(k).dual = std::min<Offset>(row_at(k).dual, costs_.cost[k]);
        for (Index j = 0; j < costs_.n; ++j) {
            Offset least = infinite;
            for (Offset k : costs_.entries_of(j)) least = std::min(least, costs_.cost[k] - row_at(k).dual);
            columns_[j].dual = least;
        }
    }

    /// Finds a large, not necessarily maximum, matching of tight entries (reduced cost 0), with those of the
    /// diagonal first.
    void match_tight_entries() {
        for (Index j = 0; j < costs_.n; ++j)
            for (Offset const k : costs_.entries_of(j))
                if (costs_.row_ind[k] == j && is_tight(k, columns_[j])) match(j, j, k);
        next_unchecked_.assign(costs_.col_ptr.begin(), costs_.col_ptr.end() - 1);
        for (Index j = 0; j < costs_.n; ++j)
            if (columns_[j].row == none && !match_in_one_step(j)) match_in_two_steps(j);
    }

    /// Matches a column to an unmatched tight row. Matched rows stay matched, so each entry is checked only
    /// once over all calls.
    bool match_in_one_step(Index column) {
        for (Offset& k = next_unchecked_[column]; k < costs_.col_ptr[column + 1]; ++k)
            if (row_at(k).column == none && is_tight(k, columns_[column])) {
                match(costs_.row_ind[k], column, k);
                return true;
            }
        return false;
    }

    /// Matches a column to the row of another column that can be matched elsewhere.
    bool match_in_two_steps(Index column) {
        for (Offset k : costs_.entries_of(column))
            if (is_tight(k, columns_[column]) && match_in_one_step(row_at(k).column)) {
                match(costs_.row_ind[k], column, k);
                return true;
            }
        return false;
    }

    /// Searches from one column after the other for a while, and then in phases as long as they look at fewer
    /// entries for each column that they match.
    void match_others() {
        Offset const pass = costs_.col_ptr.back();
        std::vector<Index> unmatched;
        for (Index j = costs_.n - 1; j >= 0; --j)
            if (columns_[j].row == none) unmatched.push_back(j);
        if (unmatched.empty()) return;
        phase_of_.assign(costs_.n, 0);
        while (!unmatched.empty()) {
            Offset const begin = scanned_;
            auto const before = std::ssize(unmatched);
            for (; !unmatched.empty() && scanned_ - begin <= pass; unmatched.pop_back())
                if (!augment_from(unmatched.back())) close_set(unmatched.back());
            Offset const by_search = (scanned_ - begin) / (before - std::ssize(unmatched));
            Offset by_phase = 0;
            while (by_phase <= by_search && std::ssize(unmatched) * by_search > pass)
                by_phase = run_phase(unmatched);
        }
    }

    /// Augments along many shortest paths at once. Returns the number of scanned entries for each column that
    /// is matched; infinite if there is no path.
    Offset run_phase(std::vector<Index>& unmatched) {
        Offset const begin = scanned_;
        if (!find_tight_paths(unmatched)) return infinite;
        ++phase_;
        auto const matched =
            static_cast<Offset>(std::erase_if(unmatched, [&](Index j) { return augment_tight_path(j); }));
        return (scanned_ - begin) / std::max<Offset>(matched, 1);
    }

    /// Searches until the number of unmatched rows found is a quarter of that of unmatched columns. Makes all
    /// entries of the shortest paths to these rows tight. Returns false if there is no path.
    bool find_tight_paths(std::vector<Index> const& unmatched) {
        Index const enough = std::ssize(unmatched) / 4 + 1;
        Index found = 0;
        Offset reached = 0;
        ends_at_first_ = false;
        for (Index const j : unmatched) scan(j, 0);
        for (Index i = next_row(); i != none; i = next_row()) {
            reached = rows_[i].distance;
            if (rows_[i].column != none)
                scan(rows_[i].column, reached);
            else if (++found == enough)
                shortest_ = reached;
        }
        ends_at_first_ = true;
        shortest_ = reached;
        if (found > 0) {
            update_duals();
            for (Index const j : unmatched) columns_[j].dual += reached;
        }
        forget_search();
        return found > 0;
    }

    /// Augments along a path of tight entries and of rows that no other search of the phase has visited, if
    /// there is one.
    bool augment_tight_path(Index root) {
        path_.clear();
        Offset last = enter(root);
        while (last == none && !path_.empty()) {
            Index const row = next_tight_row(path_.back());
            if (row == none) {
                path_.pop_back();
                continue;
            }
            phase_of_[row] = phase_;
            last = enter(rows_[row].column);
        }
        // The last column gets the unmatched row, and the others the rows by which the path left them.
        Offset entry = last;
        while (!path_.empty()) {
            match(costs_.row_ind[entry], path_.back(), entry);
            path_.pop_back();
            if (!path_.empty()) entry = next_unchecked_[path_.back()] - 1;
        }
        return last != none;
    }

    /// Appends a column to the path. Returns its tight entry in an unmatched row, or `none`.
    Offset enter(Index j) {
        path_.push_back(j);
        next_unchecked_[j] = costs_.col_ptr[j];
        scanned_ += costs_.col_ptr[j + 1] - costs_.col_ptr[j];
        for (Offset const k : costs_.entries_of(j))
            if (row_at(k).column == none && is_tight(k, columns_[j])) return k;
        return none;
    }

    /// The next row in which the column has a tight entry and that was not visited in this phase.
    Index next_tight_row(Index j) {
        for (Offset& k = next_unchecked_[j]; k < costs_.col_ptr[j + 1]; ++k) {
            Index const row = costs_.row_ind[k];
            if (phase_of_[row] == phase_ || !is_tight(k, columns_[j])) continue;
            ++k;
            return row;
        }
        return none;
    }

    /// Searches an augmenting path from an unmatched column and, if there is one, augments the matching.
    bool augment_from(Index root) {
        scan(root, 0);
        finish_search();
        if (nearest_ == none) return false;
        update_duals();
        flip_path(root);
        forget_search();
        return true;
    }

    void finish_search() {
        for (Index i = next_row(); i != none; i = next_row()) scan(rows_[i].column, rows_[i].distance);
    }

    /// Updates the distances of the rows of a column at distance `base` from the nearest root.
    void scan(Index column, Offset base) {
        check_interrupt();
        scanned_ += costs_.col_ptr[column + 1] - costs_.col_ptr[column];
        for (Offset k : costs_.entries_of(column)) {
            Row& row = row_at(k);
            Offset const distance = base + reduced_cost(k, columns_[column]);
            // This skips closed rows and, because their distance is at most `base`, settled rows, too.
            if (distance >= std::min(row.distance, shortest_)) continue;
            Index const i = costs_.row_ind[k];
            if (row.distance == infinite) touched_.push_back(i);
            row.distance = distance;
            reached_[i] = {column, k};
            if (row.column == none && ends_at_first_) {
                shortest_ = distance;
                nearest_ = i;
            } else if (distance <= base) {
                if (row.place >= 0) heap_.remove(i);
                row.place = Row::settled;
                ready_.push_back(i);
            } else {
                heap_.raise(i);
            }
        }
    }

    /// Removes the nearest matched row that was not scanned and makes its distance final. Returns `none` if
    /// no path through it can be shorter than the known one.
    Index next_row() {
        Index nearest = none;
        if (!ready_.empty()) {
            nearest = ready_.back();
            ready_.pop_back();
        } else if (!heap_.empty()) {
            nearest = heap_.nearest();
            heap_.remove(nearest);
        }
        if (nearest == none || rows_[nearest].distance >= shortest_) return none;
        settled_.push_back(nearest);
        return nearest;
    }

    /// The duals of a row at distance d < shortest and of its column change by shortest - d in opposite
    /// directions: the matched entry stays tight, and the reduced costs of the column's other entries stay
    /// non-negative.
    void update_duals() {
        for (Index const i : settled_) {
            Offset const change = shortest_ - rows_[i].distance;
            rows_[i].dual -= change;
            if (rows_[i].column != none) columns_[rows_[i].column].dual += change;
        }
    }

    /// Matches the entries of the path, which makes them tight, and sets the dual of the root.
    void flip_path(Index root) {
        for (Index i = nearest_, column = none; column != root;) {
            Step const step = reached_[i];
            column = step.column;
            Index const left = columns_[column].row;
            match(i, column, step.entry);
            columns_[column].dual = costs_.cost[step.entry] - rows_[i].dual;
            i = left;
        }
    }

    void forget_search() {
        for (Index const i : touched_) {
            rows_[i].distance = infinite;
            rows_[i].place = Row::untouched;
        }
        heap_.clear();
        ready_.clear();
        touched_.clear();
        settled_.clear();
        shortest_ = infinite;
        nearest_ = none;
    }

    /// Closes the rows and columns that a failed search visited. All its touched rows are settled.
    void close_set(Index root) {
        ++num_closed_sets_;
        auto const add = [&](Index column) {
            columns_[column].closed_set = num_closed_sets_;
            closed_columns_.push_back(column);
        };
        for (Index const i : settled_) add(rows_[i].column);
        add(root);
        auto const rows = std::move(settled_);
        settled_.clear();
        forget_search();
        for (Index const i : rows) rows_[i].distance = Row::closed;
    }

    /// The columns of closed set b have entries only in rows of the closed sets 1 .. b, so all row duals of
    /// set b may decrease by drop[b] while its column duals increase by drop[b]. From the last set to the
    /// first, drop[b] is the smallest value for which
    ///     row_dual[i] - drop[b] + column_dual[j] + drop[set of j] <= cost(i, j)
    /// for rows i of set b and columns j that are open or in a later set.
    void lower_closed() {
        if (num_closed_sets_ == 0) return;
        std::vector<Offset> drop(num_closed_sets_ + 1, 0);
        auto const update_drops = [&](Index j) {
            Column const& column = columns_[j];
            for (Offset k : costs_.entries_of(j)) {
                if (row_at(k).column == none) continue;
                Index const set = columns_[row_at(k).column].closed_set;
                if (set != 0 && set != column.closed_set)
                    drop[set] = std::max(drop[set], drop[column.closed_set] - reduced_cost(k, column));
            }
        };
        for (Index j = 0; j < costs_.n; ++j)
            if (columns_[j].closed_set == 0) update_drops(j);
        for (auto j = closed_columns_.rbegin(); j != closed_columns_.rend(); ++j) update_drops(*j);
        for (Index const j : closed_columns_) {
            columns_[j].dual += drop[columns_[j].closed_set];
            if (columns_[j].row != none) rows_[columns_[j].row].dual -= drop[columns_[j].closed_set];
        }
    }

    /// Raises the duals of unmatched rows and columns until one of their entries is tight. Unmatched rows
    /// have entries in matched columns only, and vice versa.
    void fit_unmatched() {
        for (Row& row : rows_)
            if (row.column == none) row.dual = infinite;
        for (Index j = 0; j < costs_.n; ++j) {
            Column& column = columns_[j];
            if (column.row == none) {
                column.dual = infinite;
                for (Offset k : costs_.entries_of(j))
                    column.dual = std::min(column.dual, costs_.cost[k] - row_at(k).dual);
            } else {
                for (Offset k : costs_.entries_of(j))
                    if (row_at(k).column == none)
                        row_at(k).dual = std::min(row_at(k).dual, costs_.cost[k] - column.dual);
            }
        }
    }

    Assignment result() {
        Assignment assignment;
        assignment.row_of_column.reserve(costs_.n);
        assignment.row_dual.reserve(costs_.n);
        assignment.column_dual.reserve(costs_.n);
        auto const zero_if_empty = [](Offset dual) { return dual == infinite ? 0 : dual; };
        for (Row const& row : rows_) assignment.row_dual.push_back(zero_if_empty(row.dual));
        for (Column const& column : columns_) {
            assignment.column_dual.push_back(zero_if_empty(column.dual));
            assignment.row_of_column.push_back(column.row);
            if (column.row != none) ++assignment.size;
        }
        return assignment;
    }

    Row& row_at(Offset k) { return rows_[costs_.row_ind[k]]; }
    Offset reduced_cost(Offset k, Column const& column) {
        return costs_.cost[k] - row_at(k).dual - column.dual;
    }
    bool is_tight(Offset k, Column const& column) { return reduced_cost(k, column) == 0; }
    void match(Index row, Index column, Offset entry) {
        rows_[row].column = column;
        columns_[column].row = row;
        columns_[column].entry = entry;
    }

    SparseCosts const& costs_;
    Interrupt* interrupt_;
    std::uint64_t scans_ = 0;
    std::vector<Row> rows_;
    std::vector<Column> columns_;

    // For the initial matching: entries of each column before this position have no unmatched tight row. In
    // a phase: searches have followed the tight ones among them.
    std::vector<Offset> next_unchecked_;

    // State of the phases.
    std::vector<Index> path_;     // The columns of the path, which begins at an unmatched one.
    std::vector<Index> phase_of_; // The last phase that visited each row.
    Index phase_ = 0;             // The number of phases so far.
    Offset scanned_ = 0;          // The number of entries that searches have looked at.

    // State of the current search.
    std::vector<Step> reached_;
    RowHeap heap_;
    std::vector<Index> ready_;   // Rows at the current distance, which need no heap.
    std::vector<Index> touched_; // Rows with a finite distance.
    std::vector<Index> settled_; // Matched rows whose distance is final.
    Offset shortest_ = infinite; // Distance of the nearest unmatched row found so far.
    Index nearest_ = none;       // That row.
    bool ends_at_first_ = true;  // Whether the search ends at the nearest unmatched row.

    std::vector<Index> closed_columns_; // In the order of their closed sets.
    Index num_closed_sets_ = 0;
};

} // namespace

Assignment solve_assignment(SparseCosts const& costs, Interrupt* interrupt) {
    return Assigner(costs, interrupt).run();
}

} // namespace espalier
