// Reads files through POSIX calls, whose errors state the reason of a failure.
#pragma once

#include <cstddef>
#include <string>

#include "io/text_buffer.hpp"

namespace espalier {

class InputFile {
  public:
    /// Opens the file. `path` must outlive the object. Throws Error{io_error}.
    explicit InputFile(std::string const& path);
    InputFile(InputFile const&) = delete;
    InputFile& operator=(InputFile const&) = delete;
    ~InputFile();

    /// Size in bytes; 0 for pipes and devices. Throws Error{io_error} for a directory.
    [[nodiscard]] std::size_t size() const;
    /// Reads the next bytes into the free space of the buffer; returns false at the end of the file. Throws
    /// Error{io_error}.
    bool read(TextBuffer& buffer) const;
    /// Reads from position `first` until the buffer is full; returns false if the file ends before. Throws
    /// Error{io_error}.
    bool read_from(std::size_t first, TextBuffer& buffer) const;

  private:
    std::string const& path_;
    int fd_;
};

} // namespace espalier
