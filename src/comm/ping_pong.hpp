// Single messages back and forth between two processes, to measure clocks and networks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "comm/block.hpp"
#include "comm/collective.hpp"
#include "comm/transport.hpp"
#include "trace/clock.hpp"

namespace espalier {

class PingPong {
  public:
    explicit PingPong(Communicator const& comm)
        : transport_(transport_of(comm)), transfers_(transport_->transfers()) {
        completed_.reserve(reserved_transfers);
        reserve(0);
    }

    /// Allocates memory for messages with this many lines of ballast.
    void reserve(std::size_t ballast) {
        out_.resize(1 + ballast);
        in_.resize(1 + ballast);
    }
    /// Sends a number and `ballast` lines of sizeof(MessageHeader) bytes. Returns when the send is complete.
    /// Messages with the reserved ballast allocate nothing.
    void send(int to, std::int64_t value, std::size_t ballast = 0) {
        if (out_.size() < 1 + ballast) out_.resize(1 + ballast);
        out_[0].id = value;
        transfers_->send(to, Channel::control, std::as_bytes(std::span(out_).first(1 + ballast)));
        completed_.clear();
        for (Waiting waiting; completed_.empty(); waiting.wait()) transfers_->completed(completed_);
    }
    /// Receives the next message and returns its number.
    std::int64_t receive() {
        for (Waiting waiting;; waiting.wait()) {
            auto const arrival = transport_->probe(Channel::control);
            if (!arrival) continue;
            std::size_t const length = arrival->bytes / sizeof(MessageHeader);
            if (in_.size() < length) in_.resize(length);
            transport_->receive(*arrival, std::as_writable_bytes(std::span(in_).first(length)));
            return in_.at(0).id;
        }
    }

  private:
    // Yields at first, while an answer is expected soon; sleeps later, while other processes are measured.
    class Waiting {
      public:
        void wait() {
            if (trace::steady_now() - since_ < yield_time)
                std::this_thread::yield();
            else
                std::this_thread::sleep_for(std::chrono::microseconds(50));
        }

      private:
        static constexpr trace::Nanoseconds yield_time = 500'000;
        trace::Nanoseconds since_ = trace::steady_now();
    };

    Transport* transport_;
    std::unique_ptr<Transfers> transfers_;
    std::vector<std::size_t> completed_;
    std::vector<MessageHeader> out_, in_; // kept, so that only the first message touches new pages
};

} // namespace espalier
