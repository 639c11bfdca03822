// How a long phase tells what it has done, without knowing who looks. A sink is given by the caller; the
// command's sink draws a progress bar in a terminal. Phases that cannot measure their advance give total 0.
#pragma once

#include <cstdint>
#include <string_view>

namespace espalier {

class ProgressSink {
  public:
    virtual ~ProgressSink() = default;
    /// A phase starts; `total` is in whatever unit advance() will use, 0 when unknown.
    virtual void begin(std::string_view phase, double total) = 0;
    /// `amount` more is done. May be called from any thread, at most some thousand times a phase.
    virtual void advance(double amount) = 0;
    virtual void end() = 0;
};

/// A phase of a possibly absent sink, ended by scope.
class ProgressScope {
  public:
    ProgressScope(ProgressSink* sink, std::string_view phase, double total) : sink_(sink) {
        if (sink_) sink_->begin(phase, total);
    }
    ProgressScope(ProgressScope const&) = delete;
    ProgressScope& operator=(ProgressScope const&) = delete;
    ~ProgressScope() {
        if (sink_) sink_->end();
    }
    void advance(double amount) const {
        if (sink_) sink_->advance(amount);
    }

  private:
    ProgressSink* sink_;
};

} // namespace espalier
