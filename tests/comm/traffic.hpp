// Runs of an exchange between the processes of a test, which are threads (tests/comm) or real ones
// (tests/mpi).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "comm/collective.hpp"
#include "comm/exchange.hpp"

namespace espalier {

struct Traffic {
    int blocks = 30; ///< Sent from every rank to every other.
    std::size_t largest = 100'000;
    unsigned seed = 1;
    int senders = 2;               ///< Sending threads of each rank.
    int slow_rank = -1;            ///< This rank takes a millisecond for each block.
    bool may_finish_early = false; ///< The receivers leave blocks under way to finish().
};

// Sizes of small and large blocks; both ends know them.
inline std::size_t size_of_block(Traffic const& traffic, int from, int to, std::int64_t id) {
    std::minstd_rand random(static_cast<unsigned>(traffic.seed + 31U * from + 1009U * to + 50021U * id));
    random.discard(3);
    auto const range = random() % 3 == 0 ? traffic.largest : std::min<std::size_t>(traffic.largest, 600);
    return random() % (range + 1);
}

inline std::byte content(int from, std::int64_t id, std::size_t at) {
    return static_cast<std::byte>(from * 7 + id * 13 + static_cast<std::int64_t>(at) * 3 + 1);
}

inline Block block_of(Traffic const& traffic, int from, int to, std::int64_t id) {
    Block block = Block::allocate(size_of_block(traffic, from, to, id));
    for (std::size_t i = 0; i < block.size(); ++i) block.data()[i] = content(from, id, i);
    return block;
}

inline bool is_right(Traffic const& traffic, int from, int to, std::int64_t id, Block const& block) {
    if (block.size() != size_of_block(traffic, from, to, id)) return false;
    if (reinterpret_cast<std::uintptr_t>(block.data()) % Block::alignment != 0) return false;
    for (std::size_t i = 0; i < block.size(); ++i)
        if (block.data()[i] != content(from, id, i)) return false;
    return true;
}

// Received blocks that the test has not consumed.
class Inbox {
  public:
    struct Entry {
        int from = -1;
        std::int64_t id = 0;
        Block block;
    };
    void put(int from, std::int64_t id, Block&& block) {
        std::lock_guard const lock(mutex_);
        entries_.push_back({from, id, std::move(block)});
    }
    std::optional<Entry> take() {
        std::lock_guard const lock(mutex_);
        if (entries_.empty()) return std::nullopt;
        Entry entry = std::move(entries_.front());
        entries_.pop_front();
        return entry;
    }
    std::size_t size() {
        std::lock_guard const lock(mutex_);
        return entries_.size();
    }

  private:
    std::mutex mutex_;
    std::deque<Entry> entries_;
};

inline auto into(Inbox& inbox) {
    return [&inbox](int from, std::int64_t id, Block&& block) { inbox.put(from, id, std::move(block)); };
}

/// Lets messages move for a short time.
inline void move_along(Exchange& exchange) {
    if (!exchange.poll()) std::this_thread::sleep_for(std::chrono::microseconds(20));
}

// A sending thread of a rank: sends every senders-th block.
inline void send_share(Exchange& exchange, Communicator const& comm, Traffic const& traffic, int share) {
    for (std::int64_t id = share; id < traffic.blocks; id += traffic.senders)
        for (int step = 1; step < comm.size(); ++step) {
            int const to = (comm.rank() + step) % comm.size();
            exchange.send(to, id, block_of(traffic, comm.rank(), to, id));
        }
}

/// Each rank sends to each other. All blocks arrive with the right contents and within the budget.
inline void all_to_all(Communicator const& comm, ExchangeOptions const& options, Traffic const& traffic) {
    Inbox inbox;
    std::atomic<int> sent{0};
    ExchangeHandlers handlers;
    handlers.on_block = into(inbox);
    handlers.on_abort = [](Error const& error) { ADD_FAILURE() << error.what(); };
    handlers.on_sent = [&](int, std::int64_t, std::size_t, auto) { ++sent; };
    Exchange exchange(comm, options, std::move(handlers));
    exchange.start();
    std::vector<std::thread> senders;
    for (int share = 0; share < traffic.senders; ++share)
        senders.emplace_back([&, share] { send_share(exchange, comm, traffic, share); });

    int const expected = traffic.blocks * (comm.size() - 1);
    int received = 0;
    auto const consume = [&] {
        auto entry = inbox.take();
        if (!entry) return false;
        EXPECT_TRUE(is_right(traffic, entry->from, comm.rank(), entry->id, entry->block));
        if (comm.rank() == traffic.slow_rank) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        auto const bytes = std::exchange(entry->block, Block()).size();
        entry.reset();
        exchange.received_done(bytes);
        ++received;
        return true;
    };
    while (!traffic.may_finish_early && received < expected)
        if (!consume()) move_along(exchange);
    for (std::thread& sender : senders) sender.join();
    auto const outcome = exchange.finish();
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    while (consume()) {
    }
    EXPECT_EQ(received, expected);
    EXPECT_EQ(sent, expected);
    auto const statistics = exchange.statistics();
    EXPECT_EQ(statistics.messages_sent, expected);
    EXPECT_EQ(statistics.messages_received, expected);
    EXPECT_EQ(sum(comm, statistics.bytes_sent), sum(comm, statistics.bytes_received));
    if (traffic.may_finish_early) return;
    EXPECT_LE(statistics.peak_received,
              std::max<std::int64_t>(options.receive_budget, Block::message_bytes(traffic.largest)));
}

/// A run in which rank `first` fails with abort() after a few blocks, and so does `second` unless it is -1.
/// The others continue until they are notified, and then report an error of their own, which is a
/// consequence.
inline void failing(Communicator const& comm, ExchangeOptions const& options, Traffic const& traffic,
                    int first, int second) {
    Inbox inbox;
    std::atomic<int> told{0};
    ExchangeHandlers handlers;
    handlers.on_block = into(inbox);
    handlers.on_abort = [&](Error const&) { ++told; };
    Exchange exchange(comm, options, std::move(handlers));
    exchange.start();
    bool const fails = comm.rank() == first || comm.rank() == second;
    send_share(exchange, comm, traffic, 0);
    for (int consumed = 0; !exchange.failed();) {
        move_along(exchange);
        if (auto entry = inbox.take()) {
            exchange.received_done(std::exchange(entry->block, Block()).size());
            ++consumed;
        }
        if (fails && consumed == 3)
            exchange.abort(Error(Status::singular, "pivot " + std::to_string(comm.rank())));
    }
    auto const outcome =
        exchange.finish(fails ? std::nullopt : std::optional(Error(Status::cancelled, "stopped")));
    EXPECT_EQ(outcome.status, Status::singular) << outcome.message;
    EXPECT_TRUE(outcome.rank == first || outcome.rank == second) << outcome.rank;
    EXPECT_EQ(outcome.message,
              "process " + std::to_string(outcome.rank) + ": pivot " + std::to_string(outcome.rank));
    EXPECT_EQ(min(comm, std::int64_t{outcome.rank}), max(comm, std::int64_t{outcome.rank}));
    EXPECT_EQ(told, fails ? told.load() : 1);
    EXPECT_LE(told, 1);
}

/// Options with `threads` communication threads and a budget in bytes.
inline ExchangeOptions exchange_options(int threads, std::size_t budget = std::size_t{64} << 20) {
    return {.threads = threads, .receive_budget = budget};
}

} // namespace espalier
