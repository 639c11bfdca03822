// The sending half of an exchange: a queue that any worker fills, and the messages under way, which one
// thread at a time moves.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "comm/block.hpp"
#include "comm/transport.hpp"
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
    SendingSide(Transport* transport, int rank, int size, std::size_t window, OnSent on_sent);
    /// Never frees the memory of messages still under way.
    ~SendingSide();

    // Any thread.
    void queue(int to, std::int64_t id, Block&& block, MessageMark const& mark);
    /// Frees the blocks whose send has not begun.
    void drop_queued();
    /// Queues a notice of this failure for each other rank. Called once.
    void queue_notices(Error const& error);

    // One thread at a time.
    /// Sets the track of a trace; null: not recorded.
    void record_on(trace::Track* track) { track_ = track; }
    /// Starts queued messages and ends completed ones; true if there was one.
    bool step();
    /// Queues the last message for each other rank, the number of blocks sent there. No block waits then, and
    /// nothing is queued later.
    void queue_last();
    /// Is anything queued or under way?
    [[nodiscard]] bool busy() const;
    /// Is there a block whose send has not begun?
    [[nodiscard]] bool has_waiting() const;

    // While no thread moves messages.
    [[nodiscard]] std::int64_t messages() const { return messages_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] std::int64_t peak_waiting() const { return peak_waiting_; }
    [[nodiscard]] double seconds() const { return seconds_; }

  private:
    struct Message {
        int to = -1;
        Channel channel = Channel::blocks;
        std::span<std::byte const> bytes; // of the block, or of notice_ or last_
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

    [[nodiscard]] bool has_room(Destination const& to) const;
    Waiting::node_type take();
    void put_back(Waiting::node_type block);
    bool start_queued();
    bool end_completed();

    int rank_;
    int size_;
    std::int64_t window_;
    OnSent on_sent_;
    Transport* transport_; // null for one process
    trace::Track* track_ = nullptr;
    std::unique_ptr<Transfers> transfers_;

    mutable std::mutex mutex_; // guards the next six members
    std::deque<Message> control_;
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
