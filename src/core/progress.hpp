// A phase of a possibly absent ProgressSink (espalier/options.hpp), ended by scope.
#pragma once

#include <string_view>

#include "espalier/options.hpp"

namespace espalier {

class ProgressScope {
  public:
    ProgressScope(ProgressSink* sink, std::string_view phase, double total) : sink_(sink) {
        if (sink_) sink_->begin(phase, total);
    }
    ProgressScope(ProgressScope const&) = delete;
    ProgressScope& operator=(ProgressScope const&) = delete;
    ~ProgressScope() {
        try {
            if (sink_) sink_->end();
        } catch (...) {
            // a display that fails is no reason to lose the work
        }
    }
    void advance(double amount) const {
        if (sink_) sink_->advance(amount);
    }

  private:
    ProgressSink* sink_;
};

} // namespace espalier
