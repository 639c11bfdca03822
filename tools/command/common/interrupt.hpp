// Ctrl-C and its kin: the run stops at once, leaves no unfinished file behind, and says so in one line. The
// signal handler only wakes a thread of its own, so what is done then may lock and allocate.
#pragma once

#include <filesystem>
#include <string>

#include "espalier/types.hpp"

namespace espalier::command {

/// Called once. From then on SIGINT, SIGTERM and SIGHUP remove the working
/// directory, wipe the progress bar, print one error line and end the process with Status::cancelled. SIGPIPE
/// and SIGXFSZ are ignored: writing then fails, and the failure is reported as any other.
void watch_signals();

/// A new directory for unfinished files; removed with all that is in it when this ends, and by a signal. One
/// at a time.
class WorkingDirectory {
  public:
    /// Made in `parent`, under a name that nothing there has. Error{io_error} with the system's reason;
    /// `purpose` begins the message.
    WorkingDirectory(std::filesystem::path const& parent, std::string const& purpose);
    ~WorkingDirectory();
    WorkingDirectory(WorkingDirectory const&) = delete;
    WorkingDirectory& operator=(WorkingDirectory const&) = delete;

    [[nodiscard]] std::filesystem::path const& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// This process prints no error lines, not that of a signal either: another one of its group speaks.
void stay_silent();

/// Whether a progress bar stands in the terminal's current line.
void set_bar_visible(bool visible);

/// Prints the error line of the run, which is about to end with `status`. A signal that comes after it ends
/// the process with the same code and no second line: a launcher sends one when the first process of a group
/// fails.
void print_error(Status status, std::string const& message);

} // namespace espalier::command
