// A priority queue of vertices by gain, in which gains can change: a binary heap with the place of each
// vertex.
#pragma once

#include <cstdint>
#include <vector>

#include "ordering/cut_graph.hpp"

namespace espalier {

class GainQueue {
  public:
    /// Makes room for the vertices 0 .. n - 1. The queue must be empty.
    void reserve(Vertex n) {
        if (std::ssize(place_) < n) place_.resize(n, -1);
    }
    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] bool contains(Vertex v) const { return place_[v] >= 0; }
    /// A vertex of largest gain, and its gain. The queue must not be empty.
    [[nodiscard]] Vertex top() const { return heap_.front().vertex; }
    [[nodiscard]] std::int32_t top_gain() const { return heap_.front().gain; }

    void insert(Vertex v, std::int32_t gain) {
        heap_.push_back({gain, v});
        sift_up(std::ssize(heap_) - 1);
    }
    /// Removes v if the queue contains it.
    void erase(Vertex v) {
        Index const i = place_[v];
        if (i < 0) return;
        place_[v] = -1;
        Item const last = heap_.back();
        heap_.pop_back();
        if (i < std::ssize(heap_)) replace(i, last);
    }
    /// Adds `difference` to the gain of v if the queue contains it.
    void add(Vertex v, std::int32_t difference) {
        if (Index const i = place_[v]; i >= 0) replace(i, {heap_[i].gain + difference, v});
    }
    /// Changes the gain of v if the queue contains it.
    void update(Vertex v, std::int32_t gain) {
        if (Index const i = place_[v]; i >= 0) replace(i, {gain, v});
    }
    void clear() {
        for (Item const& item : heap_) place_[item.vertex] = -1;
        heap_.clear();
    }

  private:
    struct Item {
        std::int32_t gain;
        Vertex vertex;
    };

    void replace(Index i, Item item) {
        std::int32_t const before = heap_[i].gain;
        heap_[i] = item;
        if (item.gain > before)
            sift_up(i);
        else
            sift_down(i);
    }
    void set(Index i, Item item) {
        heap_[i] = item;
        place_[item.vertex] = static_cast<Vertex>(i);
    }
    void sift_up(Index i) {
        Item const item = heap_[i];
        for (; i > 0 && heap_[(i - 1) / 2].gain < item.gain; i = (i - 1) / 2) set(i, heap_[(i - 1) / 2]);
        set(i, item);
    }
    void sift_down(Index i) {
        Item const item = heap_[i];
        Index const size = std::ssize(heap_);
        for (Index child = 2 * i + 1; child < size; child = 2 * i + 1) {
            if (child + 1 < size && heap_[child + 1].gain > heap_[child].gain) ++child;
            if (heap_[child].gain <= item.gain) break;
            set(i, heap_[child]);
            i = child;
        }
        set(i, item);
    }

    std::vector<Item> heap_;
    std::vector<Vertex> place_; ///< The place of each vertex in heap_, or -1.
};

} // namespace espalier
