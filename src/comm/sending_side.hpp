// The sending half of an exchange: a queue that any worker fills, and the messages under way, which one
// thread at a time moves.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "comm/block.hpp"
#include "comm/transport.hpp"
#include "core/timer.hpp"
#include "espalier/types.hpp"
#include "trace/record.hpp"

namespace espalier {

/// Attributes of a block to send.
struct MessageMark {
    std::int64_t tag = -1; ///< Its number in a trace.
    double priority = 0;   ///< Blocks that wait for the same process are sent by descending priority.
};

class SendingSide {
  public:
    using Clock = std::chrono::steady_clock;
    using OnSent = std::function<void(int to, std::int64_t id, std::size_t bytes, Clock::time_point started)>;

    /// For `size` processes. Allocates the messages that must be sent even without free memory. The send of a
    /// block begins while at most `window` bytes, or only one block, are under way to its process.
    SendingSide(Transport* transport, int rank, int size, std::size_t window, OnSent on_sent)
        : rank_(rank), size_(size),
          window_(static_cast<std::int64_t>(std::min(window, std::size_t{1} << 62))),
          on_sent_(std::move(on_sent)), transport_(transport),
          transfers_(size > 1 ? transport->transfers() : nullptr), destinations_(size),
          notice_(lines_of_notice), last_(size), blocks_to_(size) {
        with_waiting_.reserve(destinations_.size());
        control_.reserve(2 * destinations_.size()); // a notice and a last message for each other rank
    }

    /// Never frees the memory of messages still under way.
    ~SendingSide() {
        if (num_under_way_ == 0) return;
        // The library may still read it. This happens only after a failure of the library.
        static_cast<void>(new std::vector<Message>(std::move(under_way_)));
        static_cast<void>(new std::vector<MessageHeader>(std::move(last_)));
        static_cast<void>(new std::vector<MessageHeader>(std::move(notice_)));
    }

    /// Queues a block for another rank. Any thread may call it.
    void queue(int to, std::int64_t id, Block&& block, MessageMark const& mark) {
        block.header().id = id;
        block.header().tag = mark.tag;
        Message message{to, Channel::blocks, block.message(), std::move(block), {}};
        auto const bytes = static_cast<std::int64_t>(message.block.size());
        std::lock_guard const lock(mutex_);
        auto& waiting = destinations_[to].waiting;
        waiting.emplace(mark.priority, std::move(message));
        if (waiting.size() == 1) with_waiting_.push_back(to);
        waiting_ += bytes;
        peak_waiting_ = std::max(peak_waiting_, waiting_);
    }

    /// Frees the blocks whose send has not begun.
    void drop_queued() {
        std::lock_guard const lock(mutex_);
        for (int const to : with_waiting_) {
            for (auto const& [priority, message] : destinations_[to].waiting)
                waiting_ -= static_cast<std::int64_t>(message.block.size());
            destinations_[to].waiting.clear();
        }
        with_waiting_.clear();
    }

    /// Queues a notice of this failure for each other rank. Called once. Allocates no memory.
    void queue_notices(Error const& error) {
        std::lock_guard const lock(mutex_);
        std::size_t const length =
            std::min(std::strlen(error.what()), (lines_of_notice - 1) * sizeof(MessageHeader));
        notice_[0].kind = MessageHeader::Kind::notice;
        notice_[0].status = static_cast<std::int32_t>(error.status());
        notice_[0].bytes = length;
        std::memcpy(static_cast<void*>(notice_.data() + 1), error.what(), length);
        auto const bytes = std::as_bytes(std::span(notice_)).first(Block::message_bytes(length));
        for (int to = 0; to < size_; ++to)
            if (to != rank_) control_.push_back({to, Channel::control, bytes, {}, {}});
    }

    // The next functions are called by one thread at a time.
    /// Sets the track of a trace; null if nothing is recorded.
    void record_on(trace::Track* track) { track_ = track; }
    /// Starts queued messages and ends completed ones. Returns true if there was one.
    bool step() {
        Timer const timer;
        if (track_) track_->between_tasks();
        trace::Ticks const begin = track_ ? trace::ticks() : 0;
        bool const started = start_queued();
        bool const ended = end_completed();
        seconds_ += timer.seconds();
        if (track_ && (started || ended)) track_->state(trace::Kind::send, begin, trace::ticks());
        return started || ended;
    }

    /// Whether a send has begun and is not complete.
    [[nodiscard]] bool is_under_way() const { return num_under_way_ > 0; }

    /// Queues the last message for each other rank, which states the number of blocks sent there. No block
    /// waits then, and nothing is queued later. Allocates no memory.
    void queue_last() {
        std::lock_guard const lock(mutex_);
        for (int to = 0; to < size_; ++to) {
            if (to == rank_) continue;
            last_[to].kind = MessageHeader::Kind::last;
            last_[to].id = blocks_to_[to];
            control_.push_back(
                {to,
                 Channel::control,
                 std::as_bytes(std::span(last_)).subspan(to * sizeof(MessageHeader), sizeof(MessageHeader)),
                 {},
                 {}});
        }
    }

    /// Whether anything is queued or under way.
    [[nodiscard]] bool busy() const {
        std::lock_guard const lock(mutex_);
        return num_under_way_ > 0 || has_control() || !with_waiting_.empty();
    }

    /// Whether there is a block whose send has not begun.
    [[nodiscard]] bool has_waiting() const {
        std::lock_guard const lock(mutex_);
        return !with_waiting_.empty();
    }

    // Valid while no thread moves messages.
    [[nodiscard]] std::int64_t messages() const { return messages_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] std::int64_t peak_waiting() const { return peak_waiting_; }
    [[nodiscard]] double seconds() const { return seconds_; }

  private:
    struct Message {
        int to = -1;
        Channel channel = Channel::blocks;
        std::span<std::byte const> bytes; // bytes of the block, or of notice_ or last_
        Block block;
        Clock::time_point started;
    };

    using Waiting = std::multimap<double, Message, std::greater<>>; // by priority
    /// The blocks for one process.
    struct Destination {
        Waiting waiting;
        int num_under_way = 0;
        std::int64_t under_way = 0; // bytes
    };

    // Two messages under way keep the network busy until the completion of one is noticed.
    [[nodiscard]] bool has_room(Destination const& to) const {
        return to.num_under_way < 2 || to.under_way <= window_;
    }

    // Requires mutex_.
    [[nodiscard]] bool has_control() const { return num_control_sent_ < control_.size(); }

    // Takes the next block to send; empty if there is none. Requires mutex_.
    Waiting::node_type take() {
        for (std::size_t i = 0; i < with_waiting_.size(); ++i) {
            Destination& to = destinations_[with_waiting_[i]];
            if (!has_room(to)) continue;
            auto block = to.waiting.extract(to.waiting.begin());
            if (to.waiting.empty()) {
                with_waiting_[i] = with_waiting_.back();
                with_waiting_.pop_back();
            }
            return block;
        }
        return {};
    }

    // Allocates no memory. Requires mutex_.
    void put_back(Waiting::node_type block) {
        int const to = block.mapped().to;
        if (destinations_[to].waiting.empty()) with_waiting_.push_back(to);
        destinations_[to].waiting.insert(std::move(block));
    }

    bool start_queued() {
        bool any = false;
        for (;; any = true) {
            Message* control = nullptr; // stays in the queue until its send has begun
            Waiting::node_type block;
            {
                std::lock_guard const lock(mutex_);
                if (has_control())
                    control = &control_[num_control_sent_];
                else
                    block = take();
            }
            if (!control && block.empty()) return any;
            Message& message = control ? *control : block.mapped();
            std::size_t slot = 0;
            trace::Ticks const leaves = track_ ? trace::ticks() : 0;
            try {
                // Allocate the slot first, so that nothing fails after the send has begun.
                if (num_under_way_ == under_way_.size()) under_way_.emplace_back();
                slot = transfers_->send(message.to, message.channel, message.bytes);
                transport_->bytes_sent.fetch_add(message.bytes.size(), std::memory_order_relaxed);
            } catch (...) {
                std::lock_guard const lock(mutex_);
                if (!control) put_back(std::move(block));
                throw;
            }
            if (!control) {
                ++blocks_to_[message.to];
                ++messages_;
                bytes_ += static_cast<std::int64_t>(message.block.size());
                if (track_)
                    track_->sent(message.to, message.block.header().tag,
                                 static_cast<std::int64_t>(message.block.size()), leaves);
            }
            message.started = Clock::now();
            ++num_under_way_;
            std::lock_guard const lock(mutex_);
            if (!control) {
                Destination& to = destinations_[message.to];
                ++to.num_under_way;
                to.under_way += static_cast<std::int64_t>(message.block.size());
            }
            under_way_[slot] = std::move(message);
            if (control) ++num_control_sent_;
        }
    }

    bool end_completed() {
        if (num_under_way_ == 0) return false;
        transfers_->completed(completed_);
        for (std::size_t const slot : completed_) {
            Message const message = std::move(under_way_[slot]);
            under_way_[slot] = {};
            --num_under_way_;
            if (message.channel != Channel::blocks) continue;
            {
                std::lock_guard const lock(mutex_);
                waiting_ -= static_cast<std::int64_t>(message.block.size());
                destinations_[message.to].under_way -= static_cast<std::int64_t>(message.block.size());
                --destinations_[message.to].num_under_way;
            }
            if (on_sent_)
                on_sent_(message.to, message.block.header().id, message.block.size(), message.started);
        }
        return !completed_.empty();
    }

    int rank_;
    int size_;
    std::int64_t window_;
    OnSent on_sent_;
    Transport* transport_; // null for one process
    trace::Track* track_ = nullptr;
    std::unique_ptr<Transfers> transfers_;

    mutable std::mutex mutex_;              // guards the next seven members
    std::vector<Message> control_;          // notices and last messages, in memory reserved for all of them
    std::size_t num_control_sent_ = 0;      // those whose send has begun
    std::vector<Destination> destinations_; // by rank
    std::vector<int> with_waiting_;         // ranks for which blocks wait
    std::int64_t waiting_ = 0;              // bytes queued or under way
    std::int64_t peak_waiting_ = 0;
    std::vector<MessageHeader> notice_; // header and text

    std::vector<MessageHeader> last_; // by rank
    std::vector<Message> under_way_;  // by slot
    std::size_t num_under_way_ = 0;
    std::vector<std::size_t> completed_;
    std::vector<std::int64_t> blocks_to_; // by rank
    std::int64_t messages_ = 0;
    std::int64_t bytes_ = 0;
    double seconds_ = 0;
};

} // namespace espalier
