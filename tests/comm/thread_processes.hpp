// A transport between the threads of one process, so that code for several processes runs under the
// sanitizers and without MPI. Each send is a rendezvous that completes when the receiver has taken the
// message, which is the hardest case for code that must not deadlock.
//
//     run_processes(3, [](Communicator const& comm) { ... });  // three times at once
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "comm/transport.hpp"

namespace espalier {

struct ThreadMessage {
    int from = -1;
    std::span<std::byte const> bytes;
    std::shared_ptr<std::atomic<bool>> taken;
};

// Set while a thread runs code of the transport. Its allocations never fail in a test of lack of memory.
inline thread_local int depth_in_transport = 0;
struct InTransport {
    InTransport() { ++depth_in_transport; }
    ~InTransport() { --depth_in_transport; }
};

// The state shared by all processes.
class ThreadProcesses {
  public:
    explicit ThreadProcesses(int size) : size_(size), pointers_(size), boxes_(size) {}

    // Calls look() with the pointers of all processes; returns after all processes have done so.
    template <class Look> void together(int rank, void const* mine, Look&& look) {
        pointers_[rank] = mine;
        meet();
        look(pointers_);
        meet();
    }
    void put(int to, Channel channel, ThreadMessage message) {
        std::lock_guard const lock(boxes_[to].mutex);
        boxes_[to].channels[static_cast<int>(channel)].push_back(std::move(message));
    }
    std::unique_ptr<ThreadMessage> take(int rank, Channel channel) {
        std::lock_guard const lock(boxes_[rank].mutex);
        auto& messages = boxes_[rank].channels[static_cast<int>(channel)];
        if (messages.empty()) return nullptr;
        auto message = std::make_unique<ThreadMessage>(std::move(messages.front()));
        messages.pop_front();
        return message;
    }
    [[nodiscard]] int size() const { return size_; }

  private:
    struct Box {
        std::mutex mutex;
        std::deque<ThreadMessage> channels[2];
    };

    void meet() {
        std::unique_lock lock(mutex_);
        auto const round = round_;
        if (++here_ == size_) {
            here_ = 0;
            ++round_;
            changed_.notify_all();
        } else {
            changed_.wait(lock, [&] { return round_ != round; });
        }
    }

    int size_;
    std::vector<void const*> pointers_; // by rank
    std::vector<Box> boxes_;            // by rank
    std::mutex mutex_;
    std::condition_variable changed_;
    int here_ = 0;
    std::int64_t round_ = 0;
};

inline void take_into(Arrival const& arrival, std::span<std::byte> into) {
    std::unique_ptr<ThreadMessage> const message(reinterpret_cast<ThreadMessage*>(arrival.handle));
    std::copy_n(message->bytes.begin(), std::min(into.size(), message->bytes.size()), into.begin());
    message->taken->store(true);
}

class ThreadTransfers final : public Transfers {
  public:
    ThreadTransfers(std::shared_ptr<ThreadProcesses> processes, int rank)
        : processes_(std::move(processes)), rank_(rank) {}

    std::size_t send(int to, Channel channel, std::span<std::byte const> bytes) override {
        InTransport const scope;
        auto const slot = free_slot();
        done_[slot] = std::make_shared<std::atomic<bool>>(false);
        processes_->put(to, channel, {rank_, bytes, done_[slot]});
        return slot;
    }
    std::size_t receive(Arrival const& arrival, std::span<std::byte> into) override {
        InTransport const scope;
        auto const slot = free_slot();
        take_into(arrival, into);
        done_[slot] = std::make_shared<std::atomic<bool>>(true);
        return slot;
    }
    void completed(std::vector<std::size_t>& slots) override {
        InTransport const scope;
        slots.clear();
        for (std::size_t slot = 0; slot < done_.size(); ++slot)
            if (done_[slot] && done_[slot]->load()) {
                done_[slot].reset();
                slots.push_back(slot);
            }
    }

  private:
    std::size_t free_slot() {
        auto const found = std::find(done_.begin(), done_.end(), nullptr);
        auto const slot = static_cast<std::size_t>(found - done_.begin());
        if (found == done_.end()) done_.emplace_back();
        return slot;
    }

    std::shared_ptr<ThreadProcesses> processes_;
    int rank_;
    std::vector<std::shared_ptr<std::atomic<bool>>> done_; // by slot; null when free
};

class ThreadTransport final : public Transport {
  public:
    ThreadTransport(std::shared_ptr<ThreadProcesses> processes, int rank, ThreadLevel level)
        : processes_(std::move(processes)), rank_(rank), level_(level) {}

    [[nodiscard]] ThreadLevel thread_level() const override { return level_; }
    [[nodiscard]] bool on_main_thread() const override { return std::this_thread::get_id() == main_; }

    std::shared_ptr<Transport> first(int count) override {
        InTransport const scope;
        std::shared_ptr<ThreadProcesses> part;
        if (rank_ == 0) part = std::make_shared<ThreadProcesses>(count);
        processes_->together(rank_, &part, [&](auto const& of_all) {
            if (rank_ > 0 && rank_ < count)
                part = *static_cast<std::shared_ptr<ThreadProcesses> const*>(of_all[0]);
        });
        return part ? std::make_shared<ThreadTransport>(part, rank_, level_) : nullptr;
    }
    void broadcast(std::span<std::byte> bytes, int root) override {
        InTransport const scope;
        processes_->together(rank_, bytes.data(), [&](auto const& from) {
            if (rank_ != root)
                std::copy_n(static_cast<std::byte const*>(from[root]), bytes.size(), bytes.begin());
        });
    }
    void reduce(std::span<double> values, Reduction reduction) override { reduce_any(values, reduction); }
    void reduce(std::span<std::int64_t> values, Reduction reduction) override {
        reduce_any(values, reduction);
    }
    void all_to_all(std::span<std::span<std::byte const> const> from,
                    std::span<std::span<std::byte> const> into) override {
        InTransport const scope;
        processes_->together(rank_, from.data(), [&](auto const& of_all) {
            for (std::size_t r = 0; r < into.size(); ++r) {
                auto const& source = static_cast<std::span<std::byte const> const*>(of_all[r])[rank_];
                std::copy(source.begin(), source.end(), into[r].begin());
            }
        });
    }

    std::unique_ptr<Transfers> transfers() override {
        return std::make_unique<ThreadTransfers>(processes_, rank_);
    }
    std::optional<Arrival> probe(Channel channel) override {
        InTransport const scope;
        auto message = processes_->take(rank_, channel);
        if (!message) return std::nullopt;
        Arrival const arrival{message->from, message->bytes.size(), 0};
        return Arrival{arrival.from, arrival.bytes, reinterpret_cast<std::uint64_t>(message.release())};
    }
    void receive(Arrival const& arrival, std::span<std::byte> into) override { take_into(arrival, into); }
    void discard(Arrival const& arrival) override { take_into(arrival, {}); }

  private:
    template <class T> void reduce_any(std::span<T> values, Reduction reduction) {
        InTransport const scope;
        std::vector<T> const mine(values.begin(), values.end());
        processes_->together(rank_, mine.data(), [&](auto const& from) {
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] = static_cast<T const*>(from[0])[i];
                for (int r = 1; r < processes_->size(); ++r) {
                    T const other = static_cast<T const*>(from[r])[i];
                    if (reduction == Reduction::sum) values[i] += other;
                    if (reduction == Reduction::max) values[i] = std::max(values[i], other);
                    if (reduction == Reduction::min) values[i] = std::min(values[i], other);
                }
            }
        });
    }

    std::shared_ptr<ThreadProcesses> processes_;
    int rank_;
    ThreadLevel level_;
    std::thread::id main_ = std::this_thread::get_id();
};

/// Runs `body` on `size` threads, each as one process.
inline void run_processes(int size, std::function<void(Communicator const&)> const& body,
                          ThreadLevel level = ThreadLevel::multiple) {
    auto const processes = std::make_shared<ThreadProcesses>(size);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
        threads.emplace_back([&, rank] {
            try {
                body(
                    make_communicator(rank, size, std::make_shared<ThreadTransport>(processes, rank, level)));
            } catch (std::exception const& e) {
                ADD_FAILURE() << "process " << rank << ": " << e.what();
            }
        });
    for (std::thread& thread : threads) thread.join();
}

} // namespace espalier
