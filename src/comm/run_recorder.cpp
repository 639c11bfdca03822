#include "comm/run_recorder.hpp"

#include <algorithm>
#include <utility>

#include "comm/clock_offsets.hpp"
#include "comm/message_run.hpp"

namespace espalier {

RunRecorder::RunRecorder(Communicator comm, std::string machine, std::function<void()> release_recorder)
    : comm_(std::move(comm)), machine_(std::move(machine)), release_recorder_(std::move(release_recorder)) {}

void RunRecorder::restart() {
    Messaging const all{comm_, {}};
    std::unique_ptr<trace::Recorder> fresh;
    all_succeed(&all, [&] {
        drop();
        trace::Recorder::Options options;
        options.process = comm_.rank();
        options.processes = comm_.size();
        if (comm_.size() > 1 && !machine_.empty()) options.machine = machine_;
        fresh = std::make_unique<trace::Recorder>(options);
    });
    if (comm_.size() > 1) {
        zero_ = fresh->zero();
        fresh->set_zero(0);
        offsets_ = measure_clock_offsets(comm_);
    }
    recorder_ = std::move(fresh);
}

void RunRecorder::drop() {
    release_recorder_();
    progress_tracks_.clear();
    recorder_.reset();
}

void RunRecorder::lend_tracks(ExchangeOptions& exchange, int node) {
    exchange.sending_track = exchange.receiving_track = nullptr;
    if (!recorder() || exchange.threads == 0) return;
    while (std::ssize(progress_tracks_) < exchange.threads)
        progress_tracks_.push_back(&recorder_->add_thread({.worker = -1, .node = node}));
    exchange.sending_track = progress_tracks_.front();
    exchange.receiving_track = progress_tracks_[exchange.threads - 1];
}

trace::TraceParts RunRecorder::collect() {
    if (comm_.size() == 1) return recorder_->collect();
    Messaging const all{comm_, {}};
    trace::TraceParts mine;
    std::vector<std::byte> bytes;
    all_succeed(&all, [&] {
        if (!recorder_) throw Error(Status::usage, "no trace was recorded");
    });
    std::vector<trace::ClockOffset> const last = measure_clock_offsets(comm_);
    all_succeed(&all, [&] {
        mine = recorder_->collect();
        if (comm_.rank() > 0) bytes = trace::pack(mine);
    });
    std::vector<std::vector<std::byte>> const packed = gather(comm_, bytes, 0);
    std::vector<trace::TraceParts> parts;
    all_succeed(&all, [&] {
        if (comm_.rank() > 0) return;
        trace::Nanoseconds error = 0;
        for (std::size_t p = 0; p < packed.size(); ++p) {
            parts.push_back(p == 0 ? std::move(mine) : trace::unpack(packed[p]));
            trace::set_clock(parts.back(), offsets_[p], last[p], zero_);
            error = std::max({error, offsets_[p].error, last[p].error});
        }
        parts = {trace::merge(std::move(parts))};
        parts.front().metadata[trace::clock_error_key] = std::to_string(error) + " ns";
    });
    if (comm_.rank() > 0) return {};
    return std::move(parts.front());
}

} // namespace espalier
