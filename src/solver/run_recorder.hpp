// The trace of a run among all its processes: each records for itself, by its own clock, and numbers its
// tasks as the others do; process 0 asks for it all in the end and puts it together on its own clock. One
// process is alone, and everything is as collective as it is.
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
    /// `machine` is the name of the one that this process runs on. `let_go` is called before a recorder ends:
    /// nobody may use it then.
    RunRecorder(Communicator comm, std::string machine, std::function<void()> let_go);

    /// Whether what happens is to be recorded, if there is a recorder; not collective.
    void switch_on(bool on) { on_ = on; }

    /// Collective: what was recorded is forgotten, and a new recorder begins.
    void restart();
    /// What was recorded is forgotten; not collective.
    void drop();
    [[nodiscard]] bool has_recorder() const { return recorder_ != nullptr; }
    /// To record with; null when nothing is to be recorded.
    [[nodiscard]] trace::Recorder* recorder() const { return on_ ? recorder_.get() : nullptr; }
    /// Where phases of the process are recorded; null likewise.
    [[nodiscard]] trace::Track* phases() const { return on_ && recorder_ ? &recorder_->phases() : nullptr; }

    /// Gives the progress threads of an exchange their tracks, on NUMA node `node`.
    void lend_tracks(ExchangeOptions& exchange, int node);

    /// Collective: everything since restart() or the last collect(), on process 0; elsewhere nothing.
    /// Error{usage} on all when some process has no recorder.
    trace::TraceParts collect();

  private:
    Communicator comm_;
    std::string machine_;
    std::function<void()> let_go_;
    bool on_ = false;
    std::unique_ptr<trace::Recorder> recorder_;
    std::vector<trace::Track*> progress_tracks_; // of recorder_
    trace::Nanoseconds zero_ = 0;                // of the trace, by the clock of process 0; there
    std::vector<trace::ClockOffset> offsets_;    // at the beginning, on process 0
};

} // namespace espalier
