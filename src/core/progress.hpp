// A phase of progress reports (ProgressSink, espalier/options.hpp) that ends with its scope.
#pragma once

#include <string_view>

#include "espalier/options.hpp"

namespace espalier {

/// Begins a phase of `sink`, which may be null, and ends it in the destructor.
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
            // a failing display must not stop the computation
        }
    }
    void advance(double amount) const {
        if (sink_) sink_->advance(amount);
    }

  private:
    ProgressSink* sink_;
};

} // namespace espalier
