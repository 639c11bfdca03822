// One message at a time, to and fro between two processes: what clocks and networks are measured with.
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
        : transport_(transport_of(comm)), transfers_(transport_->transfers()) {}

    /// Makes room for the ballast, so that nothing fails later for want of memory.
    void reserve(std::size_t ballast) {
        out_.resize(1 + ballast);
        in_.resize(1 + ballast);
    }
    /// A number, and so many headers' lengths of ballast. Returns when it has left.
    void send(int to, std::int64_t value, std::size_t ballast = 0) {
        if (out_.size() < 1 + ballast) out_.resize(1 + ballast);
        out_[0].id = value;
        transfers_->send(to, Channel::control, std::as_bytes(std::span(out_).first(1 + ballast)));
        std::vector<std::size_t> completed;
        for (Patience patience; completed.empty(); patience.wait()) transfers_->completed(completed);
    }
    /// The number of the next message, which has come with all its ballast.
    std::int64_t receive() {
        for (Patience patience;; patience.wait()) {
            auto const arrival = transport_->probe(Channel::control);
            if (!arrival) continue;
            std::size_t const length = arrival->bytes / sizeof(MessageHeader);
            if (in_.size() < length) in_.resize(length);
            transport_->receive(*arrival, std::as_writable_bytes(std::span(in_).first(length)));
            return in_.at(0).id;
        }
    }

  private:
    // Awake while messages go to and fro; asleep while it is another's turn.
    class Patience {
      public:
        void wait() {
            if (trace::steady_now() - since_ < awake)
                std::this_thread::yield();
            else
                std::this_thread::sleep_for(std::chrono::microseconds(50));
        }

      private:
        static constexpr trace::Nanoseconds awake = 500'000;
        trace::Nanoseconds since_ = trace::steady_now();
    };

    Transport* transport_;
    std::unique_ptr<Transfers> transfers_;
    std::vector<MessageHeader> out_, in_; // touched before they are timed again
};

} // namespace espalier
