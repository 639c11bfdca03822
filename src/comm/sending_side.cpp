#include "comm/sending_side.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/timer.hpp"

namespace espalier {

namespace {
constexpr std::size_t lines_of_text = 16; // of a notice; longer texts are truncated
}

SendingSide::SendingSide(Transport* transport, int rank, int size, std::size_t window, OnSent on_sent)
    : rank_(rank), size_(size), window_(static_cast<std::int64_t>(std::min(window, std::size_t{1} << 62))),
      on_sent_(std::move(on_sent)), transport_(transport),
      transfers_(size > 1 ? transport->transfers() : nullptr), destinations_(size),
      notice_(1 + lines_of_text), last_(size), blocks_to_(size) {
    with_waiting_.reserve(destinations_.size());
}

SendingSide::~SendingSide() {
    if (num_under_way_ == 0) return;
    // The library may still read it. Happens only after a failure of the library.
    static_cast<void>(new std::vector<Message>(std::move(under_way_)));
    static_cast<void>(new std::vector<MessageHeader>(std::move(last_)));
    static_cast<void>(new std::vector<MessageHeader>(std::move(notice_)));
}

void SendingSide::queue(int to, std::int64_t id, Block&& block, MessageMark const& mark) {
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

void SendingSide::drop_queued() {
    std::lock_guard const lock(mutex_);
    for (int const to : with_waiting_) {
        for (auto const& [priority, message] : destinations_[to].waiting)
            waiting_ -= static_cast<std::int64_t>(message.block.size());
        destinations_[to].waiting.clear();
    }
    with_waiting_.clear();
}

void SendingSide::queue_notices(Error const& error) {
    std::lock_guard const lock(mutex_);
    std::size_t const length = std::min(std::strlen(error.what()), lines_of_text * sizeof(MessageHeader));
    notice_[0].kind = MessageHeader::Kind::notice;
    notice_[0].status = static_cast<std::int32_t>(error.status());
    notice_[0].bytes = length;
    std::memcpy(static_cast<void*>(notice_.data() + 1), error.what(), length);
    auto const bytes = std::as_bytes(std::span(notice_)).first(Block::message_bytes(length));
    for (int to = 0; to < size_; ++to)
        if (to != rank_) control_.push_back({to, Channel::control, bytes, {}, {}});
}

void SendingSide::queue_last() {
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

bool SendingSide::step() {
    Timer const timer;
    if (track_) track_->between_tasks();
    trace::Ticks const begin = track_ ? trace::ticks() : 0;
    bool const started = start_queued();
    bool const ended = end_completed();
    seconds_ += timer.seconds();
    if (track_ && (started || ended)) track_->state(trace::Kind::send, begin, trace::ticks());
    return started || ended;
}

bool SendingSide::busy() const {
    std::lock_guard const lock(mutex_);
    return num_under_way_ > 0 || !control_.empty() || !with_waiting_.empty();
}

bool SendingSide::has_waiting() const {
    std::lock_guard const lock(mutex_);
    return !with_waiting_.empty();
}

// Two messages under way keep the network busy until the completion of one is noticed.
bool SendingSide::has_room(Destination const& to) const {
    return to.num_under_way < 2 || to.under_way <= window_;
}

// Takes the next block to send; empty if there is none. mutex_ is held.
SendingSide::Waiting::node_type SendingSide::take() {
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

// Allocates no memory. mutex_ is held.
void SendingSide::put_back(Waiting::node_type block) {
    int const to = block.mapped().to;
    if (destinations_[to].waiting.empty()) with_waiting_.push_back(to);
    destinations_[to].waiting.insert(std::move(block));
}

bool SendingSide::start_queued() {
    bool any = false;
    for (;; any = true) {
        Message* control = nullptr; // stays in the queue until its send has begun
        Waiting::node_type block;
        {
            std::lock_guard const lock(mutex_);
            if (control_.empty())
                block = take();
            else
                control = &control_.front();
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
        if (control) control_.pop_front();
    }
}

bool SendingSide::end_completed() {
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
        if (on_sent_) on_sent_(message.to, message.block.header().id, message.block.size(), message.started);
    }
    return !completed_.empty();
}

} // namespace espalier
