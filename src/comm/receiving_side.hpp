// The receiving half of an exchange: receives blocks within the budget, passes them to the user, and reads
// the notices of other ranks. Used by one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "comm/block.hpp"
#include "comm/run_failure.hpp"
#include "comm/transport.hpp"
#include "espalier/types.hpp"
#include "trace/record.hpp"

namespace espalier {

class ReceivingSide {
  public:
    struct Handlers {
        std::function<void(int from, std::int64_t id, Block&& block)> on_block;
        std::function<bool()> idle;                     ///< May be empty.
        std::function<void(Error const&)> on_notice;    ///< Failure of another rank; once for each.
        std::function<void(Error const&)> on_own_error; ///< A block could not be received or passed on.
    };

    /// After a failure blocks are received and dropped.
    ReceivingSide(Transport* transport, int size, std::size_t budget, RunFailure const& failure,
                  Handlers handlers);
    /// Never frees the memory of blocks still under way.
    ~ReceivingSide();

    /// Blocks passed to the user were freed, so many bytes; true if a message waits for them. Any thread.
    bool give_back(std::size_t bytes);

    // One thread at a time.
    /// Sets the track of a trace; null: not recorded.
    void record_on(trace::Track* track) { track_ = track; }
    /// Receives what has arrived; true if there was something.
    bool step();
    /// Removes the bound on received bytes.
    void lift_budget() { unlimited_ = true; }
    /// Has this rank received all messages of all others, up to their last one?
    [[nodiscard]] bool complete() const;

    // While no thread moves messages.
    [[nodiscard]] std::int64_t messages() const { return messages_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] std::int64_t peak_held() const { return peak_held_; }
    [[nodiscard]] double seconds() const { return seconds_; }

  private:
    struct Receive {
        int from = -1;
        std::size_t message_bytes = 0;
        Block block;
    };

    bool read_control();
    void handle_control(int from, std::vector<MessageHeader> const& message);
    bool receive_blocks();
    bool fits(std::size_t bytes) const;
    void start(Arrival const& arrival);
    bool end_completed();
    void pass_on(Receive receive);

    Transport* transport_;
    int size_;
    std::int64_t budget_;
    RunFailure const& failure_;
    Handlers handlers_;
    trace::Track* track_ = nullptr;
    std::unique_ptr<Transfers> transfers_;

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
