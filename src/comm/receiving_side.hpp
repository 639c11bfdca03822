// The receiving half of an exchange: receives blocks within the budget, passes them to the user, and reads
// the notices of other ranks. Used by one thread at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm/block.hpp"
#include "comm/run_failure.hpp"
#include "comm/transport.hpp"
#include "core/error.hpp"
#include "core/timer.hpp"
#include "espalier/types.hpp"
#include "trace/record.hpp"

namespace espalier {

class ReceivingSide {
  public:
    struct Handlers {
        std::function<void(int from, std::int64_t id, Block&& block)> on_block;
        std::function<bool()> idle;                     ///< May be empty.
        std::function<void(Error const&)> on_notice;    ///< Another rank has failed; called once for each.
        std::function<void(Error const&)> on_own_error; ///< A block could not be received or passed on.
    };

    /// After a failure, blocks are received and dropped. `pool` may be null.
    ReceivingSide(Transport* transport, int size, std::size_t budget, std::shared_ptr<BlockPool> pool,
                  RunFailure const& failure, Handlers handlers)
        : transport_(transport), size_(size),
          budget_(static_cast<std::int64_t>(std::min(budget, std::size_t{1} << 62))), pool_(std::move(pool)),
          failure_(failure), handlers_(std::move(handlers)),
          transfers_(size > 1 ? transport->transfers() : nullptr), control_message_(lines_of_notice) {}
    /// Never frees the memory of blocks still under way.
    ~ReceivingSide() {
        // The library may still write there. This happens only after a failure of the library.
        if (num_receives_ > 0) static_cast<void>(new std::vector<Receive>(std::move(receives_)));
    }

    /// Reports that `bytes` of blocks passed to the user were freed. Returns true if a message waits for this
    /// memory. Any thread may call it.
    bool give_back(std::size_t bytes) {
        held_.fetch_sub(static_cast<std::int64_t>(bytes));
        return blocked_.load();
    }

    // The next functions are called by one thread at a time.
    /// Sets the track of a trace; null if nothing is recorded.
    void record_on(trace::Track* track) { track_ = track; }
    /// Receives the messages that have arrived. Returns true if there was one.
    bool step() {
        Timer const timer;
        seconds_of_handlers_ = 0;
        if (track_) track_->between_tasks();
        trace::Ticks const begin = track_ ? trace::ticks() : 0;
        bool const notified = read_control();
        bool const taken = receive_blocks();
        bool const ended = end_completed();
        seconds_ += timer.seconds() - seconds_of_handlers_;
        bool const any = notified || taken || ended;
        if (track_ && any) track_->state(trace::Kind::receive, begin, trace::ticks());
        return any;
    }

    /// Whether a receive has begun and is not complete.
    [[nodiscard]] bool is_under_way() const { return num_receives_ > 0; }
    /// Removes the bound on received bytes.
    void lift_budget() { unlimited_ = true; }
    /// Whether this rank has received all messages of all others, up to their last one.
    [[nodiscard]] bool complete() const {
        return num_ended_ == size_ - 1 && messages_ == announced_ && num_receives_ == 0 && !waiting_;
    }

    // Valid while no thread moves messages.
    [[nodiscard]] std::int64_t messages() const { return messages_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] std::int64_t peak_held() const { return peak_held_; }
    [[nodiscard]] double seconds() const { return seconds_; }

  private:
    static constexpr int max_in_step =
        16; // messages begun in one step, so that completed ones are passed on soon

    struct Receive {
        int from = -1;
        std::size_t message_bytes = 0;
        Block block;
    };

    bool read_control() {
        bool any = false;
        while (auto const arrival = transport_->probe(Channel::control)) {
            any = true;
            std::size_t const lines = arrival->bytes / sizeof(MessageHeader);
            if (lines < 1 || lines > lines_of_notice) {
                transport_->discard(*arrival);
                handlers_.on_own_error(Error(
                    Status::internal, fmt::format("process {} has sent an invalid notice", arrival->from)));
                continue;
            }
            auto const message = std::span(control_message_).first(lines);
            transport_->receive(*arrival, std::as_writable_bytes(message)); // allocates nothing
            handle_control(arrival->from, message);
        }
        return any;
    }

    void handle_control(int from, std::span<MessageHeader const> message) {
        MessageHeader const& header = message.front();
        if (header.kind == MessageHeader::Kind::last) {
            ++num_ended_;
            announced_ += header.id;
            return;
        }
        std::size_t const length =
            std::min<std::size_t>(header.bytes, (message.size() - 1) * sizeof(MessageHeader));
        std::string const text(reinterpret_cast<char const*>(message.data() + 1), length);
        handlers_.on_notice(
            Error(static_cast<Status>(header.status), fmt::format("process {}: {}", from, text)));
    }

    bool receive_blocks() {
        for (int taken = 0; taken < max_in_step; ++taken) {
            if (!waiting_) waiting_ = transport_->probe(Channel::blocks);
            bool const blocked = waiting_ && !fits(waiting_->bytes);
            blocked_.store(blocked);
            if (!waiting_ || blocked) return taken > 0;
            start(*waiting_);
            waiting_.reset();
        }
        return true;
    }

    bool fits(std::size_t bytes) const {
        if (unlimited_ || failure_.failed()) return true;
        auto const held = held_.load();
        return held == 0 || held + static_cast<std::int64_t>(bytes) <= budget_ ||
               (handlers_.idle && handlers_.idle());
    }

    void start(Arrival const& arrival) {
        Receive receive{arrival.from, arrival.bytes, {}};
        try {
            receive.block = Block::for_message(arrival.bytes, pool_);
        } catch (Error const& error) {
            transport_->discard(arrival);
            ++messages_;
            return handlers_.on_own_error(error);
        }
        // Allocate the slot first, so that nothing fails once the receive is under way.
        if (num_receives_ == receives_.size()) receives_.emplace_back();
        auto const slot = transfers_->receive(arrival, {receive.block.memory_, arrival.bytes});
        receives_[slot] = std::move(receive);
        ++num_receives_;
        auto const held = held_.fetch_add(static_cast<std::int64_t>(arrival.bytes)) +
                          static_cast<std::int64_t>(arrival.bytes);
        peak_held_ = std::max(peak_held_, held);
    }

    bool end_completed() {
        if (num_receives_ == 0) return false;
        transfers_->completed(completed_);
        for (std::size_t const slot : completed_) {
            --num_receives_;
            pass_on(std::exchange(receives_[slot], {}));
        }
        return !completed_.empty();
    }

    void pass_on(Receive receive) {
        Block& block = receive.block;
        ++messages_;
        auto const id = block.header().id;
        if (block.header().kind != MessageHeader::Kind::block || block.header().bytes > block.size()) {
            give_back(receive.message_bytes);
            return handlers_.on_own_error(
                Error(Status::internal,
                      fmt::format("process {} has sent a message with an invalid header", receive.from)));
        }
        // From now on only the payload counts, because received_done() is called with its size.
        block.size_ = block.header().bytes;
        bytes_ += static_cast<std::int64_t>(block.size());
        if (track_)
            track_->received(receive.from, block.header().tag, static_cast<std::int64_t>(block.size()));
        give_back(receive.message_bytes - block.size());
        if (failure_.failed()) {
            give_back(block.size());
            return;
        }
        Timer const timer;
        try {
            handlers_.on_block(receive.from, id, std::move(block));
        } catch (...) {
            handlers_.on_own_error(current_error());
        }
        seconds_of_handlers_ += timer.seconds();
    }

    Transport* transport_;
    int size_;
    std::int64_t budget_;
    std::shared_ptr<BlockPool> pool_;
    RunFailure const& failure_;
    Handlers handlers_;
    trace::Track* track_ = nullptr;
    std::unique_ptr<Transfers> transfers_;
    std::vector<MessageHeader> control_message_; // the last one

    std::atomic<std::int64_t> held_{0}; // bytes of blocks under way, or passed on and not freed
    std::atomic<bool> blocked_{false};  // waiting_ exceeds the budget
    std::optional<Arrival> waiting_;    // the next message, until it fits
    std::vector<Receive> receives_;     // under way, by slot
    std::size_t num_receives_ = 0;
    std::vector<std::size_t> completed_;
    bool unlimited_ = false;
    int num_ended_ = 0;          // ranks whose last message was received
    std::int64_t announced_ = 0; // blocks that those ranks have sent
    std::int64_t messages_ = 0;
    std::int64_t bytes_ = 0;
    std::int64_t peak_held_ = 0;
    double seconds_ = 0;
    double seconds_of_handlers_ = 0;
};

} // namespace espalier
