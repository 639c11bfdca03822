// A file by POSIX calls, which tell the reason of a failure: read from its beginning, or anywhere.
#pragma once

#include <cstddef>
#include <string>

#include "io/text_buffer.hpp"

namespace espalier {

class InputFile {
  public:
    /// Error{io_error}. The path outlives this.
    explicit InputFile(std::string const& path);
    InputFile(InputFile const&) = delete;
    InputFile& operator=(InputFile const&) = delete;
    ~InputFile();

    /// Bytes that the file says it has; 0 for pipes and devices, which do not say. Error{io_error} for a
    /// directory.
    [[nodiscard]] std::size_t announced_size() const;
    /// Reads on, into the buffer's room; false at the end of the file. Error{io_error}.
    bool read(TextBuffer& buffer) const;
    /// The bytes from `first` on, until the buffer is full; false when the file ends before. Error{io_error}.
    bool read_from(std::size_t first, TextBuffer& buffer) const;

  private:
    std::string const& path_;
    int fd_;
};

} // namespace espalier
