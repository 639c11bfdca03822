// Signals that end the run: the command stops at once, removes unfinished files, and prints one line. The
// signal handler only wakes a thread, which may lock and allocate.
#pragma once

#include <string>

#include "espalier/types.hpp"

namespace espalier::command {

/// Call it once. From then on SIGINT, SIGTERM and SIGHUP remove unfinished files, clear the progress bar,
/// print one error line and end the process with Status::cancelled. SIGPIPE and SIGXFSZ are ignored: the
/// write then fails, and is reported like every failure.
void watch_signals();

/// From now on this process prints no error line, not even that of a signal: process 0 prints it.
void stay_silent();

/// Whether a progress bar is in the current line of the terminal.
void set_bar_visible(bool visible);

/// Prints the error line of the run, which is about to end with `status`. A later signal ends the process
/// with the same code and no second line: a launcher sends one if the first process of a group fails.
void print_error(Status status, std::string const& message);
/// Prints the error of a lack of memory in the same way. Allocates nothing.
void print_lack_of_memory() noexcept;

} // namespace espalier::command
