// The rows that a shortest path search has reached: what is known of each, and the heap of those whose
// distance is not final yet, nearest first. Part of assignment.cpp.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

/// Half a cache line: a scan of a column touches one of these an entry.
struct alignas(32) AssignmentRow {
    static constexpr Index none = -1;
    // Values of `place` beside the places in the heap.
    static constexpr Index untouched = -1;
    static constexpr Index settled = -2; ///< Its distance is final.
    static constexpr Index buried = -3;  ///< No unmatched row can be reached from here, now or later.

    double dual = std::numeric_limits<double>::infinity();
    double distance = std::numeric_limits<double>::infinity(); ///< From the root of the search.
    Index column = none;                                       ///< Matched to it.
    Index place = untouched;
};

/// A heap of row numbers by their distance, with four children a node. Each row knows its place, so that it
/// can be moved up or taken out.
class RowHeap {
  public:
    explicit RowHeap(std::vector<AssignmentRow>& rows) : rows_(rows) {}

    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] Index nearest() const { return heap_.front().row; }

    /// The row is new, or is in the heap and its distance has become less.
    void raise(Index row) {
        Index place = rows_[row].place;
        if (place < 0) {
            place = size();
            heap_.emplace_back();
        }
        sift_up({rows_[row].distance, row}, place);
    }

    /// Take out a row that is in the heap; it is settled.
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
        double distance = 0; // The row's; kept here so that comparisons stay within the heap.
        Index row = 0;
    };
    static constexpr Index arity = 4;

    [[nodiscard]] Index size() const { return static_cast<Index>(heap_.size()); }
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
