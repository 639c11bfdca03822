#include "progress_bar.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "interrupt.hpp"
#include "numbers.hpp"
#include "output_file.hpp"

namespace espalier::command {

namespace {

constexpr auto redraw_period = std::chrono::milliseconds(125);
constexpr double shortest_drawn_s = 0.25; // shorter phases draw no bar

std::size_t terminal_columns() {
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

} // namespace

ProgressBar::ProgressBar(bool bar, bool lines) : lines_(lines) {
    if (bar) drawer_ = std::jthread([this](std::stop_token const& stopped) { draw_until_stopped(stopped); });
}

ProgressBar::~ProgressBar() = default; // jthread asks its thread to stop, and joins it

void ProgressBar::begin(std::string_view phase, double total) {
    std::lock_guard const lock(mutex_);
    phases_.push_back({std::string(phase), total, Timer{}, std::uncaught_exceptions()});
    done_.store(0, std::memory_order_relaxed);
}

void ProgressBar::end() {
    std::lock_guard const lock(mutex_);
    if (phases_.empty()) return;
    Phase const phase = std::move(phases_.back());
    phases_.pop_back();
    if (drawer_.joinable() && phase.timer.seconds() >= shortest_drawn_s) {
        set_bar_visible(false);
        std::fputs("\r\x1b[K", stderr);
        std::fflush(stderr);
    }
    if (lines_ && std::uncaught_exceptions() == phase.exceptions)
        print(fmt::format("{} ... {}\n", phase.name, readable_seconds(phase.timer.seconds())));
}

void ProgressBar::draw_until_stopped(std::stop_token const& stopped) {
    std::unique_lock lock(mutex_);
    while (!stopped.stop_requested()) {
        stop_signal_.wait_for(lock, stopped, redraw_period, [] { return false; });
        if (!phases_.empty() && phases_.back().timer.seconds() >= shortest_drawn_s) draw();
    }
}

void ProgressBar::draw() const {
    constexpr std::size_t cells = 30;
    Phase const& phase = phases_.back();
    std::string line = fmt::format("{:<24}", phase.name);
    if (phase.total > 0) {
        double const part = std::clamp(done_.load(std::memory_order_relaxed) / phase.total, 0.0, 1.0);
        auto const filled = static_cast<std::size_t>(part * static_cast<double>(cells));
        line += fmt::format("[{}{}] {:3.0f} %", std::string(filled, '#'), std::string(cells - filled, '.'),
                            100 * part);
    }
    line += fmt::format("  {:.1f} s", phase.timer.seconds());
    line.resize(std::min(line.size(), terminal_columns() - 1));
    set_bar_visible(true);
    std::fputs(fmt::format("\r{}\x1b[K", line).c_str(), stderr);
    std::fflush(stderr);
}

bool stderr_shows_bars() {
    char const* const terminal = std::getenv("TERM");
    return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

bool stdout_is_terminal() {
    return isatty(STDOUT_FILENO) != 0;
}

} // namespace espalier::command
