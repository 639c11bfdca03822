// Tasks that exclude each other: those with the same TaskGraph::resource never run at the same time. Nobody
// waits for a lock: a worker that was handed a task whose resource is held leaves the task with the resource
// and looks for another; who gives the resource back takes the one that was left there first and pushes it
// anew. So tasks come back in the order of their priorities, in which they were handed out.
//
// Each resource has one word: a bit that says whether it is held, and the top of a stack of tasks left with
// it; and a queue that only the holder touches. When the queue is empty the holder takes the whole stack for
// it, and turns it round; each task is turned once. As only the holder takes tasks off, none can leave and
// come back unnoticed. While tasks are left with a free resource, one that wants it has been pushed and will
// give it back in turn: none is forgotten.
#pragma once

#include <cstdint>
#include <memory>

#include "policies/standard_atomics.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

/// Error{internal} for a resource out of range.
void check_resources(TaskGraph const& graph);

template <class Atomics> class BasicExclusion {
  public:
    /// For a run of this graph, which must outlive it. Errors as check_resources().
    void begin(TaskGraph const& graph) {
        check_resources(graph);
        graph_ = &graph;
        if (graph.resource.empty()) return;
        if (graph.num_resources > resources_capacity_) {
            resources_ = std::make_unique<Resource[]>(static_cast<std::size_t>(graph.num_resources));
            resources_capacity_ = graph.num_resources;
        }
        if (graph.num_tasks() > next_capacity_) {
            next_ = std::make_unique<TaskId[]>(static_cast<std::size_t>(graph.num_tasks()));
            next_capacity_ = graph.num_tasks();
        }
        for (std::int32_t r = 0; r < graph.num_resources; ++r) {
            resources_[r].word.store(0, std::memory_order_relaxed);
            resources_[r].first = no_task;
        }
    }

    /// Whether the task may run now, holding its resource. Else it has been left with the resource, and a
    /// release() returns it.
    bool acquire(TaskId task) {
        std::int32_t const resource = resource_of(task);
        if (resource == no_resource) return true;
        auto& word = resources_[resource].word;
        Word now = word.load(std::memory_order_relaxed);
        for (;;) {
            if (!(now & held)) {
                // What the last holder wrote is visible to this one.
                if (word.compare_exchange_weak(now, now | held, std::memory_order_acquire,
                                               std::memory_order_relaxed))
                    return true;
                continue;
            }
            next_[task] = first_of(now);
            if (word.compare_exchange_weak(now, with(task) | held, std::memory_order_release,
                                           std::memory_order_relaxed))
                return false;
        }
    }

    /// The task has run. Returns the one that was left with its resource first, to be pushed, or no_task.
    /// O(1) amortized.
    TaskId release(TaskId task) {
        std::int32_t const number = resource_of(task);
        if (number == no_resource) return no_task;
        Resource& resource = resources_[number];
        if (resource.first == no_task && !refill(resource)) return no_task;
        TaskId const left = resource.first;
        resource.first = next_[left];
        // The next holder sees the queue as it is now, and what was written under the resource.
        resource.word.fetch_and(~held, std::memory_order_release);
        return left;
    }

  private:
    // 2 (task + 1) + held, or without a task: held or 0.
    using Word = std::uint64_t;
    static constexpr Word held = 1;
    static Word with(TaskId first) { return static_cast<Word>(first + 1) << 1; }
    static TaskId first_of(Word word) { return static_cast<TaskId>(word >> 1) - 1; }

    struct Resource {
        typename Atomics::Word word{0}; ///< The stack, last one first.
        TaskId first = no_task;         ///< Of the queue; those in it came before those on the stack.
    };

    [[nodiscard]] std::int32_t resource_of(TaskId task) const {
        return graph_->resource.empty() ? no_resource : graph_->resource[task];
    }

    /// Takes the stack off the word, for the empty queue. False, and the resource given back, when the stack
    /// is empty too.
    bool refill(Resource& resource) {
        Word now = resource.word.load(std::memory_order_relaxed);
        while (first_of(now) == no_task)
            if (resource.word.compare_exchange_weak(now, 0, std::memory_order_release,
                                                    std::memory_order_relaxed))
                return false;
        // Sees the links that others wrote before they put their tasks on the stack.
        now = resource.word.exchange(held, std::memory_order_acquire);
        for (TaskId task = first_of(now); task != no_task;) {
            TaskId const before = next_[task];
            next_[task] = resource.first;
            resource.first = task;
            task = before;
        }
        return true;
    }

    TaskGraph const* graph_ = nullptr;
    std::unique_ptr<Resource[]> resources_;
    std::unique_ptr<TaskId[]> next_; ///< Of each task left with a resource, in the stack or queue.
    std::int32_t resources_capacity_ = 0;
    TaskId next_capacity_ = 0;
};

using Exclusion = BasicExclusion<StandardAtomics>;

} // namespace espalier
