// Tasks that exclude each other: those with the same TaskGraph::resource never run at the same time. Nobody
// waits for a lock: a worker that was handed a task whose resource is held leaves the task with the resource
// and looks for another; who gives the resource back takes one of those that were left there and pushes it
// anew.
//
// Each resource is one word: a bit that says whether it is held, and the first of a list of tasks left with
// it. Only the holder takes from the list, so that a task cannot leave it and come back unnoticed. While
// tasks are left with a free resource, one that wants it has been pushed and will give it back in turn: none
// is forgotten.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/task_graph.hpp"

namespace espalier {

class Exclusion {
  public:
    /// For a run of this graph, which must outlive it. Error{internal} for a resource out of range.
    void begin(TaskGraph const& graph);

    /// Whether the task may run now, holding its resource. Else it has been left with the resource, and a
    /// release() returns it.
    bool acquire(TaskId task);
    /// The task has run. Returns one that was left with its resource, to be pushed, or no_task.
    TaskId release(TaskId task);

  private:
    // 2 (task + 1) + held, or held alone.
    using Word = std::uint64_t;
    static constexpr Word held = 1;
    static Word with(TaskId first) { return static_cast<Word>(first + 1) << 1; }
    static TaskId first_of(Word word) { return static_cast<TaskId>(word >> 1) - 1; }

    [[nodiscard]] std::int32_t resource_of(TaskId task) const {
        return graph_->resource.empty() ? no_resource : graph_->resource[static_cast<std::size_t>(task)];
    }

    TaskGraph const* graph_ = nullptr;
    std::unique_ptr<std::atomic<Word>[]> words_;
    std::unique_ptr<TaskId[]> next_; ///< Of each task left with a resource: the one left before.
    std::int32_t words_capacity_ = 0;
    TaskId next_capacity_ = 0;
};

} // namespace espalier
