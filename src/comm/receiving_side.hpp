// The half of an exchange that receives: takes blocks as far as the budget allows, hands them on, and reads
// what the other ranks say about the run. Moved along by one thread at a time.
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
        std::function<void(Error const&)> on_notice;    ///< Another rank's failure; of each that failed.
        std::function<void(Error const&)> on_own_error; ///< A block could not be taken or handed on.
    };

    /// After a failure blocks are received and dropped.
    ReceivingSide(Transport* transport, int size, std::size_t budget, RunFailure const& failure,
                  Handlers handlers);
    /// Blocks still under way keep their memory for ever.
    ~ReceivingSide();
    ReceivingSide(ReceivingSide const&) = delete;
    ReceivingSide& operator=(ReceivingSide const&) = delete;

    /// So many bytes of blocks that were handed on are free again; true when a message waits for room. Any
    /// thread.
    bool give_back(std::size_t bytes);

    // One thread at a time.
    /// Where to record what happens from now on; null: nowhere.
    void record_on(trace::Track* track) { track_ = track; }
    /// True when something came.
    bool step();
    /// From now on the budget does not count.
    void open() { open_ = true; }
    /// Has everything come that the others have sent until their last message?
    [[nodiscard]] bool complete() const;

    // When nobody moves messages.
    [[nodiscard]] std::int64_t messages() const { return messages_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    [[nodiscard]] std::int64_t peak_held() const { return peak_held_; }
    [[nodiscard]] double seconds() const { return seconds_; }

  private:
    struct Coming {
        int from = -1;
        std::size_t message_bytes = 0;
        Block block;
    };

    bool read_control();
    void understand(int from, std::vector<MessageHeader> const& message);
    bool take_blocks();
    bool fits(std::size_t bytes) const;
    void start(Arrival const& arrival);
    bool end_completed();
    void hand_on(Coming coming);

    Transport* transport_;
    int size_;
    std::int64_t budget_;
    RunFailure const& failure_;
    Handlers handlers_;
    trace::Track* track_ = nullptr;
    std::unique_ptr<Transfers> transfers_;

    std::atomic<std::int64_t> held_{0}; // bytes of blocks coming or handed on and not given back
    std::atomic<bool> blocked_{false};  // waiting_ is for room
    std::optional<Arrival> waiting_;    // has come and does not fit
    std::vector<Coming> coming_;        // by slot
    std::size_t num_coming_ = 0;
    std::vector<std::size_t> completed_;
    bool open_ = false;
    int lasts_ = 0;              // ranks whose last message has come
    std::int64_t announced_ = 0; // blocks that those have sent
    std::int64_t messages_ = 0;
    std::int64_t bytes_ = 0;
    std::int64_t peak_held_ = 0;
    double seconds_ = 0;
    double seconds_of_handlers_ = 0;
};

} // namespace espalier
