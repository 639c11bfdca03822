// State of the rows in a shortest path search, and the heap of rows whose distance is not final yet. Part of
// assignment.cpp.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

/// State of a row. It fills half a cache line, because the scan of a column reads one per entry.
struct alignas(32) AssignmentRow {
    static constexpr Index none = -1;
    // Values of `place` for rows outside the heap.
    static constexpr Index untouched = -1; ///< Not reached by the current search.
    static constexpr Index settled = -2;   ///< The distance is final.
    static constexpr Index closed = -3;    ///< No unmatched row can be reached from here, now or later.

    double dual = std::numeric_limits<double>::infinity();     ///< Dual variable.
    double distance = std::numeric_limits<double>::infinity(); ///< From the root of the search.
    Index column = none;                                       ///< The matched column.
    Index place = untouched;                                   ///< Position in the heap, or one of the above.
};

/// A heap of rows by distance, with four children per node. Each row stores its place, so it can be moved up
/// or removed.
class RowHeap {
  public:
    explicit RowHeap(std::vector<AssignmentRow>& rows) : rows_(rows) {}

    [[nodiscard]] bool empty() const { return heap_.empty(); }
    /// The row with the smallest distance.
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

    /// Removes a row from the heap and marks it as settled.
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
        double distance = 0; // Copy of the row's distance, so that comparisons read only the heap.
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

} // namespace espalier
