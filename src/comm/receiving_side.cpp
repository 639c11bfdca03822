#include "comm/receiving_side.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/timer.hpp"

namespace espalier {

namespace {
constexpr int most_at_once = 16; // messages taken in one step, so that what is completed is handed on soon
}

ReceivingSide::ReceivingSide(Transport* transport, int size, std::size_t budget, RunFailure const& failure,
                             Handlers handlers)
    : transport_(transport), size_(size),
      budget_(static_cast<std::int64_t>(std::min(budget, std::size_t{1} << 62))), failure_(failure),
      handlers_(std::move(handlers)), transfers_(size > 1 ? transport->transfers() : nullptr) {}

ReceivingSide::~ReceivingSide() {
    // The library still writes there; only after a failure of the library itself.
    if (num_coming_ > 0) static_cast<void>(new std::vector<Coming>(std::move(coming_)));
}

bool ReceivingSide::give_back(std::size_t bytes) {
    held_.fetch_sub(static_cast<std::int64_t>(bytes));
    return blocked_.load();
}

bool ReceivingSide::complete() const {
    return lasts_ == size_ - 1 && messages_ == announced_ && num_coming_ == 0 && !waiting_;
}

bool ReceivingSide::step() {
    Timer const timer;
    seconds_of_handlers_ = 0;
    if (track_) track_->between_tasks();
    trace::Ticks const begin = track_ ? trace::ticks() : 0;
    bool const told = read_control();
    bool const taken = take_blocks();
    bool const ended = end_completed();
    seconds_ += timer.seconds() - seconds_of_handlers_;
    bool const any = told || taken || ended;
    if (track_ && any) track_->state(trace::Kind::receive, begin, trace::ticks());
    return any;
}

bool ReceivingSide::read_control() {
    bool any = false;
    while (auto const arrival = transport_->probe(Channel::control)) {
        std::vector<MessageHeader> message(arrival->bytes / sizeof(MessageHeader));
        transport_->receive(*arrival, std::as_writable_bytes(std::span(message)));
        understand(arrival->from, message);
        any = true;
    }
    return any;
}

void ReceivingSide::understand(int from, std::vector<MessageHeader> const& message) {
    MessageHeader const& header = message.at(0);
    if (header.kind == MessageHeader::Kind::last) {
        ++lasts_;
        announced_ += header.id;
        return;
    }
    std::size_t const length =
        std::min<std::size_t>(header.bytes, (message.size() - 1) * sizeof(MessageHeader));
    std::string const text(reinterpret_cast<char const*>(message.data() + 1), length);
    handlers_.on_notice(
        Error(static_cast<Status>(header.status), "process " + std::to_string(from) + ": " + text));
}

bool ReceivingSide::fits(std::size_t bytes) const {
    if (open_ || failure_.failed()) return true;
    auto const held = held_.load();
    return held == 0 || held + static_cast<std::int64_t>(bytes) <= budget_ ||
           (handlers_.idle && handlers_.idle());
}

bool ReceivingSide::take_blocks() {
    for (int taken = 0; taken < most_at_once; ++taken) {
        if (!waiting_) waiting_ = transport_->probe(Channel::blocks);
        bool const blocked = waiting_ && !fits(waiting_->bytes);
        blocked_.store(blocked);
        if (!waiting_ || blocked) return taken > 0;
        start(*waiting_);
        waiting_.reset();
    }
    return true;
}

void ReceivingSide::start(Arrival const& arrival) {
    Coming coming{arrival.from, arrival.bytes, {}};
    try {
        coming.block = Block::for_message(arrival.bytes);
    } catch (Error const& error) {
        transport_->discard(arrival);
        ++messages_;
        return handlers_.on_own_error(error);
    }
    // Room for it now, so that nothing fails once it is under way.
    if (num_coming_ == coming_.size()) coming_.emplace_back();
    auto const slot = transfers_->receive(arrival, {coming.block.memory_, arrival.bytes});
    coming_[slot] = std::move(coming);
    ++num_coming_;
    auto const held =
        held_.fetch_add(static_cast<std::int64_t>(arrival.bytes)) + static_cast<std::int64_t>(arrival.bytes);
    peak_held_ = std::max(peak_held_, held);
}

bool ReceivingSide::end_completed() {
    if (num_coming_ == 0) return false;
    transfers_->completed(completed_);
    for (std::size_t const slot : completed_) {
        --num_coming_;
        hand_on(std::exchange(coming_[slot], {}));
    }
    return !completed_.empty();
}

void ReceivingSide::hand_on(Coming coming) {
    Block& block = coming.block;
    ++messages_;
    auto const id = block.header().id;
    if (block.header().kind != MessageHeader::Kind::block || block.header().bytes > block.size()) {
        give_back(coming.message_bytes);
        return handlers_.on_own_error(
            Error(Status::internal,
                  "a message of process " + std::to_string(coming.from) + " is not one of this library"));
    }
    // From now on the payload counts, which is what the user knows of.
    block.size_ = block.header().bytes;
    bytes_ += static_cast<std::int64_t>(block.size());
    if (track_) track_->received(coming.from, block.header().tag, static_cast<std::int64_t>(block.size()));
    give_back(coming.message_bytes - block.size());
    if (failure_.failed()) {
        give_back(block.size());
        return;
    }
    Timer const timer;
    try {
        handlers_.on_block(coming.from, id, std::move(block));
    } catch (...) {
        handlers_.on_own_error(current_error());
    }
    seconds_of_handlers_ += timer.seconds();
}

} // namespace espalier
