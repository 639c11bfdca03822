// Order kept by one cursor per worker, readiness by one byte per task.
#include "policies/static_policy.hpp"

#include <string>

namespace espalier {

namespace {

[[noreturn]] void reject(TaskId task, std::string const& what) {
    throw Error(Status::internal, "static schedule: task " + std::to_string(task) + what);
}

} // namespace

StaticPolicy::StaticPolicy(std::vector<std::vector<TaskId>> const& lists, TaskId num_tasks)
    : num_workers_(static_cast<int>(lists.size())), position_(static_cast<std::size_t>(num_tasks)),
      owner_(static_cast<std::size_t>(num_tasks), any_worker), cursors_(lists.size()),
      ready_(std::make_unique<std::atomic<std::uint8_t>[]>(static_cast<std::size_t>(num_tasks))) {
    order_.reserve(num_tasks);
    for (WorkerId worker = 0; worker < num_workers_; ++worker) {
        Cursor& cursor = cursors_[worker];
        cursor.begin = cursor.next = static_cast<std::int64_t>(order_.size());
        for (TaskId const task : lists[worker]) {
            if (task < 0 || task >= num_tasks)
                reject(task, " in the list of worker " + std::to_string(worker) + " does not exist");
            if (owner_[task] != any_worker)
                reject(task, " is in the lists of workers " + std::to_string(owner_[task]) + " and " +
                                 std::to_string(worker));
            owner_[task] = worker;
            position_[task] = static_cast<std::int32_t>(order_.size());
            order_.push_back(task);
        }
        cursor.end = static_cast<std::int64_t>(order_.size());
    }
    for (TaskId task = 0; task < num_tasks; ++task)
        if (owner_[task] == any_worker) reject(task, " is in no worker's list");
}

WorkerId StaticPolicy::push(TaskId task, WorkerId) {
    ready_[position_[task]].store(1, std::memory_order_release);
    return owner_[task];
}

TaskId StaticPolicy::pop(WorkerId worker) {
    if (worker >= num_workers_) return no_task;
    Cursor& cursor = cursors_[worker];
    if (cursor.next == cursor.end || ready_[cursor.next].load(std::memory_order_acquire) == 0) return no_task;
    return order_[cursor.next++];
}

void StaticPolicy::reset() {
    for (Cursor& cursor : cursors_) cursor.next = cursor.begin;
    for (std::size_t i = 0; i < order_.size(); ++i) ready_[i].store(0, std::memory_order_relaxed);
}

} // namespace espalier
