// Progress of long phases: a bar that is redrawn a few times a second if standard error is a terminal, and a
// line such as "ordering ... 1.52 s" for each phase if standard output is a pipe or a file.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/progress.hpp"
#include "core/timer.hpp"

namespace espalier::command {

class ProgressBar final : public ProgressSink {
  public:
    /// `bar`: draw on standard error. `lines`: one line on standard output for each phase that succeeded.
    ProgressBar(bool bar, bool lines);
    ~ProgressBar() override;

    void begin(std::string_view phase, double total) override;
    void advance(double amount) override { done_.fetch_add(amount, std::memory_order_relaxed); }
    void end() override;

  private:
    struct Phase {
        std::string name;
        double total;
        Timer timer;
        int exceptions; ///< Active exceptions at the start of the phase; more at its end mean failure.
    };

    void draw_until_stopped(std::stop_token const& stopped);
    void draw() const;

    bool const lines_;
    std::atomic<double> done_{0}; ///< Progress of the innermost phase; any thread adds to it.
    std::mutex mutex_;            ///< Guards phases_ and the terminal line.
    std::vector<Phase> phases_;   ///< The running phases, outermost first.
    std::condition_variable_any stop_signal_;
    std::jthread drawer_;
};

/// Whether standard error is a terminal that can move its cursor.
bool stderr_shows_bars();
bool stdout_is_terminal();

} // namespace espalier::command
