// A whole text file in memory. gzip data is decompressed, regardless of the name of the file.
#pragma once

#include <string>
#include <string_view>

#include "io/input_file.hpp"

namespace espalier {

/// Throws Error{bad_input}, starting with the path, if the first 64 KiB of `text` contain control characters
/// or the signature of a binary format.
void require_text(std::string_view text, std::string const& path);

/// Reads a file. It is not mapped, so it may change while it is parsed. Throws Error{io_error} if the file
/// cannot be opened or read; Error{bad_input} if it is empty, not text, or damaged gzip data;
/// Error{out_of_memory}. Every message starts with the path.
TextBuffer load_text(std::string const& path);

bool is_gzip(std::string_view data);

/// The concatenated text of all members. Throws Error{bad_input} with `path` if the data is truncated or
/// corrupt, if anything but zero padding follows the last member, or if it expands to more than both 1 GiB
/// and 200 times its size, which no matrix file does.
TextBuffer gunzip(std::string_view compressed, std::string const& path);

} // namespace espalier
