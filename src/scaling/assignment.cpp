// Shortest augmenting paths. Columns are the sources: from an unmatched column, Dijkstra's algorithm runs
// along entries to rows and from a matched row to its column, by the reduced cost
//     cost(i, j) - row_dual[i] - column_dual[j] >= 0,
// which is 0 on the matching. The nearest unmatched row ends it; the duals of what was nearer are moved so
// that the path's entries have reduced cost 0 too, and matched and unmatched entries along it change roles.
//
// A search that reaches no unmatched row has walked a set of rows whose columns have entries in these rows
// only. No later search can leave it, so it is buried: later ones pass it by, which keeps the work on
// structurally singular matrices linear. They then raise column duals without regard to it; the end makes up
// for that by moving the duals of each buried set as a whole.
#include "scaling/assignment.hpp"

#include <algorithm>

#include "core/scalar.hpp"
#include "scaling/row_heap.hpp"

namespace espalier {
namespace {

constexpr Index none = -1;

class Assigner {
  public:
    Assigner(SparseCosts const& costs, Interrupt* interrupt)
        : costs_(costs), interrupt_(interrupt), rows_(costs.n), columns_(costs.n), reached_(costs.n),
          heap_(rows_) {}

    Assignment run() {
        start_duals();
        match_tight_entries();
        for (Index j = 0; j < costs_.n; ++j)
            if (columns_[j].row == none && !augment_from(j)) bury(j);
        lower_buried();
        fit_unmatched();
        return result();
    }

  private:
    using Row = AssignmentRow;
    struct Column {
        double dual = 0;
        Index row = none; // Matched to it,
        Offset entry = 0; // by this entry.
        Index burial = 0; // The number of the burial that took it, from 1; 0: alive.
    };
    struct Step {
        Index column; // Before a row on the shortest path to it,
        Offset entry; // and the entry that leads there.
    };

    void check_now_and_then() {
        if (++scans_ % 1024 == 0) check(interrupt_);
    }
    void start_duals();
    void match_tight_entries();
    bool match_in_one_step(Index column);
    bool match_in_two_steps(Index column);

    bool augment_from(Index root);
    void scan(Index column, double base);
    Index next_row();
    void update_duals();
    void flip_path(Index root);
    void forget_search();

    void bury(Index root);
    void lower_buried();
    void fit_unmatched();
    Assignment result();

    [[nodiscard]] Offset begin(Index j) const { return costs_.col_ptr[j]; }
    [[nodiscard]] Offset end(Index j) const { return costs_.col_ptr[j + 1]; }
    Row& row_at(Offset k) { return rows_[costs_.row_ind[k]]; }
    /// Not negative but for rounding.
    double reduced_cost(Offset k, Column const& column) {
        return (costs_.cost[k] - row_at(k).dual) - column.dual;
    }
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

    // For the initial matching: the entry of each column before which there is no unmatched tight row.
    std::vector<Offset> next_look_;

    // The search under way.
    std::vector<Step> reached_;
    RowHeap heap_;
    std::vector<Index> ready_;   // Rows as near as the one just left: they need no heap.
    std::vector<Index> touched_; // Rows with a finite distance.
    std::vector<Index> settled_; // Matched rows whose distance is final.
    double shortest_ = infinity; // Distance of the nearest unmatched row so far,
    Index nearest_ = none;       // and that row.

    std::vector<Index> buried_; // Columns, in the order of their burials.
    Index num_burials_ = 0;
};

/// row_dual[i] = min_j cost(i, j), then column_dual[j] = min_i cost(i, j) - row_dual[i].
void Assigner::start_duals() {
    for (Offset k = 0; k < costs_.col_ptr.back(); ++k)
        row_at(k).dual = std::min(row_at(k).dual, costs_.cost[k]);
    for (Index j = 0; j < costs_.n; ++j) {
        double least = infinity;
        for (Offset k = begin(j); k < end(j); ++k) least = std::min(least, costs_.cost[k] - row_at(k).dual);
        columns_[j].dual = least;
    }
}

/// A matching of tight entries (reduced cost 0) that is large, but need not be the largest.
void Assigner::match_tight_entries() {
    next_look_.assign(costs_.col_ptr.begin(), costs_.col_ptr.end() - 1);
    for (Index j = 0; j < costs_.n; ++j)
        if (!match_in_one_step(j)) match_in_two_steps(j);
    next_look_ = {};
}

/// Rows never become unmatched again, so each entry is looked at once over all calls.
bool Assigner::match_in_one_step(Index column) {
    for (Offset& k = next_look_[column]; k < end(column); ++k)
        if (row_at(k).column == none && reduced_cost(k, columns_[column]) <= 0) {
            match(costs_.row_ind[k], column, k);
            return true;
        }
    return false;
}

/// Take the row of another column that can be matched elsewhere.
bool Assigner::match_in_two_steps(Index column) {
    for (Offset k = begin(column); k < end(column); ++k)
        if (reduced_cost(k, columns_[column]) <= 0 && match_in_one_step(row_at(k).column)) {
            match(costs_.row_ind[k], column, k);
            return true;
        }
    return false;
}

/// Whether a path was found; the matching is then one larger.
bool Assigner::augment_from(Index root) {
    check_now_and_then();
    scan(root, 0);
    for (Index i = next_row(); i != none; i = next_row()) {
        check_now_and_then();
        scan(rows_[i].column, rows_[i].distance);
    }
    if (nearest_ == none) return false;
    update_duals();
    flip_path(root);
    forget_search();
    return true;
}

/// Reach the rows of a column that is itself `base` away from the root.
void Assigner::scan(Index column, double base) {
    for (Offset k = begin(column); k < end(column); ++k) {
        Row& row = row_at(k);
        if (row.place <= Row::settled) continue;
        double const distance = base + std::max(0.0, reduced_cost(k, columns_[column]));
        if (distance >= std::min(row.distance, shortest_)) continue;
        Index const i = costs_.row_ind[k];
        if (row.distance == infinity) touched_.push_back(i);
        row.distance = distance;
        reached_[i] = {column, k};
        if (row.column == none) {
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

/// The nearest matched row that was not scanned, its distance now final; none when no path through it can be
/// shorter than the one that is known.
Index Assigner::next_row() {
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

/// A row at distance d < shortest, and its column, move by shortest - d in opposite directions: its matched
/// entry stays tight, and entries from its column to rows that are farther lose no more than they have.
void Assigner::update_duals() {
    for (Index const i : settled_) {
        double const change = shortest_ - rows_[i].distance;
        rows_[i].dual -= change;
        columns_[rows_[i].column].dual += change;
    }
}

/// Match along the path, which makes its entries tight; the root gets its dual here.
void Assigner::flip_path(Index root) {
    for (Index i = nearest_, column = none; column != root;) {
        Step const step = reached_[i];
        column = step.column;
        Index const left = columns_[column].row;
        match(i, column, step.entry);
        columns_[column].dual = costs_.cost[step.entry] - rows_[i].dual;
        i = left;
    }
}

void Assigner::forget_search() {
    for (Index const i : touched_) {
        rows_[i].distance = infinity;
        rows_[i].place = Row::untouched;
    }
    heap_.clear();
    ready_.clear();
    touched_.clear();
    settled_.clear();
    shortest_ = infinity;
    nearest_ = none;
}

/// After a search that failed: every row it touched is settled, and closed off with its column.
void Assigner::bury(Index root) {
    ++num_burials_;
    auto const take = [&](Index column) {
        columns_[column].burial = num_burials_;
        buried_.push_back(column);
    };
    for (Index const i : settled_) take(rows_[i].column);
    take(root);
    auto const rows = std::move(settled_);
    settled_.clear();
    forget_search();
    for (Index const i : rows) rows_[i].place = Row::buried;
}

/// The columns of burial b have entries in rows of the burials up to b only, so all rows of b may go down by
/// the same `drop[b]` and its columns up. From the last burial to the first, drop what later columns need:
///     row_dual[i] - drop[b] + column_dual[j] + drop[burial of j] <= cost(i, j),   i in b, j later or alive.
void Assigner::lower_buried() {
    if (num_burials_ == 0) return;
    std::vector<double> drop(num_burials_ + 1, 0.0);
    auto const demand = [&](Index j) {
        Column const& column = columns_[j];
        for (Offset k = begin(j); k < end(j); ++k) {
            if (row_at(k).column == none) continue;
            Index const burial = columns_[row_at(k).column].burial;
            if (burial != 0 && burial != column.burial)
                drop[burial] = std::max(drop[burial], drop[column.burial] - reduced_cost(k, column));
        }
    };
    for (Index j = 0; j < costs_.n; ++j)
        if (columns_[j].burial == 0) demand(j);
    for (auto j = buried_.rbegin(); j != buried_.rend(); ++j) demand(*j);
    for (Index const j : buried_) {
        columns_[j].dual += drop[columns_[j].burial];
        if (columns_[j].row != none) rows_[columns_[j].row].dual -= drop[columns_[j].burial];
    }
}

/// Make the matched entries tight to the last bit, and raise the duals of unmatched rows and columns until
/// an entry of theirs is tight too. (Such a row meets matched columns only, and the other way round.)
void Assigner::fit_unmatched() {
    for (Row& row : rows_)
        if (row.column == none) row.dual = infinity;
    for (Index j = 0; j < costs_.n; ++j) {
        Column& column = columns_[j];
        if (column.row == none) {
            column.dual = infinity;
            for (Offset k = begin(j); k < end(j); ++k)
                column.dual = std::min(column.dual, costs_.cost[k] - row_at(k).dual);
        } else {
            column.dual = costs_.cost[column.entry] - rows_[column.row].dual;
            for (Offset k = begin(j); k < end(j); ++k)
                if (row_at(k).column == none)
                    row_at(k).dual = std::min(row_at(k).dual, costs_.cost[k] - column.dual);
        }
    }
}

Assignment Assigner::result() {
    Assignment assignment;
    assignment.row_of_column.reserve(costs_.n);
    assignment.row_dual.reserve(costs_.n);
    assignment.column_dual.reserve(costs_.n);
    auto const zero_if_empty = [](double dual) { return dual == infinity ? 0.0 : dual; };
    for (Row const& row : rows_) assignment.row_dual.push_back(zero_if_empty(row.dual));
    for (Column const& column : columns_) {
        assignment.column_dual.push_back(zero_if_empty(column.dual));
        assignment.row_of_column.push_back(column.row);
        if (column.row != none) ++assignment.size;
    }
    return assignment;
}

} // namespace

Assignment solve_assignment(SparseCosts const& costs, Interrupt* interrupt) {
    return Assigner(costs, interrupt).run();
}

} // namespace espalier
