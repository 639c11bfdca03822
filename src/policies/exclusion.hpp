// Mutual exclusion of tasks: those with the same TaskGraph::resource never run at the same time. No worker
// waits for a lock. A worker that popped a task whose resource is held queues the task at the resource and
// pops another one. The holder releases the resource, takes the first task of its queue and pushes it again,
// so tasks come back in the order in which the policy handed them out.
//
// Each resource has one word, with a bit for "held" and the top of a stack of queued tasks, and a queue that
// only the holder accesses. When its queue is empty the holder moves the whole stack into it in reverse
// order, so each task is reversed once. Only the holder removes tasks, so none can leave and come back
// unnoticed. While tasks are queued at a free resource, one that needs it has been pushed and will release it
// in turn, so no task is lost.
#pragma once

#include <cstdint>
#include <memory>

#include "policies/standard_atomics.hpp"
#include "policies/task_graph.hpp"

namespace espalier {

template <class Atomics> class BasicExclusion {
  public:
    /// Starts a run of this graph, which must outlive the run. Errors as check_resources().
    void begin(TaskGraph const& graph) {
        check_resources(graph);
        graph_ = &graph;
        if (graph.resource.empty()) return;
        if (graph.num_resources > resources_capacity_) {
            resources_ = std::make_unique<Resource[]>(graph.num_resources);
            resources_capacity_ = graph.num_resources;
        }
        if (graph.num_tasks() > next_capacity_) {
            next_ = std::make_unique<TaskId[]>(graph.num_tasks());
            next_capacity_ = graph.num_tasks();
        }
        for (std::int32_t r = 0; r < graph.num_resources; ++r) {
            resources_[r].word.store(0, std::memory_order_relaxed);
            resources_[r].first = no_task;
        }
    }

    /// Whether the task may run now; it then holds its resource. Otherwise the task is queued at the resource
    /// until a release() returns it.
    bool acquire(TaskId task) {
        std::int32_t const resource = graph_->resource_of(task);
        if (resource == no_resource) return true;
        auto& word = resources_[resource].word;
        Word now = word.load(std::memory_order_relaxed);
        for (;;) {
            if (!(now & held)) {
                // Acquires what the last holder wrote.
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

    /// The task has run. Returns the task to push next: the first one that was queued at its resource, or
    /// no_task. O(1) amortized.
    TaskId release(TaskId task) {
        std::int32_t const number = graph_->resource_of(task);
        if (number == no_resource) return no_task;
        Resource& resource = resources_[number];
        if (resource.first == no_task && !refill(resource)) return no_task;
        TaskId const left = resource.first;
        resource.first = next_[left];
        // Publishes the queue, and what the task wrote, to the next holder.
        resource.word.fetch_and(~held, std::memory_order_release);
        return left;
    }

  private:
    // 2 (task + 1) + held; 2 x 0 + held for an empty stack.
    using Word = std::uint64_t;
    static constexpr Word held = 1;
    static Word with(TaskId first) { return static_cast<Word>(first + 1) << 1; }
    static TaskId first_of(Word word) { return static_cast<TaskId>(word >> 1) - 1; }

    struct Resource {
        typename Atomics::Word word{0}; ///< The stack; its top came last.
        TaskId first = no_task;         ///< Front of the queue, whose tasks came before those on the stack.
    };

    /// Moves the stack into the empty queue. If that is empty, too, releases the resource: false.
    bool refill(Resource& resource) {
        Word now = resource.word.load(std::memory_order_relaxed);
        while (first_of(now) == no_task)
            if (resource.word.compare_exchange_weak(now, 0, std::memory_order_release,
                                                    std::memory_order_relaxed))
                return false;
        // Acquires the links that others wrote before they put their tasks on the stack.
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
    std::unique_ptr<TaskId[]> next_; ///< For each queued task the next one in its stack or queue.
    std::int32_t resources_capacity_ = 0;
    TaskId next_capacity_ = 0;
};

using Exclusion = BasicExclusion<StandardAtomics>;

} // namespace espalier
