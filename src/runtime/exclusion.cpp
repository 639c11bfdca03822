#include "runtime/exclusion.hpp"

#include <string>

#include "core/error.hpp"

namespace espalier {

void Exclusion::begin(TaskGraph const& graph) {
    graph_ = &graph;
    if (graph.resource.empty()) return;
    if (graph.resource.size() != graph.num_predecessors.size())
        throw Error(Status::internal, "task graph: resource and num_predecessors do not fit together");
    for (std::size_t t = 0; t < graph.resource.size(); ++t)
        if (graph.resource[t] < no_resource || graph.resource[t] >= graph.num_resources)
            throw Error(Status::internal, "task graph: task " + std::to_string(t) + " has resource " +
                                              std::to_string(graph.resource[t]) + " of " +
                                              std::to_string(graph.num_resources));
    if (graph.num_resources > words_capacity_) {
        words_ = std::make_unique<std::atomic<Word>[]>(static_cast<std::size_t>(graph.num_resources));
        words_capacity_ = graph.num_resources;
    }
    if (graph.num_tasks() > next_capacity_) {
        next_ = std::make_unique<TaskId[]>(static_cast<std::size_t>(graph.num_tasks()));
        next_capacity_ = graph.num_tasks();
    }
    for (std::int32_t r = 0; r < graph.num_resources; ++r) words_[r].store(0, std::memory_order_relaxed);
}

bool Exclusion::acquire(TaskId task) {
    std::int32_t const resource = resource_of(task);
    if (resource == no_resource) return true;
    std::atomic<Word>& word = words_[resource];
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

TaskId Exclusion::release(TaskId task) {
    std::int32_t const resource = resource_of(task);
    if (resource == no_resource) return no_task;
    std::atomic<Word>& word = words_[resource];
    Word now = word.load(std::memory_order_acquire);
    for (;;) {
        TaskId const left = first_of(now);
        Word const then = left == no_task ? Word{0} : with(next_[left]);
        if (word.compare_exchange_weak(now, then, std::memory_order_acq_rel, std::memory_order_acquire))
            return left;
    }
}

} // namespace espalier
