// Records the trace of a run of several processes. Each process records with its own clock, and task numbers
// are global. At the end process 0 collects the records and converts them to its own clock. With one process
// nothing is collective.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/exchange.hpp"
#include "espalier/communicator.hpp"
#include "trace/clock_offset.hpp"
#include "trace/record.hpp"

namespace espalier {

class RunRecorder {
  public:
    /// `machine` is the name of the computer. `release_recorder` is called before a recorder is destroyed and
    /// must remove all references to it.
    RunRecorder(Communicator comm, std::string machine, std::function<void()> release_recorder);

    /// Enables or disables recording, if there is a recorder. Not collective.
    void switch_on(bool on) { on_ = on; }

    /// Collective: drops the records and starts a new recorder.
    void restart();
    /// Drops the records. Not collective.
    void drop();
    [[nodiscard]] bool has_recorder() const { return recorder_ != nullptr; }
    /// The recorder; null if nothing is recorded.
    [[nodiscard]] trace::Recorder* recorder() const { return on_ ? recorder_.get() : nullptr; }
    /// The track for the phases of the process; null if nothing is recorded.
    [[nodiscard]] trace::Track* phases() const { return on_ && recorder_ ? &recorder_->phases() : nullptr; }

    /// Assigns tracks to the communication threads of an exchange, on NUMA node `node`.
    void lend_tracks(ExchangeOptions& exchange, int node);

    /// Collective: returns all records since restart() or the last collect() on process 0, and nothing
    /// elsewhere. Error{usage} on all processes if one has no recorder.
    trace::TraceParts collect();

  private:
    Communicator comm_;
    std::string machine_;
    std::function<void()> release_recorder_;
    bool on_ = false;
    std::unique_ptr<trace::Recorder> recorder_;
    std::vector<trace::Track*> progress_tracks_; // the tracks of recorder_
    // start of the trace by the clock of process 0; set on process 0
    trace::Nanoseconds zero_ = 0;
    std::vector<trace::ClockOffset> offsets_; // clock offsets at the beginning, on process 0
};

} // namespace espalier
