// A text file, whole, in memory; decompressed when it begins as gzip does, whatever its name.
#pragma once

#include <string>
#include <string_view>

#include "io/text_buffer.hpp"

namespace espalier {

/// Error{bad_input}, beginning with the path, when the first 64 KiB of `text` are none: control characters,
/// or what other formats begin with.
void require_text(std::string_view text, std::string const& path);

class TextInput {
  public:
    /// Error{io_error} when the file cannot be opened or read (missing, a directory, no permission);
    /// Error{bad_input} when it is empty, not text, or damaged gzip; Error{out_of_memory}. Every message
    /// begins with the path. A file is read rather than mapped: one that shrinks while it is being parsed
    /// then does no harm.
    static TextInput load(std::string const& path);

    [[nodiscard]] std::string_view text() const { return buffer_.text(); }

  private:
    explicit TextInput(TextBuffer buffer) : buffer_(std::move(buffer)) {}
    TextBuffer buffer_;
};

} // namespace espalier
