#include "interrupt.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <semaphore.h>
#include <unistd.h>

#include "espalier/types.hpp"

namespace espalier::command {

namespace {

std::mutex guard; // Of what follows. The signal thread never gives it back.
std::optional<std::filesystem::path> working_directory;
bool bar_visible = false;
bool silent = false;
Status status_at_signal = Status::cancelled;

sem_t signalled;

// Where standard error cannot be written there is nobody to tell that to.
void tell(std::string const& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
}

// Any thread may be interrupted for this, those of the BLAS library too. sem_post is async-signal-safe.
void wake_the_watcher(int) {
    sem_post(&signalled);
}

[[noreturn]] void stop_when_signalled() {
    while (sem_wait(&signalled) != 0) {
    } // fails only when interrupted
    guard.lock();
    std::error_code ignored;
    if (working_directory) std::filesystem::remove_all(*working_directory, ignored);
    if (!silent) tell(fmt::format("{}espalier: error: interrupted\n", bar_visible ? "\r\x1b[K" : ""));
    _exit(static_cast<int>(status_at_signal));
}

} // namespace

void watch_signals() {
    sem_init(&signalled, 0, 0);
    std::thread(stop_when_signalled).detach();
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    struct sigaction action {};
    action.sa_handler = wake_the_watcher;
    action.sa_flags = SA_RESTART;
    for (int const signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction inherited {};
        sigaction(signal, nullptr, &inherited);
        if (inherited.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr); // nohup stays in force
    }
}

WorkingDirectory::WorkingDirectory(std::filesystem::path const& parent, std::string const& purpose) {
    std::string name = parent / ".espalier-XXXXXX";
    std::lock_guard const lock(guard);
    if (mkdtemp(name.data()) == nullptr)
        throw Error(Status::io_error, fmt::format("{}: {}", purpose, std::generic_category().message(errno)));
    path_ = name;
    working_directory = path_;
}

WorkingDirectory::~WorkingDirectory() {
    std::lock_guard const lock(guard);
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    working_directory.reset();
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
    if (!silent) tell(fmt::format("espalier: error: {}\n", message));
    silent = true;
    status_at_signal = status;
}

} // namespace espalier::command
