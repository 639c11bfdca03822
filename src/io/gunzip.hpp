// Decompression of a gzip file in memory (RFC 1952) with one or several members.
#pragma once

#include <string>
#include <string_view>

#include "io/text_buffer.hpp"

namespace espalier {

bool is_gzip(std::string_view data);

/// The concatenated text of all members. Throws Error{bad_input} with `path` if the data is truncated or
/// corrupt, if anything but zero padding follows the last member, or if it expands to more than both 1 GiB
/// and 200 times its size, which no matrix file does.
TextBuffer gunzip(std::string_view compressed, std::string const& path);

} // namespace espalier
