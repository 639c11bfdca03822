// A wall-clock stopwatch.
#pragma once

#include <chrono>

namespace espalier {

class Timer {
  public:
    /// Seconds since construction or the last restart().
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    void restart() { start_ = std::chrono::steady_clock::now(); }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace espalier
