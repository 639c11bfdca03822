// Numbers as a person types them, for options: strict, the whole text must be one decimal number in range.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace espalier {

/// A decimal integer in [least, most]. Error{usage} that begins with `option` and tells the range and the
/// text.
std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least,
                         std::int64_t most);

/// A finite decimal number above zero, as 1e-10. Error{usage} that begins with `option` and tells the text.
double parse_positive(std::string_view option, std::string_view text);
/// The same, or zero.
double parse_not_negative(std::string_view option, std::string_view text);

/// Bytes: a decimal number, with or without a fraction, and a unit. K M G T and KiB MiB GiB TiB are powers
/// of 1024; KB MB GB TB powers of 1000; B or no unit is bytes. Error{usage} that begins with `option`.
std::uint64_t parse_size(std::string_view option, std::string_view text);
/// A text that parse_size reads as `bytes`: in the largest binary unit that divides it.
std::string spell_size(std::uint64_t bytes);

} // namespace espalier
