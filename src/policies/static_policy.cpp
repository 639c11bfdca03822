#include "policies/static_policy.hpp"

#include <fmt/format.h>

namespace espalier {

namespace {

template <class... Args>
[[noreturn]] void reject(TaskId task, fmt::format_string<Args const&...> what, Args const&... args) {
    throw Error(Status::internal,
                fmt::format("static schedule: task {} ", task) + fmt::format(what, args...));
}

} // namespace

StaticPolicy::StaticPolicy(std::vector<std::vector<TaskId>> const& lists, TaskId num_tasks)
    : num_workers_(static_cast<int>(lists.size())), position_(num_tasks), owner_(num_tasks, any_worker),
      cursors_(lists.size()), ready_(std::make_unique<std::atomic<std::uint8_t>[]>(num_tasks)) {
    order_.reserve(num_tasks);
    for (WorkerId worker = 0; worker < num_workers_; ++worker) {
        Cursor& cursor = cursors_[worker];
        cursor.next = static_cast<std::int64_t>(order_.size());
        for (TaskId const task : lists[worker]) {
            if (task < 0 || task >= num_tasks)
                reject(task, "in the list of worker {} does not exist", worker);
            if (owner_[task] != any_worker)
                reject(task, "is in the lists of workers {} and {}", owner_[task], worker);
            owner_[task] = worker;
            position_[task] = static_cast<std::int32_t>(order_.size());
            order_.push_back(task);
        }
        cursor.end = static_cast<std::int64_t>(order_.size());
    }
    for (TaskId task = 0; task < num_tasks; ++task)
        if (owner_[task] == any_worker) reject(task, "is in no worker's list");
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

} // namespace espalier
