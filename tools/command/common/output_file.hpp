// A file that appears whole or not at all: written in a working directory beside its target, then renamed.
// Whether that will be possible is checked when the object is made, before the long work starts.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace espalier::command {

class OutputFile {
  public:
    /// "-" is standard output; a device or a pipe is written to directly. Error{io_error} naming the path
    /// and the system's reason when it cannot be written; the check leaves nothing behind.
    explicit OutputFile(std::string path);
    /// Nothing for an empty path.
    static std::optional<OutputFile> if_named(std::string const& path);

    [[nodiscard]] bool is_stdout() const { return path_ == "-"; }

    /// `writer` is given the path for an AtomicFile; what it wrote then becomes the content, or is on
    /// standard output already. Error{io_error} when any of it did not arrive. Names that end in ".gz" keep
    /// that ending on the way.
    void write(std::function<void(std::string const& path)> const& writer) const;
    void write_text(std::string const& text) const;

  private:
    [[nodiscard]] std::string purpose() const { return "cannot write '" + path_ + "'"; }
    /// The directory it lies in.
    [[nodiscard]] std::filesystem::path folder() const;
    /// Calls `writer`, with the name of `file` in its errors replaced by that which the user knows.
    void call(std::function<void(std::string const& path)> const& writer,
              std::filesystem::path const& file) const;

    std::string path_;             ///< As the user spelled it.
    std::filesystem::path target_; ///< With symbolic links resolved, so that the link survives the rename.
    bool direct_ = false;          ///< A device or a pipe.
};

/// A path, and what gave it: "--json", "the matrix". An empty one was not given.
struct NamedPath {
    std::string what;
    std::string path;
};

/// Error{usage} when what is written to an output would be found at another one, or at an input: however they
/// are spelled, and whether the files exist yet or not. Devices share nothing, nor do standard input and
/// standard output.
void refuse_same_files(std::span<NamedPath const> outputs, std::span<NamedPath const> inputs);

/// To standard output, at once. What does not arrive there is found by check_stdout().
void print(std::string const& text);

/// Error{io_error} when something printed so far did not reach standard output.
void check_stdout();

} // namespace espalier::command
