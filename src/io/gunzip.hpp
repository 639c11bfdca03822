// Decompression of a whole gzip file held in memory (RFC 1952), of one or several members.
#pragma once

#include <string>
#include <string_view>

#include "io/text_buffer.hpp"

namespace espalier {

/// Whether the data begins as a gzip file does.
bool is_gzip(std::string_view data);

/// The text of all members, one after the other. Error{bad_input} naming `path` when the data is truncated
/// or corrupt, when something other than zero padding follows the last member, or when it expands further
/// than any matrix file does (over 1 GiB and over 200 times its size).
TextBuffer gunzip(std::string_view compressed, std::string const& path);

} // namespace espalier
