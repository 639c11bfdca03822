// The network in a simulation of several processes, and the threads that send and receive. In: the messages,
// the machine, the number of communication threads. Out: when each message arrives.
//
// Each process has one outgoing and one incoming link, and messages use a link one after the other, first
// come, first served. A message occupies both links for its bytes over the bandwidth and takes the latency in
// between. At each end it needs a thread for the overhead o and for copying its bytes (Network::overhead and
// copy_bandwidth): the LogGP model (Alexandrov, Ionescu, Schauser, Scheiman 1995) with the copies that it
// leaves out. The receiver copies into memory that it touches for the first time. The measured latency
// contains both overheads.
//
//   1 thread    sends and receives one message at a time. It copies while the bytes are on the link, so a
//               message that waits for nothing takes latency + bytes / bandwidth.
//   2 threads   one sends and one receives.
//   0 threads   a worker that has no task sends the whole message before it leaves, and receives it after all
//   of
//               it has arrived; such a message takes two copies more.
//
// A communication thread without a core of its own uses the core of a worker, the last one of its process
// (the receiving one of two: the last but one). It has precedence: whatever task runs there meanwhile ends
// later by the time that the thread is busy. The times for which idle threads sleep are not modeled.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "espalier/schedule_settings.hpp"
#include "mapping/machine_model.hpp"
#include "simulation/schedule.hpp"

namespace espalier {

/// ScheduleSettings::comm_own_core decides, or for `automatic` whether there are enough cores without
/// workers.
inline CommThreads comm_threads_of(ScheduleSettings const& settings, MachineModel const& machine) {
    if (machine.processes == 1) return {.count = 0};
    bool const has_room = machine.spare_cores >= settings.comm_threads;
    return {settings.comm_threads,
            settings.comm_own_core == Toggle::automatic ? has_room : settings.comm_own_core == Toggle::on};
}

class MessageNetwork : public Transit {
  public:
    /// `tasks` are FactorTasks or SolveTasks.
    template <class Tasks>
    MessageNetwork(Tasks const& tasks, MachineModel const& machine, CommThreads threads = {})
        : network_(machine.network), workers_(machine.threads), threads_(threads),
          out_free_(machine.processes, 0.0), in_free_(machine.processes, 0.0),
          of_process_(machine.processes) {
        messages_.reserve(tasks.tasks.size());
        for (auto const& task : tasks.tasks)
            messages_.push_back(task.kind == decltype(task.kind)::message
                                    ? Message{task.process, task.peer, task.bytes}
                                    : Message{});
    }

    [[nodiscard]] bool carries(TaskId task) const override { return messages_[task].process >= 0; }

    double reach(TaskId task, double now) override {
        Message const& message = messages_[task];
        double& free = out_free_[message.process];
        if (threads_.count == 0) {
            double const leaves = std::max(now, free);
            free = leaves + message.bytes / network_.bandwidth;
            return leaves + network_.wire_latency();
        }
        auto const [start, copied] = use_thread(task, End::sender, now);
        double const leaves = std::max(start + network_.overhead_seconds(), free);
        free = std::max(leaves + message.bytes / network_.bandwidth, copied);
        return leaves + network_.wire_latency();
    }

    double arrive(TaskId task, double now) override {
        Message const& message = messages_[task];
        double& free = in_free_[message.peer];
        free = std::max(now, free) + message.bytes / network_.bandwidth;
        if (threads_.count == 0) return free;
        auto const [start, copied] = use_thread(task, End::receiver, now);
        return std::max(free + network_.overhead_seconds(), copied);
    }

    [[nodiscard]] std::optional<Handling> handling(TaskId task, End end) const override {
        if (threads_.count > 0) return {};
        Message const& message = messages_[task];
        int const first = (end == End::sender ? message.process : message.peer) * workers_;
        return Handling{{first, first + workers_}, seconds_at(end, message.bytes)};
    }

    [[nodiscard]] double taken_from(WorkerId worker, double now) const override {
        if (threads_.have_own_cores) return 0;
        double seconds = 0;
        for (int k = 0; k < threads_.count; ++k)
            if (worker % workers_ == std::max(0, workers_ - 1 - k))
                seconds += of_process_[worker / workers_][k].busy_seconds(now);
        return seconds;
    }

    [[nodiscard]] double free_from(WorkerId worker, double now) const override {
        if (threads_.have_own_cores) return now;
        double until = now;
        for (int k = 0; k < threads_.count; ++k)
            if (worker % workers_ == std::max(0, workers_ - 1 - k))
                until = std::max(until, of_process_[worker / workers_][k].free);
        return until;
    }

    /// By time of request; those of communication threads.
    [[nodiscard]] std::vector<TimedTransfer> const& transfers() const { return transfers_; }

  private:
    struct Message {
        std::int32_t process = -1; ///< The sender; negative for a task that is not a message.
        std::int32_t peer = -1;    ///< The receiver.
        double bytes = 0;
    };
    struct Thread {
        double free = 0;     ///< Time at which the thread has finished all its messages.
        double reserved = 0; ///< Seconds of that.
        /// Seconds before `now`. After `now` the thread works without a gap until it is free.
        [[nodiscard]] double busy_seconds(double now) const { return reserved - std::max(0.0, free - now); }
    };
    struct Use {
        double start = 0, finish = 0;
    };

    [[nodiscard]] double seconds_at(End end, double bytes) const {
        return end == End::receiver ? network_.receiving_seconds(bytes) : network_.handling_seconds(bytes);
    }

    Use use_thread(TaskId task, End end, double now) {
        Message const& message = messages_[task];
        auto& threads = of_process_[end == End::sender ? message.process : message.peer];
        Thread& thread = threads[end == End::receiver && threads_.count == 2 ? 1 : 0];
        double const seconds = seconds_at(end, message.bytes);
        double const start = std::max(now, thread.free);
        thread.free = start + seconds;
        thread.reserved += seconds;
        transfers_.push_back({task, end, any_worker, start, thread.free});
        return {start, thread.free};
    }

    std::vector<Message> messages_; // by task
    Network network_;
    int workers_; // workers of each process
    CommThreads threads_;
    std::vector<double> out_free_, in_free_; // by process: when the link becomes free
    std::vector<std::array<Thread, 2>> of_process_;
    std::vector<TimedTransfer> transfers_;
};

/// The lists of the workers, and one more for the messages, which no worker runs: for StaticPolicy.
inline std::vector<std::vector<TaskId>> with_messages(std::vector<std::vector<TaskId>> lists,
                                                      Transit const& network, TaskId tasks) {
    auto& messages = lists.emplace_back();
    for (TaskId t = 0; t < tasks; ++t)
        if (network.carries(t)) messages.push_back(t);
    return lists;
}

} // namespace espalier
