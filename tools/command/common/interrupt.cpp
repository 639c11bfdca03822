#include "interrupt.hpp"

#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <semaphore.h>
#include <unistd.h>

#include "espalier/types.hpp"
#include "io/atomic_file.hpp"

namespace espalier::command {

namespace {

std::mutex guard; // guards the following variables; the signal thread never unlocks it
bool bar_visible = false;
bool silent = false;
Status status_at_signal = Status::cancelled;

sem_t signalled;

// A failure to write to standard error cannot be reported.
void print_to_stderr(std::string const& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
}

// Runs in any thread, those of the BLAS library included. sem_post is async-signal-safe.
void wake_signal_thread(int) {
    sem_post(&signalled);
}

[[noreturn]] void stop_when_signalled() {
    while (sem_wait(&signalled) != 0) {
    } // fails only when interrupted
    guard.lock();
    AtomicFile::remove_unfinished();
    if (!silent)
        print_to_stderr(fmt::format("{}espalier: error: interrupted\n", bar_visible ? "\r\x1b[K" : ""));
    _exit(static_cast<int>(status_at_signal));
}

} // namespace

void watch_signals() {
    sem_init(&signalled, 0, 0);
    std::thread(stop_when_signalled).detach();
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    struct sigaction action{};
    action.sa_handler = wake_signal_thread;
    action.sa_flags = SA_RESTART;
    for (int const signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction inherited{};
        sigaction(signal, nullptr, &inherited);
        if (inherited.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr); // keep the effect of nohup
    }
}

void stay_silent() {
    std::lock_guard const lock(guard);
    silent = true;
}

void set_bar_visible(bool visible) {
    std::lock_guard const lock(guard);
    bar_visible = visible;
}

void print_error(Status status, std::string const& message) {
    std::lock_guard const lock(guard);
    if (!silent) print_to_stderr(fmt::format("espalier: error: {}\n", message));
    silent = true;
    status_at_signal = status;
}

void print_lack_of_memory() noexcept {
    std::lock_guard const lock(guard);
    static constexpr std::string_view text = "espalier: error: out of memory\n";
    if (!silent && write(STDERR_FILENO, text.data(), text.size()) < 0)
        return; // the failure cannot be reported
    silent = true;
    status_at_signal = Status::out_of_memory;
}

} // namespace espalier::command
