// A priority queue of ready tasks that threads share: a binary heap under a short spin lock, and the priority
// of its best task, which is read without the lock.
//
// This priority transfers no data: a thread that sees one takes the lock, and a queue that looks empty was
// empty at some moment. A task is in the heap before its priority can be read, and push() returns after both.
// So a pop() that begins later (in the sense of happens-before) finds the task unless another pop() has taken
// it. The runtime needs no more: a push is followed by a full fence and a search for sleepers, and a worker
// that says it sleeps issues a full fence before its last pop() (graph_run.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "policies/spin.hpp"
#include "policies/standard_atomics.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

/// For critical sections of a few hundred instructions. Spins for a moment and then yields, because on a
/// machine with more threads than cores the holder may not be running.
template <class Atomics> class BasicSpinLock {
  public:
    void lock() {
        for (int looks = 0; flag_.test_and_set(std::memory_order_acquire);)
            while (flag_.test(std::memory_order_relaxed))
                if (++looks < 64)
                    relax_processor();
                else
                    std::this_thread::yield();
    }
    void unlock() { flag_.clear(std::memory_order_release); }

  private:
    typename Atomics::Flag flag_;
};

/// All members may be called from several threads at once. O(log tasks).
template <class Atomics> class alignas(64) BasicReadyQueue {
  public:
    void push(TaskId task, double priority) {
        std::lock_guard const lock(lock_);
        heap_.push_back({priority, task});
        std::push_heap(heap_.begin(), heap_.end());
        publish();
    }

    /// The task of highest priority, of those the one with the lowest number; no_task when there is none.
    TaskId pop() {
        if (empty()) return no_task;
        std::lock_guard const lock(lock_);
        if (heap_.empty()) return no_task;
        std::pop_heap(heap_.begin(), heap_.end());
        TaskId const task = heap_.back().task;
        heap_.pop_back();
        publish();
        return task;
    }

    static constexpr double no_priority = -std::numeric_limits<double>::infinity();
    /// The priority of the best task at some moment of the call, or no_priority if the queue was empty.
    [[nodiscard]] double best_priority() const { return best_.load(std::memory_order_relaxed); }
    /// Whether the queue was empty at some moment of the call.
    [[nodiscard]] bool empty() const { return best_priority() == no_priority; }

  private:
    void publish() {
        best_.store(heap_.empty() ? no_priority : heap_.front().priority, std::memory_order_relaxed);
    }

    BasicSpinLock<Atomics> lock_;
    typename Atomics::Priority best_{no_priority};
    std::vector<ReadyTask> heap_; ///< Under lock_.
};

using ReadyQueue = BasicReadyQueue<StandardAtomics>;

} // namespace espalier
