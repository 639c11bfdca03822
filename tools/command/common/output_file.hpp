// The files of the command, which are checked before the long work starts, and its standard output.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace espalier::command {

/// A file that appears whole or not at all (io/atomic_file.hpp), or standard output.
class OutputFile {
  public:
    /// "-" is standard output; an empty path stands for no file. Error{io_error} if the file cannot be
    /// written now; the check leaves nothing behind.
    explicit OutputFile(std::string path);

    explicit operator bool() const { return !path_.empty(); }
    [[nodiscard]] bool is_stdout() const { return path_ == "-"; }

    /// Calls `writer` with the path for its AtomicFile, which is empty if there is no file.
    void write(std::function<void(std::string const& path)> const& writer) const;
    void write_text(std::string const& text) const;

  private:
    std::string path_;
};

/// A path and its source: "--json" or "the matrix". An empty path was not given.
struct NamedPath {
    std::string what;
    std::string path;
};

/// Error{usage} if an output is the same file as another output or an input, however the paths are spelled
/// and whether the file exists or not. Devices are never the same, nor are standard input and standard
/// output.
void refuse_same_files(std::vector<NamedPath> const& outputs, std::vector<NamedPath> const& inputs);

/// Error{io_error} that names the source of the first file that cannot be opened, or is a directory. "-" is
/// standard input.
void require_readable(std::vector<NamedPath> const& inputs);
/// The reason why a file cannot be read; empty if it can.
[[nodiscard]] std::string why_unreadable(std::string const& path);

/// Prints to standard output and flushes it. check_stdout() reports failures.
void print(std::string const& text);

/// Error{io_error} if anything printed so far did not reach standard output.
void check_stdout();

} // namespace espalier::command
